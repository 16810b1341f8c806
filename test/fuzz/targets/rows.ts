// Stored rows with anything in every field, through what reads them for each store. Input: a line
// per field, `name=value`; a value is null, undefined, NaN, a number, a bigint (12n), 'text,
// bytes:text or an object, anything else is text. `json:` at the start of the input is a value of
// NATS, as it is stored.

import { CronfenceError } from '../../../src/errors.ts'
import { StoredDocument } from '../../../src/store/mongo/stored-document.ts'
import { readSchedule as readDocument } from '../../../src/store/mongo/stored-schedule.ts'
import {
  readFloor,
  readSchedule as readValue,
  type Tombstone,
} from '../../../src/store/nats/stored-schedule.ts'
import { keyOf, StoredValue } from '../../../src/store/nats/stored-value.ts'
import { recordOf as redisRecordOf } from '../../../src/store/redis/redis-records.ts'
import { FIELDS } from '../../../src/store/redis/redis-statements.ts'
import { recordOf as sqliteRecordOf } from '../../../src/store/sqlite/sqlite-rows.ts'
import type { ScheduleRecord } from '../../../src/store/store.ts'
import { recordOf } from '../../../src/store/stored-row.ts'
import { must, type Target } from '../target.ts'

const MESSAGE_MAX = 8000
const CODES: readonly string[] = ['STORE_DAMAGED_RECORD', 'STORE_NEWER_SCHEMA']

const SOUND: Readonly<Record<string, unknown>> = {
  ...{ id: Buffer.from('a'), kind: 'every', spec: '60000', next_run_at: 0, lease_owner: null },
  ...{ lease_until: null, fencing_token: 1, last_run_at: null, updated_at: 0, deleted_at: null },
}
const CAMEL: Readonly<Record<string, string>> = {
  next_run_at: 'nextRunAt',
  lease_owner: 'leaseOwner',
  lease_until: 'leaseUntil',
  fencing_token: 'fencingToken',
  last_run_at: 'lastRunAt',
  updated_at: 'updatedAt',
  deleted_at: 'deletedAt',
}

/** Every reader sees every row. */
export const rows: Target = {
  words: [
    ...Object.keys(SOUND).map((name) => `${name}=`),
    ...['null', 'undefined', 'NaN', 'Infinity', '-Infinity', '-0', '9007199254740992', '1e300'],
    ...['9007199254740993n', "'cron", "'-1", 'bytes:', 'object', '__proto__=', 'constructor='],
    ...['json:{"version":1,', '"version":2', '"id":"a"', '"__proto__":{"kind":"cron"}', 'mark='],
    ...['word=', "'bad", "'type", '0x10', '\u0000', '\ud800', '1.5', "'1e3", 'version=2'],
  ],
  seeds: [
    '',
    'fencing_token=9007199254740993n',
    "kind='cron\nspec='0 9 * * *\nnext_run_at=bytes:12",
    "lease_owner='me\nlease_until=NaN",
    'id=bytes:\u00ff\nspec=object',
    "word='bad\ndeleted_at='5",
    'json:{"version":1,"write":"w","id":"a","kind":"every","spec":"1","nextRunAt":0,' +
      '"fencingToken":1,"updatedAt":0}',
    'json:{"version":2}',
    'id=x\u0000',
  ],
  fuzz(text) {
    if (text.startsWith('json:')) {
      checkNats(text.slice('json:'.length))
      return
    }
    const row = rowOf(text)
    const place = { table: 't', key: 'id', literal: () => "'x'" } as const
    check(() => recordOf(row, place))
    check(() => sqliteRecordOf(row, 't'))
    check(() => redisRecordOf(replyOf(row), { key: 'k', id: 'a' }))
    const named = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [CAMEL[name] ?? name, value]),
    )
    const document = { _id: 'a', ...named }
    check(() =>
      readDocument(new StoredDocument(document, { store: 'MongoStore', collection: 'c' })),
    )
    const plain = { ...named, ...(row.id instanceof Uint8Array && { id: 'a' }) }
    checkNats(JSON.stringify({ version: 1, write: 'w', ...plain }, bigintText))
  },
}

function checkNats(text: string): void {
  const place = { store: 'NatsStore', bucket: 'b', key: keyOf('schedule', 'a') }
  check(() => readValue(new StoredValue(text, place)))
  check(() => {
    readFloor(new StoredValue(text, place))
    return undefined
  })
}

/** A record with nothing wrong in it, or an error that says what is. */
function check(read: () => ScheduleRecord | Tombstone | undefined): void {
  let record: ScheduleRecord | Tombstone | undefined
  try {
    record = read()
  } catch (error) {
    must(error instanceof CronfenceError && CODES.includes(error.code), `threw ${error}`)
    must(error.message.length <= MESSAGE_MAX, 'a damage repeats a long value')
    return
  }
  if (!record || !('kind' in record)) return
  const { id, kind, spec, nextRunAt, leaseOwner, leaseUntil, fencingToken, lastRunAt } = record
  must(typeof id === 'string' && id !== '', 'a record without an id')
  must(['cron', 'every', 'delay'].includes(kind), 'a record of no kind')
  must(typeof spec === 'string' && spec !== '', 'a record without a spec')
  const numbers = [nextRunAt ?? 0, leaseUntil ?? 0, lastRunAt ?? 0, record.updatedAt, fencingToken]
  must(numbers.every(Number.isSafeInteger), 'a record with a number that is none')
  must(fencingToken >= 0, 'a token below zero')
  must((leaseOwner === undefined) === (leaseUntil === undefined), 'half a lease')
  must(leaseOwner !== '', 'an owner without a name')
  must(Object.isFrozen(record), 'a record that can be changed')
}

function rowOf(text: string): Record<string, unknown> {
  const row: Record<string, unknown> = { ...SOUND }
  for (const [name, value] of readFields(text)) {
    // Not assigned: a field may be called `__proto__`.
    Object.defineProperty(row, name, {
      ...{ value, enumerable: true, writable: true, configurable: true },
    })
  }
  return row
}

/** The fields of an input by their names, the last of each. */
export function readFields(text: string): Map<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(line) ?? []
    if (name !== undefined) fields.set(name, fieldValue(value))
  }
  return fields
}

function fieldValue(text: string): unknown {
  if (text === 'null') return null
  if (text === 'undefined') return undefined
  if (text === 'object') return { toString: null }
  if (text.startsWith("'")) return text.slice(1)
  // Characters as bytes, so that any bytes can be written.
  if (text.startsWith('bytes:')) return Buffer.from(text.slice('bytes:'.length), 'latin1')
  if (/^-?\d{1,40}n$/.test(text)) return BigInt(text.slice(0, -1))
  return /^-?(\d[\d.e+-]*|Infinity)$|^NaN$/.test(text) ? Number(text) : text
}

/** Of Redis come texts, or nothing. */
function replyOf(row: Readonly<Record<string, unknown>>): (string | null)[] {
  const named = new Map(Object.entries(row).map(([name, value]) => [CAMEL[name] ?? name, value]))
  const values = FIELDS.map((field) => {
    const value = named.has(field) ? named.get(field) : field === 'mark' ? '' : null
    if (value === undefined) return null
    if (value === null) return field === 'deletedAt' ? null : ''
    return typeof value === 'object' ? 'object' : String(value)
  })
  return [typeof row.word === 'string' ? row.word : 'live', ...values]
}

function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
