// A machine's two clocks, as functions of true time: they are off, run too fast or too slow, are
// set, and the monotonic one stands still while the machine sleeps. They outlive a process.

import type { Timeline } from './timeline.ts'

/** The clocks of one machine. */
export class Machine {
  readonly #timeline: Timeline
  #baseAt: number
  #wall: number
  #monotonic: number
  #rate: number
  #frozenUntil = -Infinity
  /** When the wall clock last differed from monotonic time by a jump. */
  jumpedAt = -Infinity

  constructor(timeline: Timeline, { offsetMs, rate }: { offsetMs: number; rate: number }) {
    this.#timeline = timeline
    this.#baseAt = timeline.now
    this.#wall = timeline.now + offsetMs
    this.#monotonic = 1000
    this.#rate = rate
  }

  /** What the wall clock shows at that true time, in whole ms. */
  wall(at: number): number {
    return Math.floor(this.#wall + (at - this.#baseAt) * this.#rate)
  }

  monotonic(at: number): number {
    const from = Math.max(this.#baseAt, Math.min(this.#frozenUntil, at))
    return this.#monotonic + (at - from) * this.#rate
  }

  /** The true time when the monotonic clock will show that, should nothing interfere. */
  whenMonotonic(shown: number): number {
    const from = Math.max(this.#baseAt, this.#frozenUntil)
    return from + (shown - this.#monotonic) / this.#rate
  }

  /** How far the wall clock is ahead of true time. */
  get aheadMs(): number {
    return this.wall(this.#timeline.now) - this.#timeline.now
  }

  /** Somebody sets the wall clock. */
  step(ms: number): void {
    this.#rebase()
    this.#wall += ms
  }

  /** Awake, set right, and as fast as it should. */
  repair(offsetMs: number): void {
    this.#rebase()
    this.#wall = this.#timeline.now + offsetMs
    this.#rate = 1
    this.#frozenUntil = -Infinity
  }

  /** Ends a sleep before its time. */
  wake(): void {
    this.#rebase()
    this.#frozenUntil = -Infinity
  }

  /** Monotonic time stands still for `ms`. */
  sleep(ms: number): void {
    this.#rebase()
    this.#frozenUntil = Math.max(this.#frozenUntil, this.#timeline.now + ms)
    this.jumpedAt = this.#frozenUntil
  }

  #rebase(): void {
    const { now } = this.#timeline
    const wall = this.#wall + (now - this.#baseAt) * this.#rate
    this.#monotonic = this.monotonic(now)
    this.#wall = wall
    this.#baseAt = now
    this.jumpedAt = Math.max(this.jumpedAt, now)
  }
}
