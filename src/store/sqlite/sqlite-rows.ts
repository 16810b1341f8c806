// Rows to records and back. A stored value is believed only after it was looked at: files get
// edited by hand, copied halfway and hit by bad disks, and a wrong token breaks the fence.

import { CronfenceError } from '../../errors.ts'
import { idBytes } from '../arguments.ts'
import type { ScheduleRecord, TaskKind } from '../store.ts'
import { ID_LENGTH_MAX, shownText } from '../stored-row.ts'
import type { SqliteValue } from './sqlite-client.ts'

/** A row as the driver gives it. */
export type Row = Readonly<Record<string, unknown>>

/** Which row of which table is being read, for the error's text. */
export interface Place {
  readonly table: string
  /** The primary key's column. */
  readonly key: 'id' | 'name'
}

const KINDS: readonly unknown[] = ['cron', 'every', 'delay'] satisfies TaskKind[]
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The record in a row of `schedules`. Throws `STORE_DAMAGED_RECORD`. */
export function recordOf(row: Row, table: string): ScheduleRecord {
  const read = new RowReader(row, { table, key: 'id' })
  const leaseUntil = read.instantOrNull('lease_until')
  const leaseOwner = read.textOrNull('lease_owner')
  const lastRunAt = read.instantOrNull('last_run_at')
  if ((leaseUntil === null) !== (leaseOwner === null)) {
    throw read.damage('lease_owner and lease_until: one is set and the other is not')
  }
  return Object.freeze({
    id: read.keyText(),
    kind: read.kind(),
    spec: read.text('spec'),
    nextRunAt: read.instantOrNull('next_run_at'),
    ...(leaseOwner === null || leaseUntil === null ? {} : { leaseOwner, leaseUntil }),
    fencingToken: read.token('fencing_token'),
    ...(lastRunAt === null ? {} : { lastRunAt }),
    updatedAt: read.instant('updated_at'),
  })
}

/** A record as the values of a row of `schedules`, in the order of its columns. */
export function valuesOf(record: ScheduleRecord): SqliteValue[] {
  return [
    idBytes(record.id),
    record.kind,
    record.spec,
    record.nextRunAt,
    record.leaseOwner ?? null,
    record.leaseUntil ?? null,
    record.fencingToken,
    record.lastRunAt ?? null,
    record.updatedAt,
  ]
}

/** Reads the columns of one row; whatever has the wrong type or range is `STORE_DAMAGED_RECORD`. */
export class RowReader {
  readonly #row: Row
  readonly #place: Place

  constructor(row: Row, place: Place) {
    this.#row = row
    this.#place = place
  }

  instant(column: string): number {
    const value = this.instantOrNull(column)
    if (value === null) throw this.#wrong(column, 'an integer')
    return value
  }

  instantOrNull(column: string): number | null {
    const value = this.#row[column]
    if (value === null) return null
    const number = integerOf(value)
    if (number === undefined) throw this.#wrong(column, 'an integer within ±(2^53 - 1)')
    return number
  }

  token(column: string): number {
    const number = integerOf(this.#row[column])
    if (number === undefined || number < 0) throw this.#wrong(column, 'from 0 to 2^53 - 1')
    return number
  }

  text(column: string): string {
    const value = this.textOrNull(column)
    if (value === null) throw this.#wrong(column, 'text')
    return value
  }

  textOrNull(column: string): string | null {
    const value = this.#row[column]
    if (value === null) return null
    if (typeof value !== 'string' || value === '') throw this.#wrong(column, 'text')
    return value
  }

  kind(): TaskKind {
    const { kind } = this.#row
    if (!KINDS.includes(kind)) throw this.#wrong('kind', `one of ${KINDS.join(', ')}`)
    return kind as TaskKind
  }

  keyText(): string {
    const text = decoded(this.#row[this.#place.key])
    if (text === undefined) throw this.#wrong(this.#place.key, 'a BLOB of UTF-8')
    return text
  }

  /** The error for this row; `problem` says which column and why. */
  damage(problem: string): CronfenceError {
    const { table, key } = this.#place
    const raw = this.#row[key]
    const id = shownText(decoded(raw) ?? raw, ID_LENGTH_MAX)
    const where = literal(raw)
    const isShort = where.length <= 3 * ID_LENGTH_MAX
    const remedy = isShort ? ` with: DELETE FROM ${table} WHERE ${key} = ${where}` : ''
    return new CronfenceError(
      'STORE_DAMAGED_RECORD',
      `Table ${table}, ${key} ${JSON.stringify(id)}: ${problem}. The row is left as it is: ` +
        `repair it, or remove it${remedy}`,
      { details: { table, id } },
    )
  }

  #wrong(column: string, allowed: string): CronfenceError {
    const value = this.#row[column]
    const found = value instanceof Uint8Array ? 'a BLOB' : JSON.stringify(shownText(value, 80))
    return this.damage(`${column} must be ${allowed}, found ${found}`)
  }
}

/**
 * A stored integer, `undefined` for anything else. Drivers that read numbers round what lies
 * beyond 2^53, and no rounded value is a safe integer.
 */
export function integerOf(value: unknown): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined
}

function decoded(value: unknown): string | undefined {
  if (!(value instanceof Uint8Array) || value.length === 0) return undefined
  try {
    return decoder.decode(value)
  } catch {
    return undefined // Not UTF-8.
  }
}

function literal(value: unknown): string {
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : shownText(value, 80)
}
