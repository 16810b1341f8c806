// The real engine in real time, two replicas over stores whose server is disturbed: what ran, under
// which tokens, and what may not have happened whatever the server went through.

import { Scheduler } from '../../src/index.ts'
import type { ServerStore } from '../../src/store/server-store.ts'

const SLOT_MS = 100
const LEASE_MS = 3000
/** A store that is not told otherwise would wait longer than a lease. */
export const TIMEOUT_MS = 900

interface Run {
  readonly slot: number
  readonly token: number
  readonly replica: number
}

/** Replicas of one task that keeps all its slots. */
export class EngineAtWork {
  readonly #schedulers: readonly Scheduler[]
  readonly #runs: Run[] = []
  readonly #failures: unknown[] = []
  #waiting: (() => void)[] = []

  /** One replica for each store; `id` is the task's. */
  constructor(stores: readonly ServerStore[], id: string) {
    this.#schedulers = stores.map((store, replica) => {
      const scheduler = new Scheduler({
        ...{ store: store.schedules(), tickMs: SLOT_MS, owner: `replica ${replica}` },
        logger: { info() {}, warn() {}, error() {} },
      })
      const options = { id, missed: 'catch-up', maxCatchUp: 100_000, leaseMs: LEASE_MS } as const
      scheduler.every(SLOT_MS, options, ({ scheduledAt, fencingToken }) => {
        this.#runs.push({ slot: scheduledAt.getTime(), token: fencingToken, replica })
        this.#wake()
      })
      scheduler.on('store-error', ({ error }) => {
        this.#failures.push(error)
        this.#wake()
      })
      return scheduler
    })
  }

  async start(): Promise<void> {
    await Promise.all(this.#schedulers.map((scheduler) => scheduler.start()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#schedulers.map((scheduler) => scheduler.stop()))
  }

  /** Resolves once so many slots that are still to come have run. */
  async slots(count: number): Promise<void> {
    const until = Date.now() + count * SLOT_MS
    await this.#until(() => this.#runs.some(({ slot }) => slot >= until))
  }

  /** Resolves once another call to the store has failed with such a text. */
  async failure(text: RegExp): Promise<void> {
    const seen = this.#failures.length
    await this.#until(() => this.#failures.slice(seen).some((error) => text.test(String(error))))
  }

  /** Everything that must not be: empty when all is well. */
  violations(): string[] {
    const found: string[] = []
    for (const error of this.#failures) {
      const { code } = error as { code?: string }
      if (!/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/.test(code ?? '')) found.push(String(error))
    }
    const holders = new Map<number, number>()
    let highest = 0
    for (const { token, replica } of this.#runs) {
      if (token < highest) found.push(`token ${token} after ${highest}`)
      highest = Math.max(highest, token)
      const holder = holders.get(token) ?? replica
      holders.set(token, holder)
      if (holder !== replica) found.push(`token ${token} was given out twice`)
    }
    const ran = new Set(this.#runs.map(({ slot }) => slot))
    const [first, last] = [Math.min(...ran), Math.max(...ran)]
    for (let slot = first; slot <= last; slot += SLOT_MS) {
      if (!ran.has(slot)) found.push(`slot ${slot} never ran`)
    }
    return found
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((wake) => this.#waiting.push(wake))
  }
}
