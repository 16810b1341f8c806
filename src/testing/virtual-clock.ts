// A clock that a test moves by hand: wall time, monotonic time and timers, apart or together. What
// a promise chain does between two timers is finished before the next one fires; what waits for a
// real socket or file is not, and must be awaited by the test itself.

import { type Clock, nextTurn, TIMER_MS_MAX, type Timer } from '../clock.ts'

interface Pending {
  readonly callback: () => void
  /** Monotonic ms. */
  readonly dueAt: number
}

/** How the clock of one machine differs from the clock it follows. */
export interface SkewOptions {
  /** Added to the wall clock, in ms. */
  readonly offsetMs?: number
  /** How fast it runs: 1.1 counts 1100 ms in one second. Positive; default 1. */
  readonly rate?: number
}

/** Virtual time. It stands still until `advance` moves it. */
export class VirtualClock implements Clock {
  #wall: number
  #monotonic = 0
  #moving = false
  /** Calls of `turn` that have not resolved. */
  #turns = 0
  readonly #timers = new Set<Pending>()

  /** Starts at `now`: an instant, a `Date`, or text that `Date` reads. */
  constructor(now: number | string | Date = 0) {
    this.#wall = new Date(now).getTime()
    if (Number.isNaN(this.#wall)) throw new RangeError(`VirtualClock: no such instant: ${now}`)
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** How many timers are set and have not fired. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Refuses a delay that a host timer would fire at once, which is how such mistakes are found. */
  setTimer(callback: () => void, delayMs: number): Timer {
    if (!(delayMs <= TIMER_MS_MAX)) {
      throw new RangeError(`setTimer: ${delayMs} ms is more than a host timer takes`)
    }
    const pending = { callback, dueAt: this.#monotonic + Math.max(0, delayMs) }
    this.#timers.add(pending)
    return { cancel: () => void this.#timers.delete(pending), unref: () => {} }
  }

  /** Lets `ms` pass: fires due timers in order, and lets promises settle before and after each. */
  async advance(ms: number): Promise<void> {
    await this.#move(async () => {
      const target = this.#monotonic + checkedMs(ms)
      await this.settle()
      for (let next = this.#first(); next && next.dueAt <= target; next = this.#first()) {
        this.#pass(Math.max(0, next.dueAt - this.#monotonic))
        await this.#fire(next)
      }
      this.#pass(target - this.#monotonic)
    })
  }

  /** Lets time pass until the wall clock shows `instant`, which must not lie in the past. */
  async advanceTo(instant: number | string | Date): Promise<void> {
    await this.advance(new Date(instant).getTime() - this.#wall)
  }

  /** Sets the wall clock forwards or back. Monotonic time and timers do not notice. */
  stepWall(ms: number): void {
    this.#wall += ms
  }

  /** The machine sleeps: the wall clock goes on, monotonic time and timers stand still. */
  suspend(ms: number): void {
    this.#wall += checkedMs(ms)
  }

  /** The process is stopped: both clocks go on, and the timers that fell due fire only then. */
  async stall(ms: number): Promise<void> {
    await this.#move(async () => {
      this.#pass(checkedMs(ms))
      const now = this.#monotonic
      for (let next = this.#first(); next && next.dueAt <= now; next = this.#first()) {
        await this.#fire(next)
      }
    })
  }

  async turn(): Promise<void> {
    this.#turns++
    await new Promise<void>(nextTurn)
    this.#turns--
  }

  /** Waits until every promise chain that depends on no timer and no I/O has run to its end. */
  async settle(): Promise<void> {
    do await new Promise<void>(nextTurn)
    while (this.#turns > 0)
  }

  /** The clock of another machine: it moves with this one, at its own offset and rate. */
  skewed({ offsetMs = 0, rate = 1 }: SkewOptions = {}): Clock {
    if (!(rate > 0)) throw new RangeError(`skewed: rate must be positive, not ${rate}`)
    const [wall, monotonic] = [this.#wall, this.#monotonic]
    return {
      now: () => wall + offsetMs + (this.#wall - wall) * rate,
      monotonic: () => monotonic + (this.#monotonic - monotonic) * rate,
      setTimer: (callback, delayMs) => this.setTimer(callback, delayMs / rate),
      turn: () => this.turn(),
    }
  }

  async #move(action: () => Promise<void>): Promise<void> {
    if (this.#moving) throw new Error('VirtualClock: it is moving already; await the first call')
    this.#moving = true
    try {
      await action()
    } finally {
      this.#moving = false
    }
    await this.settle()
  }

  #pass(ms: number): void {
    this.#wall += ms
    this.#monotonic += ms
  }

  async #fire(pending: Pending): Promise<void> {
    this.#timers.delete(pending)
    pending.callback()
    await this.settle()
  }

  /** The earliest timer, the one set first among equals. */
  #first(): Pending | undefined {
    let first: Pending | undefined
    for (const pending of this.#timers) if (!first || pending.dueAt < first.dueAt) first = pending
    return first
  }
}

function checkedMs(ms: number): number {
  if (!(ms >= 0) || ms === Infinity) {
    throw new RangeError(`VirtualClock: time passes by a finite number of ms from 0, not ${ms}`)
  }
  return ms
}
