// Keeps the leases of all running occurrences: one timer renews those that are a third through,
// together, and gives up those whose trust window closes. It writes nothing but renewals; what a
// loss means for the run is for the owner to say.

import { Backoff } from '../backoff.ts'
import type { Clock, Timer } from '../clock.ts'
import type { Renewal } from '../store/store.ts'
import { type Moment, moment, TrustWindow } from './trust-window.ts'

/** Why a lease is gone: the store said so, or nothing was heard from it in time. */
export type LossReason = 'rejected' | 'uncertain'

/** What a won claim brings to the keeper. */
export interface Grant {
  readonly id: string
  readonly fencingToken: number
  readonly leaseMs: number
  /** The moment before the claim was sent. */
  readonly sentAt: Moment
  /** Called once, and never after `release`. */
  onLost(reason: LossReason): void
}

/** A lease in keeping. */
export class HeldLease {
  readonly grant: Grant
  /** Of failed renewals; made when one fails. */
  backoff: Backoff | undefined
  window: TrustWindow
  /** Monotonic ms; `Infinity` while a renewal is on its way. */
  renewAt: number
  /** Resolves when no renewal is on its way. */
  renewed: Promise<void> = Promise.resolve()
  /** The store said that the lease is another's, or gone. */
  isRefused = false

  constructor(grant: Grant) {
    this.grant = grant
    this.window = new TrustWindow(grant.sentAt, grant.leaseMs)
    this.renewAt = grant.sentAt.monotonic + grant.leaseMs / 3
  }
}

/** What the keeper needs. */
export interface KeeperOptions {
  readonly clock: Clock
  /**
   * Sends renewals; answers in their order, an `Error` where the outcome is not known, also after
   * `answerMs` without an answer: there is time for another try then.
   */
  readonly renew: (
    renewals: readonly Renewal[],
    answerMs: number,
  ) => Promise<readonly (boolean | Error)[]>
  /** Told of renewals that failed; they are tried again while there is time. */
  readonly onError: (error: Error, ids: readonly string[], retryInMs: number) => void
}

/** Renews leases until they are released or lost. */
export class LeaseKeeper {
  readonly #clock: Clock
  readonly #options: KeeperOptions
  readonly #held = new Set<HeldLease>()
  #timer: Timer | undefined
  /** Monotonic ms. */
  #wakeAt = Infinity

  constructor(options: KeeperOptions) {
    this.#clock = options.clock
    this.#options = options
  }

  keep(grant: Grant): HeldLease {
    const lease = new HeldLease(grant)
    this.#held.add(lease)
    this.#arm(Math.min(lease.renewAt, this.#clock.monotonic() + lease.window.leftMs(this.#clock)))
    return lease
  }

  /** Whether the lease may be relied on at this moment. */
  isHeld(lease: HeldLease): boolean {
    return this.#held.has(lease) && lease.window.isOpen(this.#clock)
  }

  /** Stops renewing. The lease lapses unless its claim is completed or handed back. */
  release(lease: HeldLease): void {
    this.#held.delete(lease)
    if (this.#held.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(wakeAt: number): void {
    if (this.#timer && this.#wakeAt <= wakeAt) return
    this.#timer?.cancel()
    this.#wakeAt = wakeAt
    const delayMs = Math.max(1, wakeAt - this.#clock.monotonic())
    this.#timer = this.#clock.setTimer(() => this.#wake(), delayMs)
  }

  #wake(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    const due: HeldLease[] = []
    let wakeAt = Infinity
    for (const lease of this.#held) {
      if (!lease.window.isOpen(this.#clock)) {
        this.#lose(lease, 'uncertain')
        continue
      }
      // What is nearly due goes along: it saves a round trip of its own.
      if (lease.renewAt <= now + lease.grant.leaseMs / 30) {
        due.push(lease)
        lease.renewAt = Infinity
      }
      wakeAt = Math.min(wakeAt, lease.renewAt, now + lease.window.leftMs(this.#clock))
    }
    if (this.#held.size > 0) this.#arm(wakeAt)
    if (due.length === 0) return
    const renewed = this.#renew(due)
    for (const lease of due) lease.renewed = renewed
  }

  async #renew(leases: readonly HeldLease[]): Promise<void> {
    const sentAt = moment(this.#clock)
    const renewals = leases.map(({ grant: { id, fencingToken, leaseMs } }) => {
      return { id, fencingToken, leaseUntil: Math.floor(sentAt.wall) + leaseMs }
    })
    const answerMs = Math.min(...leases.map(({ grant }) => grant.leaseMs)) / 6
    const answers = await this.#options.renew(renewals, answerMs)
    const failed: string[] = []
    let failure: Error | undefined
    let retryInMs = Infinity
    for (const [index, lease] of leases.entries()) {
      const answer = answers[index]
      if (answer === true) this.#extend(lease, sentAt)
      else if (answer === false) this.#refused(lease)
      else if (this.#held.has(lease)) {
        failure = answer
        failed.push(lease.grant.id)
        retryInMs = Math.min(retryInMs, this.#retry(lease))
      }
    }
    if (failure) this.#options.onError(failure, failed, Math.round(retryInMs))
  }

  #extend(lease: HeldLease, sentAt: Moment): void {
    lease.window = new TrustWindow(sentAt, lease.grant.leaseMs)
    lease.backoff?.succeed()
    this.#renewAt(lease, sentAt.monotonic + lease.grant.leaseMs / 3)
  }

  /** The window stays as it is: only an answer moves it. */
  #retry(lease: HeldLease): number {
    const { leaseMs } = lease.grant
    lease.backoff ??= new Backoff({ baseMs: leaseMs / 12, maxMs: leaseMs / 6 })
    const retryInMs = lease.backoff.fail()
    this.#renewAt(lease, this.#clock.monotonic() + retryInMs)
    return retryInMs
  }

  #renewAt(lease: HeldLease, renewAt: number): void {
    if (!this.#held.has(lease)) return
    lease.renewAt = renewAt
    this.#arm(renewAt)
  }

  #refused(lease: HeldLease): void {
    lease.isRefused = true
    this.#lose(lease, 'rejected')
  }

  #lose(lease: HeldLease, reason: LossReason): void {
    if (!this.#held.delete(lease)) return
    lease.grant.onLost(reason)
  }
}
