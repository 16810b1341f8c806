// ScheduleStore over the connection: read the row, ask transitions.ts, write the answer, in one
// transaction per batch: one sync to disk for a thousand ids. A row that cannot be read rejects a
// batch as a whole; single calls, which are batches of one, then tell it from the others.

import { CronfenceError } from '../../errors.ts'
import { checkToken, idBytes } from '../arguments.ts'
import type {
  ClaimResult,
  CompletePatch,
  Completion,
  NewSchedule,
  Renewal,
  ScheduleRecord,
  ScheduleStore,
} from '../store.ts'
import { type Row, RowReader } from '../stored-row.ts'
import {
  type ClaimRequest,
  checkClaim,
  checkCompletions,
  checkRegistrations,
  checkRenewals,
  claimed,
  completed,
  inserted,
  registered,
  renewed,
} from '../transitions.ts'
import { answerOf } from '../wave-schedule-store.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { placeOf, recordOf, valuesOf } from './sqlite-rows.ts'
import { tokenFloorOf } from './sqlite-schema.ts'
import type { Statements, Tables } from './sqlite-statements.ts'

/** What a {@link SqliteScheduleStore} stands on. */
export interface ScheduleStoreOptions {
  readonly connection: SqliteConnection
  readonly tables: Tables
  /** Hears of rows that `list` passes over. */
  readonly onDamaged: (error: CronfenceError) => void
  /** The instant written on tombstones. */
  readonly now: () => number
}

// `list` reads in pages, so that a hundred thousand rows do not stop the event loop at once.
const PAGE_ROWS = 2000

/** Durable tasks in an SQLite file. See `SQLiteStore` for what it promises and throws. */
export class SqliteScheduleStore implements Required<ScheduleStore> {
  readonly #connection: SqliteConnection
  readonly #tables: Tables
  readonly #onDamaged: (error: CronfenceError) => void
  readonly #now: () => number

  constructor({ connection, tables, onDamaged, now }: ScheduleStoreOptions) {
    this.#connection = connection
    this.#tables = tables
    this.#onDamaged = onDamaged
    this.#now = now
  }

  async start(): Promise<void> {
    await this.#connection.open()
  }

  async get(id: string): Promise<ScheduleRecord | null> {
    return only(await this.getMany([id]))
  }

  async register(schedule: NewSchedule, now: number): Promise<ScheduleRecord> {
    return only(await this.registerMany([schedule], now))
  }

  async claimDue(
    id: string,
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<ClaimResult | null> {
    return only(await this.claimDueMany([id], owner, now, leaseMs))
  }

  async renew(id: string, fencingToken: number, leaseUntil: number): Promise<boolean> {
    return only(await this.renewMany([{ id, fencingToken, leaseUntil }]))
  }

  async complete(
    id: string,
    fencingToken: number,
    patch: CompletePatch,
    now: number,
  ): Promise<boolean> {
    return only(await this.completeMany([{ id, fencingToken, patch }], now))
  }

  async delete(id: string, fencingToken?: number): Promise<void> {
    const key = idBytes(id)
    if (fencingToken !== undefined) checkToken(fencingToken)
    await this.#connection.write((sql) => {
      const row = this.#row(sql, key)
      if (!row || (fencingToken !== undefined && fencingToken !== row.fencingToken)) return
      sql.deleteRow.run(key)
      if (row.fencingToken > 0) sql.putFence.run(key, row.fencingToken, this.#now())
    })
  }

  async list(): Promise<ScheduleRecord[]> {
    const records: ScheduleRecord[] = []
    let rows = await this.#connection.read((sql) => sql.firstRows.all(PAGE_ROWS) as Row[])
    while (rows.length > 0) {
      for (const row of rows) {
        const record = answerOf(() => recordOf(row, this.#tables.schedules))
        if (record instanceof CronfenceError) this.#onDamaged(record)
        else records.push(record)
      }
      const last = rows.at(-1)?.id as Uint8Array
      rows =
        rows.length < PAGE_ROWS
          ? []
          : await this.#connection.read((sql) => sql.rowsAfter.all(last, PAGE_ROWS) as Row[])
    }
    return records
  }

  async getMany(ids: readonly string[]): Promise<(ScheduleRecord | null)[]> {
    const keys = ids.map(idBytes)
    return this.#connection.read((sql) => keys.map((key) => this.#row(sql, key) ?? null))
  }

  async registerMany(schedules: readonly NewSchedule[], now: number): Promise<ScheduleRecord[]> {
    checkRegistrations(schedules, now)
    return this.#connection.write((sql) =>
      schedules.map((schedule) => this.#register(sql, schedule, now)),
    )
  }

  async claimDueMany(
    ids: readonly string[],
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<(ClaimResult | null)[]> {
    const keys = ids.map(idBytes)
    const claim = { owner, now, leaseMs }
    checkClaim(claim)
    if (await this.#isHopeless(keys, claim)) return keys.map(() => null)
    return this.#connection.write((sql) => keys.map((key) => this.#claim(sql, key, claim)))
  }

  async renewMany(renewals: readonly Renewal[]): Promise<boolean[]> {
    checkRenewals(renewals)
    return this.#connection.write((sql) => renewals.map((renewal) => this.#renew(sql, renewal)))
  }

  async completeMany(completions: readonly Completion[], now: number): Promise<boolean[]> {
    checkCompletions(completions, now)
    return this.#connection.write((sql) =>
      completions.map((completion) => this.#complete(sql, completion, now)),
    )
  }

  #register(sql: Statements, schedule: NewSchedule, now: number): ScheduleRecord {
    const key = idBytes(schedule.id)
    const row = this.#row(sql, key)
    if (row) return write(sql, row, registered(row, schedule, now))
    const record = inserted(schedule, this.#highWaterMark(sql, key), now)
    sql.deleteFence.run(key)
    return write(sql, undefined, record)
  }

  /**
   * Whether the rows as they are now allow no claim at all. Replicas come for the same slots at the
   * same moment: those that lose find out by reading, and do not make the winner wait for the lock.
   */
  #isHopeless(keys: readonly Uint8Array[], claim: ClaimRequest): Promise<boolean> {
    return this.#connection.read((sql) =>
      keys.every((key) => {
        const result = answerOf(() => {
          const row = this.#row(sql, key)
          return row ? claimed(row, claim) : null
        })
        return result === null
      }),
    )
  }

  #claim(sql: Statements, key: Uint8Array, claim: ClaimRequest): ClaimResult | null {
    const row = this.#row(sql, key)
    const record = row ? claimed(row, claim) : null
    if (!row || !record) return null
    write(sql, row, record)
    const { fencingToken } = record
    return { record, fencingToken, takenOver: row.leaseUntil !== undefined }
  }

  #renew(sql: Statements, { id, fencingToken, leaseUntil }: Renewal): boolean {
    const row = this.#row(sql, idBytes(id))
    const record = row ? renewed(row, fencingToken, leaseUntil) : null
    if (record) write(sql, row, record)
    return record !== null
  }

  #complete(sql: Statements, { id, fencingToken, patch }: Completion, now: number): boolean {
    const row = this.#row(sql, idBytes(id))
    const record = row ? completed(row, fencingToken, patch, now) : null
    if (record) write(sql, row, record)
    return record !== null
  }

  #row(sql: Statements, key: Uint8Array): ScheduleRecord | undefined {
    const row = sql.row.get(key) as Row | undefined
    return row && recordOf(row, this.#tables.schedules)
  }

  #highWaterMark(sql: Statements, key: Uint8Array): number {
    const { fences, schema } = this.#tables
    const fence = sql.fence.get(key) as Row | undefined
    if (fence) return new RowReader(fence, placeOf(fences, 'id')).token('fencing_token')
    return tokenFloorOf(sql.floor.get() as Row | undefined, schema)
  }
}

function write(sql: Statements, before: ScheduleRecord | undefined, after: ScheduleRecord) {
  if (after !== before) sql.putRow.run(...valuesOf(after))
  return after
}

const only = <T>([answer]: readonly T[]): T => answer as T
