// The one host timer of a scheduler. Slots wait for the wall clock, leases and retries for
// monotonic time; whichever comes first sets the timer. It never sleeps long, so a clock that was
// set or a machine that slept is noticed soon, and it never asks more of the host than it can wait.

import type { Clock, Timer } from '../clock.ts'
import { type DueNode, DueQueue } from './due-queue.ts'

/** Something that wants to be called at an instant of the wall clock. */
export interface Alarm extends DueNode {
  onDue(): void
}

/** The longest sleep: how late a jump of the clock is noticed. */
const SLEEP_MS_MAX = 30_000

/** A wall clock that goes back by less is being adjusted, not set. */
const STEP_MS_MIN = 1000

/** So many items of work are done in one turn of the event loop. */
const ITEMS_PER_TURN = 1000

/** Many alarms and timers on one host timer. */
export class TimerQueue implements Clock {
  readonly #clock: Clock
  readonly #unref: boolean
  readonly #alarms = new DueQueue<Alarm>()
  readonly #timers = new DueQueue<Alarm>()
  #order = 0
  #hostTimer: Timer | undefined
  /** When the host timer fires, in monotonic ms. */
  #wakeAt = Infinity
  #waking = false
  /** Items of work since the event loop last turned on our account. */
  #items = 0
  /** What the wall clock is ahead of monotonic time. */
  #offsetMs: number
  /** Told when the wall clock was set back, by how many ms, before any alarm goes off. */
  onSetBack: ((ms: number) => void) | undefined

  /** With `unref` its timer does not keep the process alive. */
  constructor(clock: Clock, { unref = false }: { unref?: boolean } = {}) {
    this.#clock = clock
    this.#unref = unref
    this.#offsetMs = clock.now() - clock.monotonic()
  }

  /** Whole ms: what stores keep. */
  now(): number {
    return Math.floor(this.#clock.now())
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  /** How far the clock was off before it was corrected. */
  get clockErrorMs(): number {
    return Math.abs(this.#clock.offsetMs ?? 0)
  }

  /** The next number of the order in which things were registered. */
  nextOrder(): number {
    return this.#order++
  }

  /** Calls `alarm.onDue` once the wall clock shows `instant`; replaces an earlier setting. */
  set(alarm: Alarm, instant: number): void {
    this.#alarms.set(alarm, instant)
    this.#arm()
  }

  clear(alarm: Alarm): void {
    this.#alarms.delete(alarm)
    this.#disarmIfIdle()
  }

  /** Counts in monotonic time, however long. */
  setTimer(callback: () => void, delayMs: number): Timer {
    const timer = { dueAt: 0, heapIndex: -1, order: this.nextOrder(), onDue: callback }
    this.#timers.set(timer, this.monotonic() + delayMs)
    this.#arm()
    const cancel = () => {
      this.#timers.delete(timer)
      this.#disarmIfIdle()
    }
    return { cancel, unref: () => {} }
  }

  /** To be awaited after `items` of work: now and then it lets the event loop turn. */
  async pace(items: number): Promise<void> {
    this.#items += items
    if (this.#items < ITEMS_PER_TURN) return
    this.#items = 0
    if (this.#clock.turn) await this.#clock.turn()
    else await new Promise<void>((resolve) => void this.setTimer(resolve, 0))
  }

  /** Resolves when `work` does, or after `ms`; rejects when `work` does in time. */
  async within(ms: number, work: Promise<unknown>): Promise<void> {
    let giveUp = () => {}
    const late = new Promise<void>((resolve) => {
      giveUp = resolve
    })
    const timer = this.setTimer(() => giveUp(), ms)
    await Promise.race([work, late]).finally(() => timer.cancel())
  }

  #arm(): void {
    if (this.#waking) return
    const delayMs = this.#delayMs()
    if (delayMs === Infinity) return
    const wakeAt = this.monotonic() + delayMs
    // A timer that fires too early only looks and is set again; that is cheaper than moving it.
    if (this.#hostTimer && this.#wakeAt <= wakeAt) return
    this.#hostTimer?.cancel()
    this.#wakeAt = wakeAt
    this.#hostTimer = this.#clock.setTimer(() => this.#wake(), delayMs)
    if (this.#unref) this.#hostTimer.unref()
  }

  #delayMs(): number {
    const alarm = this.#alarms.peek()
    const timer = this.#timers.peek()
    if (!alarm && !timer) return Infinity
    const alarmMs = alarm ? alarm.dueAt - this.now() : Infinity
    const timerMs = timer ? timer.dueAt - this.monotonic() : Infinity
    return Math.min(SLEEP_MS_MAX, Math.max(0, Math.ceil(Math.min(alarmMs, timerMs))))
  }

  #disarmIfIdle(): void {
    if (this.#alarms.size + this.#timers.size > 0) return
    this.#hostTimer?.cancel()
    this.#hostTimer = undefined
  }

  #compareClocks(): void {
    const offsetMs = this.#clock.now() - this.#clock.monotonic()
    const setBackMs = Math.round(this.#offsetMs - offsetMs)
    this.#offsetMs = offsetMs
    if (setBackMs >= STEP_MS_MIN) this.onSetBack?.(setBackMs)
  }

  #wake(): void {
    this.#hostTimer = undefined
    this.#waking = true
    try {
      this.#compareClocks()
      callDue(this.#timers, this.monotonic())
      callDue(this.#alarms, this.now())
    } finally {
      this.#waking = false
      this.#arm()
    }
  }
}

/** Calls what is due at `now`: at most what is there already, so a call cannot keep this busy. */
function callDue(queue: DueQueue<Alarm>, now: number): void {
  for (let left = queue.size; left > 0; left--) {
    const next = queue.peek()
    if (!next || next.dueAt > now) return
    queue.delete(next)
    next.onDue()
  }
}
