// The statements on schedules as the calls of the store: arrays in, rows out. What the server did
// to a row is not read back from it but follows from the row as it was, by the same transitions
// that every store has.

import type { Clock } from '../../clock.ts'
import { CronfenceError } from '../../errors.ts'
import type { ClaimResult, Completion, NewSchedule, Renewal, ScheduleRecord } from '../store.ts'
import { type Place, type Row, RowReader, recordOf, textOf } from '../stored-row.ts'
import type { Tables } from '../tables.ts'
import { type ClaimRequest, claimed } from '../transitions.ts'
import { type Answer, answerOf, type ScheduleWaves } from '../wave-schedule-store.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { literal, type ScheduleStatements, scheduleStatements } from './postgres-statements.ts'

const PAGE_ROWS = 2000

/** Durable tasks in PostgreSQL. */
export class PostgresSchedules implements ScheduleWaves {
  readonly #connection: PostgresConnection
  readonly #clock: Clock
  readonly #place: Place
  readonly #sql: ScheduleStatements

  /** Tombstones go by `clock`. */
  constructor(connection: PostgresConnection, tables: Tables, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
    this.#place = { table: tables.schedules, key: 'id', literal }
    this.#sql = scheduleStatements(tables)
  }

  async get(ids: readonly string[]): Promise<Answer<ScheduleRecord | null>[]> {
    const rows = byId(await this.#connection.read(this.#sql.get, [ids]))
    return ids.map((id) => {
      const row = rows.get(id)
      return row ? this.#record(row) : null
    })
  }

  async register(
    schedules: readonly NewSchedule[],
    now: number,
  ): Promise<Answer<ScheduleRecord>[]> {
    const ids = schedules.map(({ id }) => id)
    const rows = byId(
      await this.#connection.write(this.#sql.register, [
        ids,
        schedules.map(({ kind }) => kind),
        schedules.map(({ spec }) => spec),
        schedules.map(({ nextRunAt }) => nextRunAt),
        now,
      ]),
    )
    const refused = ids.filter((id) => !rows.has(id))
    const bad = refused.length > 0 ? await this.#damages(refused) : undefined
    return ids.map((id) => {
      const row = rows.get(id)
      return row ? this.#record(row) : (bad?.get(id) ?? this.#broken({ id }))
    })
  }

  async claim(ids: readonly string[], claim: ClaimRequest): Promise<Answer<ClaimResult | null>[]> {
    const { owner, now, leaseMs } = claim
    const values = [ids, owner, now, now + leaseMs]
    const rows = byId(await this.#connection.write(this.#sql.claim, values))
    return ids.map((id) => {
      const row = rows.get(id)
      return row ? answerOf(() => this.#claimed(row, claim)) : null
    })
  }

  async renew(renewals: readonly Renewal[]): Promise<Answer<boolean>[]> {
    return this.#changed(renewals, this.#sql.renew, [
      renewals.map(({ id }) => id),
      renewals.map(({ fencingToken }) => fencingToken),
      renewals.map(({ leaseUntil }) => leaseUntil),
    ])
  }

  async complete(completions: readonly Completion[], now: number): Promise<Answer<boolean>[]> {
    return this.#changed(completions, this.#sql.complete, [
      completions.map(({ id }) => id),
      completions.map(({ fencingToken }) => fencingToken),
      completions.map(({ patch }) => patch.nextRunAt),
      completions.map(({ patch }) => patch.lastRunAt ?? null),
      completions.map(({ patch }) => patch.plan?.kind ?? null),
      completions.map(({ patch }) => patch.plan?.spec ?? null),
      now,
    ])
  }

  async delete(id: string, fencingToken: number | null): Promise<Answer<void>> {
    const values = [id, fencingToken, this.#clock.now()]
    const deleted = await this.#connection.write(this.#sql.delete, values)
    if (deleted.length > 0) return
    return (await this.#damages([id])).get(id)
  }

  async *pages(): AsyncGenerator<readonly Answer<ScheduleRecord>[]> {
    let last = ''
    for (;;) {
      const rows = await this.#connection.read(this.#sql.page, [last, PAGE_ROWS])
      yield rows.map((row) => this.#record(row))
      if (rows.length < PAGE_ROWS) return
      last = String(rows.at(-1)?.id)
    }
  }

  /** See `ServerStore.purge`. The floor is raised first, so no new id can start below it. */
  async purge(olderThan: number): Promise<number> {
    const [raised] = await this.#connection.write(this.#sql.raiseFloor, [olderThan])
    const floor = String(raised?.token_floor)
    const [purged] = await this.#connection.write(this.#sql.purge, [olderThan, floor])
    return Number(purged?.gone)
  }

  async #changed(
    items: readonly { readonly id: string }[],
    statement: string,
    values: Parameters<PostgresConnection['write']>[1],
  ): Promise<Answer<boolean>[]> {
    const rows = byId(await this.#connection.write(statement, values))
    return items.map(({ id }) => {
      const row = rows.get(id)
      if (!row) return false
      return row.is_changed === true || this.#broken(row)
    })
  }

  #claimed(row: Row, claim: ClaimRequest): ClaimResult {
    const before = recordOf(row, this.#place)
    const record = claimed(before, claim) // Throws at the ceiling, where the statement left it.
    if (!record || row.is_changed !== true) throw this.#broken(row)
    const { fencingToken } = record
    return { record, fencingToken, takenOver: before.leaseUntil !== undefined }
  }

  /** What is wrong with those of the rows with which something is. */
  async #damages(ids: readonly string[]): Promise<Map<string, CronfenceError>> {
    const answers = await this.get(ids)
    return new Map(
      ids.flatMap((id, index) => {
        const answer = answers[index]
        return answer instanceof CronfenceError ? [[id, answer] as const] : []
      }),
    )
  }

  #record(row: Row): Answer<ScheduleRecord> {
    return answerOf(() => recordOf(row, this.#place))
  }

  /** The damage of a row that a statement would not touch. */
  #broken(row: Row): CronfenceError {
    const record = this.#record(row)
    if (record instanceof CronfenceError) return record
    return new RowReader(row, this.#place).damage('it breaks the constraint of its table')
  }
}

function byId(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [textOf(row.id) ?? '', row]))
}
