// Rows of SQL tables to records. A stored value is believed only after it was looked at:
// tables get edited by hand and restored in part, and a wrong token breaks the fence. Drivers
// disagree on what a BIGINT or a text is; what is accepted here is every exact form of it, and
// nothing else.

import { CronfenceError } from '../errors.ts'
import type { ScheduleRecord, TaskKind } from './store.ts'

/** A row as a driver gives it, by column. */
export type Row = Readonly<Record<string, unknown>>

/** Which row of which table is being read, and how its key is written in that server's SQL. */
export interface Place {
  readonly table: string
  /** The primary key's column. */
  readonly key: 'id' | 'name'
  /** A literal of the server's dialect, for the remedy in the error's text. */
  readonly literal: (key: unknown) => string
  /** Default: every exact form that a driver of a server may choose. */
  readonly forms?: Forms
}

/** What a stored value may look like; `undefined` for whatever does not. */
export interface Forms {
  integer(value: unknown): number | undefined
  text(value: unknown): string | undefined
  key(value: unknown): string | undefined
  /** What a key is, in words. */
  readonly keyIs: string
}

/** The most that is shown of a key: no id is longer. */
export const ID_LENGTH_MAX = 1024

const KINDS: readonly unknown[] = ['cron', 'every', 'delay'] satisfies TaskKind[]
/** What a table may have for a key that can be written in a statement. */
const KEY_TYPES: readonly string[] = ['string', 'number', 'bigint']
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The record in a row of the table of schedules. Throws `STORE_DAMAGED_RECORD`. */
export function recordOf(row: Row, place: Place): ScheduleRecord {
  const read = new RowReader(row, place)
  const leaseUntil = read.instantOrNull('lease_until')
  const leaseOwner = read.textOrNull('lease_owner')
  const lastRunAt = read.instantOrNull('last_run_at')
  if ((leaseUntil === null) !== (leaseOwner === null)) {
    throw read.damage('lease_owner and lease_until: one is set and the other is not')
  }
  return Object.freeze({
    id: read.key(),
    kind: read.kind(),
    spec: read.text('spec'),
    nextRunAt: read.instantOrNull('next_run_at'),
    ...(leaseOwner === null || leaseUntil === null ? {} : { leaseOwner, leaseUntil }),
    fencingToken: read.token('fencing_token'),
    ...(lastRunAt === null ? {} : { lastRunAt }),
    updatedAt: read.instant('updated_at'),
  })
}

/** Reads the columns of one row; whatever has the wrong type or range is `STORE_DAMAGED_RECORD`. */
export class RowReader {
  readonly #row: Row
  readonly #place: Place
  readonly #forms: Forms

  constructor(row: Row, place: Place) {
    this.#row = row
    this.#place = place
    this.#forms = place.forms ?? ANY_FORM
  }

  key(): string {
    const { key } = this.#place
    const text = this.#forms.key(this.#row[key])
    if (!text) throw this.#wrong(key, this.#forms.keyIs)
    return text
  }

  instant(column: string): number {
    const value = this.instantOrNull(column)
    if (value === null) throw this.#wrong(column, 'an integer')
    return value
  }

  instantOrNull(column: string): number | null {
    const value = this.#row[column]
    if (value === null) return null
    const number = this.#forms.integer(value)
    if (number === undefined) throw this.#wrong(column, 'an integer within ±(2^53 - 1)')
    return number
  }

  token(column: string): number {
    const number = this.#forms.integer(this.#row[column])
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
    const text = this.#forms.text(value)
    if (!text) throw this.#wrong(column, 'text')
    return text
  }

  kind(): TaskKind {
    const kind = this.#forms.text(this.#row.kind)
    if (!KINDS.includes(kind)) throw this.#wrong('kind', `one of ${KINDS.join(', ')}`)
    return kind as TaskKind
  }

  /** The error for this row; `problem` says which column and why. */
  damage(problem: string): CronfenceError {
    const { table, key, literal } = this.#place
    const raw = this.#row[key]
    const id = shownText(textOf(raw) ?? raw, ID_LENGTH_MAX)
    const isKey = raw instanceof Uint8Array || KEY_TYPES.includes(typeof raw)
    const where = isKey ? literal(raw) : ''
    const isShort = isKey && where.length <= 3 * ID_LENGTH_MAX
    const remedy = isShort ? `, with: DELETE FROM ${table} WHERE ${key} = ${where}` : ''
    return new CronfenceError(
      'STORE_DAMAGED_RECORD',
      `Table ${table}, ${key} ${JSON.stringify(id)}: ${problem}. The row is left as it is: ` +
        `repair it, or remove it, token and all${remedy}`,
      { details: { table, id } },
    )
  }

  #wrong(column: string, allowed: string): CronfenceError {
    const value = this.#row[column]
    const isBytes = value instanceof Uint8Array && this.#forms.text(value) === undefined
    const found = isBytes ? 'bytes' : JSON.stringify(shownText(textOf(value) ?? value, 80))
    return this.damage(`${column} must be ${allowed}, found ${found}`)
  }
}

/**
 * A stored integer, `undefined` for anything else. Drivers give a BIGINT as text, as a bigint, or
 * as a number that they rounded beyond 2^53; no rounded value is a safe integer.
 */
export function integerOf(value: unknown): number | undefined {
  const isDigits = typeof value === 'string' && /^-?\d{1,19}$/.test(value)
  const number = isDigits || typeof value === 'bigint' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined
}

/** Some text for a value of any kind and length. */
export function shownText(value: unknown, lengthMax: number): string {
  let text: string
  try {
    text = String(value)
  } catch {
    return `a value of type ${typeof value}`
  }
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}

/** Stored text, from a string or from bytes of UTF-8; `undefined` for anything else. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (!(value instanceof Uint8Array)) return undefined
  try {
    return decoder.decode(value)
  } catch {
    return undefined // Not UTF-8.
  }
}

/** What the drivers of the servers make of a BIGINT and of a text. */
const ANY_FORM: Forms = { integer: integerOf, text: textOf, key: textOf, keyIs: 'text' }
