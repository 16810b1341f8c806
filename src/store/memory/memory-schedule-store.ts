// The reference store: one process, forgotten at its end. It says in the fewest lines what every
// other store does; the steps themselves are in `transitions.ts`. Each method takes its step before
// it first awaits anything, so calls that are made at once are taken in the order they were made.

import { checkId, checkInstant, checkToken } from '../arguments.ts'
import type {
  ClaimResult,
  CompletePatch,
  Completion,
  NewSchedule,
  Renewal,
  ScheduleRecord,
  ScheduleStore,
} from '../store.ts'
import {
  checkClaim,
  checkCompletion,
  checkSchedule,
  claimed,
  completed,
  inserted,
  registered,
  renewed,
} from '../transitions.ts'

/**
 * Durable tasks in this process's memory. Records are frozen and never change under the caller.
 * Wrong arguments reject with a `TypeError` or `RangeError`; a token at 2^53 - 1 with a
 * `CronfenceError` of code `STORE_TOKEN_CEILING`.
 */
export class MemoryScheduleStore implements Required<ScheduleStore> {
  readonly #rows = new Map<string, ScheduleRecord>()
  /** Tokens of deleted tasks: each id is here or in `#rows`, never in both. */
  readonly #fences = new Map<string, number>()

  /** Starts with copies of `rows`, such as another store's `list()`; by default empty. */
  constructor(rows: Iterable<ScheduleRecord> = []) {
    for (const row of rows) this.#rows.set(row.id, Object.freeze({ ...row }))
  }

  async start(): Promise<void> {}

  async get(id: string): Promise<ScheduleRecord | null> {
    return this.#row(id) ?? null
  }

  async register(schedule: NewSchedule, now: number): Promise<ScheduleRecord> {
    return this.#register(schedule, now)
  }

  async claimDue(
    id: string,
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<ClaimResult | null> {
    return this.#claimDue(id, owner, now, leaseMs)
  }

  async renew(id: string, fencingToken: number, leaseUntil: number): Promise<boolean> {
    return this.#renew({ id, fencingToken, leaseUntil })
  }

  async complete(
    id: string,
    fencingToken: number,
    patch: CompletePatch,
    now: number,
  ): Promise<boolean> {
    return this.#complete({ id, fencingToken, patch }, now)
  }

  async delete(id: string, fencingToken?: number): Promise<void> {
    if (fencingToken !== undefined) checkToken(fencingToken)
    const row = this.#row(id)
    if (!row) return
    if (fencingToken !== undefined && fencingToken !== row.fencingToken) return
    this.#rows.delete(id)
    if (row.fencingToken > 0) this.#fences.set(id, row.fencingToken)
  }

  async list(): Promise<ScheduleRecord[]> {
    return [...this.#rows.values()]
  }

  async getMany(ids: readonly string[]): Promise<(ScheduleRecord | null)[]> {
    return ids.map((id) => this.#row(id) ?? null)
  }

  async registerMany(schedules: readonly NewSchedule[], now: number): Promise<ScheduleRecord[]> {
    return schedules.map((schedule) => this.#register(schedule, now))
  }

  async claimDueMany(
    ids: readonly string[],
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<(ClaimResult | null)[]> {
    return ids.map((id) => this.#claimDue(id, owner, now, leaseMs))
  }

  async renewMany(renewals: readonly Renewal[]): Promise<boolean[]> {
    return renewals.map((renewal) => this.#renew(renewal))
  }

  async completeMany(completions: readonly Completion[], now: number): Promise<boolean[]> {
    return completions.map((completion) => this.#complete(completion, now))
  }

  #register(schedule: NewSchedule, now: number): ScheduleRecord {
    checkSchedule(schedule, now)
    const { id } = schedule
    const row = this.#row(id)
    const stored = row
      ? registered(row, schedule, now)
      : inserted(schedule, this.#fences.get(id) ?? 0, now)
    this.#fences.delete(id)
    return this.#write(stored)
  }

  #claimDue(id: string, owner: string, now: number, leaseMs: number): ClaimResult | null {
    checkClaim({ owner, now, leaseMs })
    const row = this.#row(id)
    const record = row ? claimed(row, { owner, now, leaseMs }) : null
    if (!row || !record) return null
    this.#write(record)
    const { fencingToken } = record
    return { record, fencingToken, takenOver: row.leaseUntil !== undefined }
  }

  #renew({ id, fencingToken, leaseUntil }: Renewal): boolean {
    checkToken(fencingToken)
    checkInstant('leaseUntil', leaseUntil)
    const row = this.#row(id)
    const record = row ? renewed(row, fencingToken, leaseUntil) : null
    if (record) this.#write(record)
    return record !== null
  }

  #complete({ id, fencingToken, patch }: Completion, now: number): boolean {
    checkCompletion(fencingToken, patch, now)
    const row = this.#row(id)
    const record = row ? completed(row, fencingToken, patch, now) : null
    if (record) this.#write(record)
    return record !== null
  }

  #row(id: string): ScheduleRecord | undefined {
    checkId(id)
    return this.#rows.get(id)
  }

  #write(record: ScheduleRecord): ScheduleRecord {
    this.#rows.set(record.id, record)
    return record
  }
}
