// Rows to records and back, as SQLite has them: what is an integer, a text or a key there. How a
// row is looked at is in stored-row.ts.

import { idBytes } from '../arguments.ts'
import type { ScheduleRecord } from '../store.ts'
import {
  type Forms,
  integerOf as integerOfAny,
  type Place,
  type Row,
  recordOf as recordAt,
  shownText,
  textOf,
} from '../stored-row.ts'
import type { SqliteValue } from './sqlite-client.ts'

// A column's type is only advice to SQLite, and text that looks like a number is none of ours.
const FORMS: Forms = {
  integer: (value) => (typeof value === 'string' ? undefined : integerOfAny(value)),
  text: (value) => (typeof value === 'string' ? value : undefined),
  key: (value) => (value instanceof Uint8Array ? textOf(value) : undefined),
  keyIs: 'a BLOB of UTF-8',
}

/** Where a row is, and how it is read there. */
export const placeOf = (table: string, key: Place['key']): Place => {
  return { table, key, literal, forms: FORMS }
}

/** The record in a row of `schedules`. Throws `STORE_DAMAGED_RECORD`. */
export const recordOf = (row: Row, table: string): ScheduleRecord =>
  recordAt(row, placeOf(table, 'id'))

/** A stored integer, `undefined` for anything else. */
export const integerOf = FORMS.integer

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

function literal(value: unknown): string {
  if (value instanceof Uint8Array) return `X'${Buffer.from(value).toString('hex')}'`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : shownText(value, 80)
}
