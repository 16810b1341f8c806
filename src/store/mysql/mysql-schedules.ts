// The calls of the store as short transactions: lock the rows, ask transitions.ts what becomes of
// them, write the answers, for any number of ids at once.

import type { Clock } from '../../clock.ts'
import type { ClaimResult, Completion, NewSchedule, Renewal, ScheduleRecord } from '../store.ts'
import { type Place, type Row, RowReader, recordOf, textOf } from '../stored-row.ts'
import type { Tables } from '../tables.ts'
import {
  type ClaimRequest,
  claimed,
  completed,
  inserted,
  registered,
  renewed,
} from '../transitions.ts'
import { type Answer, answerOf, type ScheduleWaves } from '../wave-schedule-store.ts'
import type { MysqlValue } from './mysql-client.ts'
import type { MysqlConnection, RunStatement } from './mysql-connection.ts'
import { literal, type ScheduleStatements, scheduleStatements } from './mysql-statements.ts'

const PAGE_ROWS = 2000

/** What becomes of a row, and what the caller hears. Without a record the row stays as it is. */
interface Step<T> {
  readonly answer: T
  readonly record: ScheduleRecord | null
}

/** Durable tasks in MySQL or MariaDB. */
export class MysqlSchedules implements ScheduleWaves {
  readonly #connection: MysqlConnection
  readonly #clock: Clock
  readonly #place: Place
  readonly #sql: ScheduleStatements

  /** Tombstones go by `clock`. */
  constructor(connection: MysqlConnection, tables: Tables, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
    this.#place = { table: tables.schedules, key: 'id', literal }
    this.#sql = scheduleStatements(tables)
  }

  async get(ids: readonly string[]): Promise<Answer<ScheduleRecord | null>[]> {
    const rows = byId(await this.#connection.read(this.#sql.get, [ids.map(bytes)]))
    return ids.map((id) => {
      const row = rows.get(id)
      return row ? answerOf(() => recordOf(row, this.#place)) : null
    })
  }

  async register(
    schedules: readonly NewSchedule[],
    now: number,
  ): Promise<Answer<ScheduleRecord>[]> {
    return this.#connection.transaction(async (run) => {
      const rows = await this.#lockOrAdd(run, schedules, now)
      return this.#write(run, schedules, (schedule) => {
        const row = rows.get(schedule.id) ?? {}
        const before = this.#live(row)
        const record = before
          ? registered(before, schedule, now)
          : inserted(schedule, new RowReader(row, this.#place).token('fencing_token'), now)
        return { answer: record, record: record === before ? null : record }
      })
    })
  }

  async claim(ids: readonly string[], claim: ClaimRequest): Promise<Answer<ClaimResult | null>[]> {
    return this.#change(
      ids.map((id) => ({ id })),
      (before) => {
        const record = before ? claimed(before, claim) : null
        if (!before || !record) return { answer: null, record: null }
        const takenOver = before.leaseUntil !== undefined
        return { answer: { record, fencingToken: record.fencingToken, takenOver }, record }
      },
      this.#sql.lockFree,
    )
  }

  async renew(renewals: readonly Renewal[]): Promise<Answer<boolean>[]> {
    return this.#change(renewals, (before, { fencingToken, leaseUntil }) => {
      const record = before ? renewed(before, fencingToken, leaseUntil) : null
      return { answer: record !== null, record }
    })
  }

  async complete(completions: readonly Completion[], now: number): Promise<Answer<boolean>[]> {
    return this.#change(completions, (before, { fencingToken, patch }) => {
      const record = before ? completed(before, fencingToken, patch, now) : null
      return { answer: record !== null, record }
    })
  }

  async delete(id: string, fencingToken: number | null): Promise<Answer<void>> {
    const now = this.#clock.now()
    return this.#connection.transaction(async (run) => {
      const [row] = await run(this.#sql.lock, [[bytes(id)]])
      const before = answerOf(() => this.#live(row))
      if (before instanceof Error) return before
      if (!before || (fencingToken ?? before.fencingToken) !== before.fencingToken) return
      await run(this.#sql.delete, [now, now, bytes(id)])
    })
  }

  async *pages(): AsyncGenerator<readonly Answer<ScheduleRecord>[]> {
    let last: Uint8Array = Buffer.alloc(0)
    for (;;) {
      const rows = await this.#connection.read(this.#sql.page, [last, PAGE_ROWS])
      yield rows.map((row) => answerOf(() => recordOf(row, this.#place)))
      if (rows.length < PAGE_ROWS) return
      last = rows.at(-1)?.id as Uint8Array
    }
  }

  /** See `ServerStore.purge`. */
  async purge(olderThan: number): Promise<number> {
    return this.#connection.transaction(async (run) => {
      const [schema] = await run(this.#sql.floorToRaise)
      const [highest] = await run(this.#sql.highestToken, [olderThan])
      const floor = Math.max(Number(schema?.token_floor), Number(highest?.token ?? 0))
      await run(this.#sql.raiseFloor, [floor])
      await run(this.#sql.purge, [olderThan, floor])
      const [deleted] = await run('SELECT ROW_COUNT() AS gone')
      return Number(deleted?.gone)
    })
  }

  /** Locks the rows, takes a step for each item, and writes what came of it. */
  async #change<Item extends { readonly id: string }, T>(
    items: readonly Item[],
    step: (before: ScheduleRecord | undefined, item: Item) => Step<T>,
    lock = this.#sql.lock,
  ): Promise<Answer<T>[]> {
    return this.#connection.transaction(async (run) => {
      const rows = byId(await run(lock, [items.map(({ id }) => bytes(id))]))
      return this.#write(run, items, (item) => step(this.#live(rows.get(item.id)), item))
    })
  }

  async #write<Item, T>(
    run: RunStatement,
    items: readonly Item[],
    step: (item: Item) => Step<T>,
  ): Promise<Answer<T>[]> {
    const changed: (readonly MysqlValue[])[] = []
    const answers = items.map((item) =>
      answerOf(() => {
        const { answer, record } = step(item)
        if (record) changed.push(valuesOf(record))
        return answer
      }),
    )
    if (changed.length > 0) await run(this.#sql.put, [changed])
    return answers
  }

  /**
   * The locked rows, tombstones added where nothing was: looking for a row that is not there and
   * adding it in two steps would let two transactions wait for each other.
   */
  async #lockOrAdd(run: RunStatement, schedules: readonly NewSchedule[], now: number) {
    const rows = byId(await run(this.#sql.lock, [schedules.map(({ id }) => bytes(id))]))
    const absent = schedules.filter(({ id }) => !rows.has(id))
    if (absent.length === 0) return rows
    const [schema] = await run(this.#sql.floor)
    const floor = Number(schema?.token_floor)
    const tombstones = absent.map(({ id, kind, spec }) => {
      return [bytes(id), bytes(kind), bytes(spec), floor, now, now]
    })
    await run(this.#sql.addTombstones, [tombstones])
    const added = await run(this.#sql.lock, [absent.map(({ id }) => bytes(id))])
    return new Map([...rows, ...byId(added)])
  }

  #live(row: Row | undefined): ScheduleRecord | undefined {
    return row && row.deleted_at === null ? recordOf(row, this.#place) : undefined
  }
}

const bytes = (text: string): Buffer => Buffer.from(text)

function byId(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [textOf(row.id) ?? '', row]))
}

function valuesOf(record: ScheduleRecord): MysqlValue[] {
  const { leaseOwner } = record
  return [
    bytes(record.id),
    bytes(record.kind),
    bytes(record.spec),
    record.nextRunAt,
    leaseOwner === undefined ? null : bytes(leaseOwner),
    record.leaseUntil ?? null,
    record.fencingToken,
    record.lastRunAt ?? null,
    record.updatedAt,
  ]
}
