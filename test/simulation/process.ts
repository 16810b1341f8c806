// One process on a machine: its event loop, and the `Clock` the engine gets. It can be paused (all
// that falls due waits), blocked by its own code, and killed, after which nothing reaches it.

import type { Clock } from '../../src/clock.ts'
import type { Machine } from './machine.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

interface Call {
  readonly action: () => void
  readonly isTimer: boolean
}

/** An event loop with a clock. */
export class Process {
  readonly name: string
  readonly machine: Machine
  readonly clock: Clock
  isDead = false
  /** True time until which nothing of it runs. */
  pausedUntil = -Infinity
  /** Host timers that are set. */
  timers = 0
  /** True time of the latest fault that touched it, or of the end of it. */
  troubledAt = -Infinity
  readonly #timeline: Timeline
  readonly #random: Random
  /** How late its timers go off at most. */
  readonly #lateMs: number
  /** Synchronous code has used up time that the others have not lived yet. */
  #aheadUntil = -Infinity
  #areTimersFirst = true
  /** What fell due in a pause. */
  #held: Call[] = []

  constructor(options: {
    name: string
    machine: Machine
    timeline: Timeline
    random: Random
    lateMs: number
  }) {
    this.name = options.name
    this.machine = options.machine
    this.#timeline = options.timeline
    this.#random = options.random
    this.#lateMs = options.lateMs
    this.clock = {
      now: () => this.machine.wall(this.time),
      monotonic: () => this.machine.monotonic(this.time),
      setTimer: (callback, delayMs) => this.#setTimer(callback, delayMs),
    }
  }

  /** True time as this process has lived it. */
  get time(): number {
    return Math.max(this.#timeline.now, this.#aheadUntil)
  }

  get wall(): number {
    return this.machine.wall(this.time)
  }

  get monotonic(): number {
    return this.machine.monotonic(this.time)
  }

  /** Whether its code may run now, and had the time to notice what happened in a pause. */
  get isAwake(): boolean {
    return !this.isDead && this.#timeline.now > this.pausedUntil + this.#lateMs + 1
  }

  /** Something from outside arrives: a reply, the end of a wait. */
  deliver(at: number, action: () => void): void {
    this.#deliver(at, action, false)
  }

  /** The whole process stands still, as after SIGSTOP. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.#timeline.now + ms)
    this.troubledAt = Math.max(this.troubledAt, this.pausedUntil)
    this.#areTimersFirst = this.#random.chance(0.5)
  }

  /** Called from its own code: a computation that lets nothing else run. */
  block(ms: number): void {
    this.#aheadUntil = this.time + ms
    this.pausedUntil = Math.max(this.pausedUntil, this.#aheadUntil)
    this.troubledAt = Math.max(this.troubledAt, this.#aheadUntil)
  }

  /** Ends a pause before its time; what its own code has used up stays used up. */
  resume(): void {
    const isPaused = this.pausedUntil > this.#timeline.now
    if (isPaused) this.pausedUntil = Math.max(this.#aheadUntil, this.#timeline.now)
    this.#release()
  }

  crash(): void {
    this.isDead = true
    this.timers = 0
  }

  #deliver(at: number, action: () => void, isTimer: boolean): void {
    this.#timeline.at(at, () => this.#turn({ action, isTimer }))
  }

  #turn(call: Call): void {
    if (this.isDead) return
    if (this.#timeline.now < this.pausedUntil) {
      this.#held.push(call)
      if (this.#held.length === 1) this.#resumeLater()
      return
    }
    this.#timeline.mustSettle = true
    call.action()
  }

  #resumeLater(): void {
    this.#timeline.at(this.pausedUntil, () => {
      if (this.#timeline.now >= this.pausedUntil) this.#release()
      else this.#resumeLater()
    })
  }

  /** What fell due meanwhile comes at once: in its order, or timers before all else. */
  #release(): void {
    const held = this.#held
    this.#held = []
    if (this.#areTimersFirst) held.sort((a, b) => Number(b.isTimer) - Number(a.isTimer))
    for (const call of held) this.#timeline.at(this.#timeline.now, () => this.#turn(call))
  }

  #setTimer(callback: () => void, delayMs: number) {
    if (!(delayMs <= 2 ** 31 - 1)) throw new RangeError(`a timer of ${delayMs} ms`)
    if (this.isDead) return { cancel: () => {}, unref: () => {} }
    const dueAt = this.monotonic + Math.max(1, delayMs)
    let isPending = true
    this.timers++
    const wait = () => {
      const lateMs = this.#lateMs * this.#random.next()
      this.#deliver(this.machine.whenMonotonic(dueAt) + lateMs, fire, true)
    }
    const fire = () => {
      if (!isPending) return
      if (this.monotonic < dueAt - 0.001) {
        wait()
        return
      }
      isPending = false
      this.timers--
      callback()
    }
    wait()
    const cancel = () => {
      if (isPending) this.timers--
      isPending = false
    }
    return { cancel, unref: () => {} }
  }
}
