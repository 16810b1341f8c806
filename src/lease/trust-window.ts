// How long an owner may act on a lease without hearing from the store again. Only the store knows
// who holds a lease; an owner counts from before its request was sent, stops a margin earlier, and
// believes whichever of its two clocks says first that the time is up: the wall clock may be set,
// and monotonic time may stand still while the machine sleeps.

import type { Clock } from '../clock.ts'

/** The margin is a tenth of the lease, and at most this. */
const MARGIN_MS_MAX = 1000

/** A moment on both clocks. */
export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

/** The present moment, to be taken before a request for a lease is sent. */
export function moment(clock: Clock): Moment {
  return { wall: clock.now(), monotonic: clock.monotonic() }
}

/** The time during which a granted lease may be relied on. */
export class TrustWindow {
  readonly #wallEnd: number
  readonly #monotonicEnd: number

  /** `sentAt`: the moment before the request that was granted. */
  constructor(sentAt: Moment, leaseMs: number) {
    const trustedMs = leaseMs - Math.min(leaseMs / 10, MARGIN_MS_MAX)
    this.#wallEnd = sentAt.wall + trustedMs
    this.#monotonicEnd = sentAt.monotonic + trustedMs
  }

  isOpen(clock: Clock): boolean {
    return clock.now() < this.#wallEnd && clock.monotonic() < this.#monotonicEnd
  }

  /** Ms until it closes, as far as the clocks can tell now. Not below 0. */
  leftMs(clock: Clock): number {
    const wallMs = this.#wallEnd - clock.now()
    return Math.max(0, Math.min(wallMs, this.#monotonicEnd - clock.monotonic()))
  }
}
