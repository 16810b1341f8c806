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

/** At a stop no answer is waited for longer. */
const LAST_ANSWER_MS = 2000

/** Makes a coordinator of a lease provider: asks for the lease, renews it, and asks again. */
export class Campaign implements Coordinator {
  readonly #options: CampaignOptions
  readonly #backoff: Backoff
  #lease: Lease | undefined
  #window: TrustWindow | undefined
  #timer: Timer | undefined
  #isRunning = false
  /** Counts starts and stops, so that a step knows whether it is of this life. */
  #life = 0
  /** Ends the wait for the answer that is awaited. */
  #giveUp = (_: Error) => {}
  #step: Promise<void> = Promise.resolve()
  #stopping: Promise<void> = Promise.resolve()

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
    const life = ++this.#life
    await this.#stopping
    await this.#next(life)
  }

  /** Takes a few seconds at most: what is not released by then lapses. */
  async stop(): Promise<void> {
    if (this.#isRunning) {
      this.#isRunning = false
      this.#life++
      this.#stopping = this.#stopping.then(() => this.#stop())
    }
    await this.#stopping
  }

  async #stop(): Promise<void> {
    this.#timer?.cancel()
    const { provider, name, clock } = this.#options
    const endWait = () => this.#giveUp(new Error('no answer came before the end'))
    const limit = clock.setTimer(endWait, LAST_ANSWER_MS)
    await this.#step
    limit.cancel()
    const lease = this.#lease
    this.#lease = undefined
    this.#window = undefined
    if (!lease) return
    try {
      await this.#answer(provider.release(name, lease.fencingToken), LAST_ANSWER_MS)
    } catch (error) {
      this.#tell(error)
    }
  }

  #next(life: number): Promise<void> {
    this.#step = this.#ask(life).then((delayMs) => {
      if (life !== this.#life) return
      this.#timer = this.#options.clock.setTimer(() => void this.#next(life), delayMs)
    })
    return this.#step
  }

  /** Ms until the next question. */
  async #ask(life: number): Promise<number> {
    const { clock, ttlMs } = this.#options
    const sentAt = moment(clock)
    try {
      if (this.#lease) await this.#renew(this.#lease, sentAt)
      if (!this.#lease && life === this.#life) await this.#acquire(sentAt)
      this.#backoff.succeed()
      return ttlMs / 3
    } catch (error) {
      this.#tell(error)
      return this.#backoff.fail()
    }
  }

  /** Whoever is told and fails must not end the campaign. */
  #tell(error: unknown): void {
    try {
      this.#options.onError(error)
    } catch (thrown) {
      console.error('cronfence: onError of the leader lease has thrown:', thrown, 'for', error)
    }
  }

  async #renew(lease: Lease, sentAt: Moment): Promise<void> {
    const { provider, name, ttlMs } = this.#options
    if (await this.#answer(provider.renew(name, lease.fencingToken, ttlMs), ttlMs / 3)) {
      this.#window = new TrustWindow(sentAt, ttlMs)
      return
    }
    this.#lease = undefined
    this.#window = undefined
  }

  async #acquire(sentAt: Moment): Promise<void> {
    const { provider, name, owner, ttlMs } = this.#options
    const acquired = provider.acquire(name, owner, ttlMs)
    this.#lease = (await this.#answer(acquired, ttlMs / 3)) ?? undefined
    this.#window = this.#lease && new TrustWindow(sentAt, ttlMs)
  }

  /** A call that is never answered must not end the campaign. */
  async #answer<T>(call: Promise<T>, limitMs: number): Promise<T> {
    const late = new Promise<never>((_, reject) => {
      this.#giveUp = reject
    })
    const endWait = () => this.#giveUp(new Error(`no answer within ${Math.round(limitMs)} ms`))
    const timer = this.#options.clock.setTimer(endWait, limitMs)
    return Promise.race([call, late]).finally(() => timer.cancel())
  }
}
