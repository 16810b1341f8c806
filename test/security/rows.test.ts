// Stored values of ten megabytes in each field: the error that names the row stays short.

import { describe, expect, test } from 'vitest'
import { CronfenceError } from '../../src/index.ts'
import { StoredDocument } from '../../src/store/mongo/stored-document.ts'
import { readSchedule as readDocument } from '../../src/store/mongo/stored-schedule.ts'
import { readSchedule } from '../../src/store/nats/stored-schedule.ts'
import { keyOf, StoredValue } from '../../src/store/nats/stored-value.ts'
import { recordOf as redisRecordOf } from '../../src/store/redis/redis-records.ts'
import { FIELDS } from '../../src/store/redis/redis-statements.ts'
import { recordOf as sqliteRecordOf } from '../../src/store/sqlite/sqlite-rows.ts'
import { recordOf as sqlRecordOf } from '../../src/store/stored-row.ts'

const HUGE = "'".repeat(10_000_000)
const MESSAGE_MAX = 8000

const ROW: Readonly<Record<string, unknown>> = {
  ...{ id: Buffer.from('a'), kind: 'every', spec: '1', next_run_at: 0, lease_owner: null },
  ...{ lease_until: null, fencing_token: 0, last_run_at: null, updated_at: 0 },
}
const VALUE: Readonly<Record<string, unknown>> = {
  ...{ version: 1, id: 'a', kind: 'every', spec: '1', nextRunAt: 0, fencingToken: 0, updatedAt: 0 },
}
const place = {
  table: 't',
  key: 'id',
  literal: (key: unknown) => `'${String(key)}'`,
} as const

/** By reader: each of its fields, and a call that finds the value there. */
const READERS: Readonly<Record<string, readonly [readonly string[], Reader]>> = {
  sql: [Object.keys(ROW), (field, value) => sqlRecordOf({ ...ROW, [field]: value }, place)],
  sqlite: [Object.keys(ROW), (field, value) => sqliteRecordOf({ ...ROW, [field]: value }, 't')],
  redis: [
    FIELDS,
    (field, value) => {
      const reply = ['live', ...FIELDS.map((each) => (each === field ? value : ''))]
      return redisRecordOf(reply, { key: 'k', id: 'a' })
    },
  ],
  mongo: [
    ['_id', ...FIELDS.filter((field) => field !== 'mark')],
    (field, value) => {
      const fields = { ...VALUE, _id: 'a', deletedAt: null, lastRunAt: null, leaseUntil: null }
      const stored = { store: 'MongoStore', collection: 'c' }
      return readDocument(
        new StoredDocument({ ...fields, leaseOwner: null, [field]: value }, stored),
      )
    },
  ],
  nats: [
    Object.keys(VALUE),
    (field, value) => {
      const text = JSON.stringify({ ...VALUE, [field]: value })
      const stored = { store: 'NatsStore', bucket: 'b', key: keyOf('schedule', 'a') }
      return readSchedule(new StoredValue(text, stored))
    },
  ],
}
type Reader = (field: string, value: string) => unknown

const rows = Object.entries(READERS).flatMap(([reader, [fields, read]]) =>
  fields.map((field) => ({ reader, field, read })),
)

describe('ten megabytes', () => {
  test.each(rows)('in $field, read for $reader, make no long error', ({ field, read }) => {
    let error: unknown
    try {
      read(field, HUGE)
    } catch (thrown) {
      error = thrown
    }
    // Texts of any length can be read; the columns and keys of ours hold no such id.
    if (error === undefined) {
      expect(['id', '_id', 'spec', 'mark']).toContain(field)
      return
    }
    expect(error).toBeInstanceOf(CronfenceError)
    expect((error as CronfenceError).code).toBe('STORE_DAMAGED_RECORD')
    expect((error as CronfenceError).message.length).toBeLessThan(MESSAGE_MAX)
    expect(JSON.stringify((error as CronfenceError).details).length).toBeLessThan(MESSAGE_MAX)
  })
})
