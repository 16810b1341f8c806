// The local clock, corrected by how far it is off the server's: replicas that go by it agree on the
// time as well as they reach the server, whatever their own clocks say.

import type { Clock, Timer } from '../clock.ts'

const SAMPLES = 3

/** A `Clock` that follows a server's. Until it has been measured it is the local one. */
export class ServerClock implements Clock {
  readonly #local: Clock
  readonly #serverNow: () => Promise<number>
  #offsetMs = 0

  /** `serverNow` asks the server for its time, in ms since the epoch. */
  constructor(local: Clock, serverNow: () => Promise<number>) {
    this.#local = local
    this.#serverNow = serverNow
  }

  /** How far the server's clock is ahead of the local one, as last measured. */
  get offsetMs(): number {
    return this.#offsetMs
  }

  now(): number {
    return Math.round(this.#local.now() + this.#offsetMs)
  }

  monotonic(): number {
    return this.#local.monotonic()
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    return this.#local.setTimer(callback, delayMs)
  }

  /** Measures the offset anew; the answer is wrong by at most half the fastest round trip. */
  async measure(): Promise<number> {
    let fastestMs = Infinity
    let offsetMs = this.#offsetMs
    for (let sample = 0; sample < SAMPLES; sample++) {
      const sentAt = this.#local.monotonic()
      const serverNow = await this.#serverNow()
      const roundTripMs = this.#local.monotonic() - sentAt
      if (roundTripMs >= fastestMs) continue
      fastestMs = roundTripMs
      // The server read its clock about half a round trip ago.
      offsetMs = serverNow + roundTripMs / 2 - this.#local.now()
    }
    this.#offsetMs = offsetMs
    return offsetMs
  }
}
