// Leadership kept over a LeaseProvider: renews while it holds the lease, tries again when not.
// Trust ends before the lease does: it is counted from before the request was sent, less a margin,
// on the wall clock and on the monotonic one, whichever ends first. An unknown outcome adds none.

import { type Clock, systemClock, type Timer } from '../clock.ts'
import type { Coordinator, LeaseProvider } from './lease.ts'

/** What a {@link LeaseCoordinator} needs; only `provider` has no default. */
export interface LeaseCoordinatorOptions {
  readonly provider: LeaseProvider
  /** The lease's name. Default `scheduler:leader`. */
  readonly name?: string
  /** Told apart from every other replica's. Default: random. */
  readonly owner?: string
  /** How long a dead leader blocks the others, in ms. Default 30 s; renewed every third of it. */
  readonly ttlMs?: number
  readonly clock?: Clock
  /** Hears what the provider throws; the next attempt follows in any case. Default: a warning. */
  readonly onError?: (error: unknown) => void
}

interface Trust {
  readonly wall: number
  readonly monotonic: number
}

/** One stretch between `start` and `stop`. */
interface Term {
  /** The attempt in flight, or the last one. */
  attempt: Promise<void>
}

const NO_TRUST: Trust = { wall: -Infinity, monotonic: -Infinity }

/** A `Coordinator` over any `LeaseProvider`. It does not start by itself. */
export class LeaseCoordinator implements Coordinator {
  readonly #provider: LeaseProvider
  readonly #name: string
  readonly #owner: string
  readonly #ttlMs: number
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #token: number | null = null
  #trustUntil = NO_TRUST
  #timer: Timer | undefined
  #term: Term | null = null

  constructor(options: LeaseCoordinatorOptions) {
    this.#provider = options.provider
    this.#name = options.name ?? 'scheduler:leader'
    this.#owner = options.owner ?? crypto.randomUUID()
    this.#ttlMs = options.ttlMs ?? 30_000
    this.#clock = options.clock ?? systemClock
    this.#onError = options.onError ?? warn
    if (!Number.isSafeInteger(this.#ttlMs) || this.#ttlMs < 3) {
      throw new RangeError(`ttlMs: must be a whole number of ms from 3 up, got ${this.#ttlMs}`)
    }
  }

  /** Resolves after the first attempt, won or not. Idempotent. */
  async start(): Promise<void> {
    if (!this.#term) {
      const term = { attempt: Promise.resolve() }
      this.#term = term
      term.attempt = this.#tick(term)
    }
    await this.#term.attempt
  }

  async stop(): Promise<void> {
    const term = this.#term
    if (!term) return
    this.#term = null
    this.#timer?.cancel()
    this.#trustUntil = NO_TRUST
    await term.attempt
    if (this.#token === null || this.#term) return
    const token = this.#token
    this.#token = null
    try {
      await this.#provider.release(this.#name, token)
    } catch (error) {
      this.#onError(error) // The lease lapses by itself.
    }
  }

  isLeader(): boolean {
    const { wall, monotonic } = this.#trustUntil
    return this.#clock.now() < wall && this.#clock.monotonic() < monotonic
  }

  async #tick(term: Term): Promise<void> {
    try {
      await this.#renewOrAcquire(term)
    } catch (error) {
      this.#onError(error)
    }
    if (this.#term !== term) return
    this.#timer = this.#clock.setTimer(() => {
      term.attempt = this.#tick(term)
    }, this.#ttlMs / 3)
    this.#timer.unref()
  }

  async #renewOrAcquire(term: Term): Promise<void> {
    if (this.#token !== null) {
      const trust = this.#trustFromNow()
      if (await this.#provider.renew(this.#name, this.#token, this.#ttlMs)) {
        this.#trust(term, trust)
        return
      }
      this.#token = null
      this.#trustUntil = NO_TRUST
    }
    const trust = this.#trustFromNow()
    const lease = await this.#provider.acquire(this.#name, this.#owner, this.#ttlMs)
    if (!lease) return
    this.#token = lease.fencingToken
    this.#trust(term, trust)
  }

  /** A reply that comes after `stop` gives no trust. */
  #trust(term: Term, until: Trust): void {
    if (this.#term === term) this.#trustUntil = until
  }

  #trustFromNow(): Trust {
    const trustMs = this.#ttlMs * 0.9
    return { wall: this.#clock.now() + trustMs, monotonic: this.#clock.monotonic() + trustMs }
  }
}

function warn(error: unknown): void {
  console.warn('cronfence: the leader lease could not be renewed or acquired:', error)
}
