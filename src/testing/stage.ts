// The stage of one case: a store, an instant, and the three calls that most cases are made of.

import type { ClaimResult, NewSchedule, ScheduleRecord, ScheduleStore } from '../store/store.ts'
import { same } from './assertions.ts'
import type { StoreSubject } from './conformance.ts'

/** The id of the task that a case is about, unless it says otherwise. */
export const ID = 'task'
export const LEASE_MS = 60_000
/** The interval of the task. */
export const EVERY_MS = 300_000

/** A claim that differs from the usual one. */
export interface ClaimOverrides {
  readonly id?: string
  readonly owner?: string
  readonly leaseMs?: number
  readonly store?: ScheduleStore
}

/** A subject, and `at`: the first slot of the task, and the instant it is registered and due. */
export class Stage {
  readonly store: ScheduleStore
  readonly at: number
  readonly #subject: StoreSubject

  constructor(subject: StoreSubject, at: number) {
    this.store = subject.store
    this.at = at
    this.#subject = subject
  }

  /** `count` stores over the same rows: as many clients as there can be. */
  async stores(count: number): Promise<ScheduleStore[]> {
    const others = Array.from({ length: count - 1 }, async () => {
      const other = (await this.#subject.another?.()) ?? this.store
      await other.start?.()
      return other
    })
    return [this.store, ...(await Promise.all(others))]
  }

  /** What `register` is given: an interval with its first slot at `at`. */
  schedule(overrides: Partial<NewSchedule> = {}): NewSchedule {
    return { id: ID, kind: 'every', spec: String(EVERY_MS), nextRunAt: this.at, ...overrides }
  }

  register(overrides: Partial<NewSchedule> = {}, now = this.at): Promise<ScheduleRecord> {
    return this.store.register(this.schedule(overrides), now)
  }

  tryClaim(now = this.at, overrides: ClaimOverrides = {}): Promise<ClaimResult | null> {
    const { id = ID, owner = 'first', leaseMs = LEASE_MS, store = this.store } = overrides
    return store.claimDue(id, owner, now, leaseMs)
  }

  /** A claim that must be won. */
  async claim(now = this.at, overrides: ClaimOverrides = {}): Promise<ClaimResult> {
    const result = await this.tryClaim(now, overrides)
    if (!result) throw new Error(`a claim of ${overrides.id ?? ID} at ${now}: expected to be won`)
    return result
  }

  /** The stored row, which must be there. */
  async row(id = ID): Promise<ScheduleRecord> {
    const record = await this.store.get(id)
    if (!record) throw new Error(`get(${JSON.stringify(id)}): expected a row, found none`)
    return record
  }

  /** Runs `action` and throws when the row is not exactly as it was. */
  async unchanged(action: () => Promise<void>, id = ID): Promise<void> {
    const before = await this.store.get(id)
    await action()
    same(await this.store.get(id), before, 'the row, which must not change')
  }
}
