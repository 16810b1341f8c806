// Whether this replica is the leader (SPEC §3.1), from a provider of leases or from a coordinator.
// Leadership saves round trips and decides nothing: in doubt the answer is no.

import { Backoff } from '../backoff.ts'
import type { Clock, Timer } from '../clock.ts'
import type { Coordinator, Lease, LeaseProvider } from './lease.ts'
import { type Moment, moment, TrustWindow } from './trust-window.ts'

/** What a campaign for a named lease needs. */
export interface CampaignOptions {
  readonly provider: LeaseProvider
  /** The name of the lease, the same on all replicas. */
  readonly name: string
  /** Who asks: different on every replica. */
  readonly owner: string
  readonly ttlMs: number
  readonly clock: Clock
  /** Told of every error; the campaign goes on. */
  readonly onError: (error: unknown) => void
}

/** Makes a coordinator of a lease provider: asks for the lease, renews it, and asks again. */
export class Campaign implements Coordinator {
  readonly #options: CampaignOptions
  readonly #backoff: Backoff
  #lease: Lease | undefined
  #window: TrustWindow | undefined
  #timer: Timer | undefined
  #isRunning = false
  #step: Promise<void> = Promise.resolve()

  constructor(options: CampaignOptions) {
    this.#options = options
    this.#backoff = new Backoff({ baseMs: options.ttlMs / 6, maxMs: options.ttlMs / 3 })
  }

  isLeader(): boolean {
    return this.#window?.isOpen(this.#options.clock) ?? false
  }

  /** Resolves after the first answer, whatever it is. */
  async start(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    await this.#next()
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#timer?.cancel()
    await this.#step
    const lease = this.#lease
    this.#lease = undefined
    this.#window = undefined
    if (!lease) return
    const { provider, name, onError } = this.#options
    await provider.release(name, lease.fencingToken).catch(onError)
  }

  #next(): Promise<void> {
    this.#step = this.#ask().then((delayMs) => {
      if (!this.#isRunning) return
      this.#timer = this.#options.clock.setTimer(() => void this.#next(), delayMs)
    })
    return this.#step
  }

  /** Ms until the next question. */
  async #ask(): Promise<number> {
    const { clock, ttlMs, onError } = this.#options
    const sentAt = moment(clock)
    try {
      if (this.#lease) await this.#renew(this.#lease, sentAt)
      if (!this.#lease) await this.#acquire(sentAt)
      this.#backoff.succeed()
      return ttlMs / 3
    } catch (error) {
      onError(error)
      return this.#backoff.fail()
    }
  }

  async #renew(lease: Lease, sentAt: Moment): Promise<void> {
    const { provider, name, ttlMs } = this.#options
    if (await this.#answer(provider.renew(name, lease.fencingToken, ttlMs))) {
      this.#window = new TrustWindow(sentAt, ttlMs)
      return
    }
    this.#lease = undefined
    this.#window = undefined
  }

  async #acquire(sentAt: Moment): Promise<void> {
    const { provider, name, owner, ttlMs } = this.#options
    this.#lease = (await this.#answer(provider.acquire(name, owner, ttlMs))) ?? undefined
    this.#window = this.#lease && new TrustWindow(sentAt, ttlMs)
  }

  /** A call that is never answered must not end the campaign. */
  async #answer<T>(call: Promise<T>): Promise<T> {
    const { clock, ttlMs } = this.#options
    let giveUp = () => {}
    const late = new Promise<never>((_, reject) => {
      giveUp = () => reject(new Error(`no answer within ${Math.round(ttlMs / 3)} ms`))
    })
    const timer = clock.setTimer(() => giveUp(), ttlMs / 3)
    return Promise.race([call, late]).finally(() => timer.cancel())
  }
}
