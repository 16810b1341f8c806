// Rows that somebody else damaged, tombstones and their removal, and long lists.

import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CronfenceError } from '../../src/errors.ts'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'
import type { ScheduleStore } from '../../src/store/store.ts'
import { VirtualClock } from '../../src/testing/index.ts'
import { scratch } from './subjects.ts'

const NOON = Date.UTC(2026, 0, 1, 12)

let place: ReturnType<typeof scratch>
let clock: VirtualClock
let reported: CronfenceError[]
let store: SQLiteStore
let schedules: Required<ScheduleStore>
let raw: Database.Database

beforeEach(async () => {
  place = scratch()
  clock = new VirtualClock(NOON)
  reported = []
  const { file } = place
  store = new SQLiteStore({ file, clock, onDamaged: (error) => void reported.push(error) })
  schedules = store.schedules()
  await store.start()
  raw = new Database(file)
})
afterEach(async () => {
  await store.stop()
  raw.close()
  place.remove()
})

const task = (id: string) => ({ id, kind: 'every', spec: '1', nextRunAt: 0 }) as const

/** Columns that any value stays in as it is: a type would turn text into a number. */
const UNTYPED = [
  ...['id BLOB PRIMARY KEY', 'kind', 'spec', 'next_run_at', 'lease_owner', 'lease_until'],
  ...['fencing_token', 'last_run_at', 'updated_at'],
]

/** Columns of the types that a store looks for, without their checks. */
const TYPED = [
  ...['id BLOB PRIMARY KEY', 'kind TEXT', 'spec TEXT', 'next_run_at INTEGER', 'lease_owner TEXT'],
  ...['lease_until INTEGER', 'fencing_token INTEGER', 'last_run_at INTEGER', 'updated_at INTEGER'],
]

/** Two good tasks around `bad`, claimed once each, in tables that take any value. */
async function prepare(columns = UNTYPED): Promise<void> {
  const ids = ['a', 'bad', 'c']
  await schedules.registerMany(ids.map(task), 0)
  await schedules.claimDueMany(ids, 'owner', 0, 1000)
  loosen('schedules', columns)
}

/** Puts a table of the same columns without its checks in the place of `table`. */
function loosen(table: string, columns: readonly string[]): void {
  raw.exec(`ALTER TABLE ${table} RENAME TO strict; CREATE TABLE ${table} (${columns.join(', ')});
    INSERT INTO ${table} SELECT * FROM strict; DROP TABLE strict`)
}

const rows = (table = 'schedules') => raw.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()

async function errorOf(action: Promise<unknown>): Promise<CronfenceError> {
  const error: unknown = await action.catch((reason: unknown) => reason)
  if (!(error instanceof CronfenceError)) throw new Error(`not a CronfenceError: ${error}`)
  return error
}

describe('a damaged row', () => {
  const DAMAGE: readonly [sql: string, problem: string][] = [
    ["kind = 'daily'", 'kind must be one of cron, every, delay, found "daily"'],
    ['kind = NULL', 'kind must be one of cron, every, delay, found "null"'],
    ["kind = X'01'", 'kind must be one of cron, every, delay, found bytes'],
    ["kind = CAST('every' AS BLOB)", 'kind must be one of cron, every, delay, found bytes'],
    ['spec = NULL', 'spec must be text, found "null"'],
    ["spec = ''", 'spec must be text, found ""'],
    ["spec = X'00'", 'spec must be text, found bytes'],
    ["next_run_at = 'soon'", 'next_run_at must be an integer within ±(2^53 - 1), found "soon"'],
    ["next_run_at = '5'", 'next_run_at must be an integer within ±(2^53 - 1), found "5"'],
    ['next_run_at = 0.5', 'next_run_at must be an integer within ±(2^53 - 1), found "0.5"'],
    ['next_run_at = 9007199254740993', 'next_run_at must be an integer within ±(2^53 - 1)'],
    ['next_run_at = -9007199254740993', 'next_run_at must be an integer within ±(2^53 - 1)'],
    ['lease_owner = NULL', 'lease_owner and lease_until: one is set and the other is not'],
    ['lease_until = NULL', 'lease_owner and lease_until: one is set and the other is not'],
    ["lease_owner = ''", 'lease_owner must be text, found ""'],
    ["lease_until = 'x'", 'lease_until must be an integer within ±(2^53 - 1), found "x"'],
    ['fencing_token = NULL', 'fencing_token must be from 0 to 2^53 - 1, found "null"'],
    ['fencing_token = -1', 'fencing_token must be from 0 to 2^53 - 1, found "-1"'],
    ["fencing_token = '1'", 'fencing_token must be from 0 to 2^53 - 1, found "1"'],
    ['fencing_token = 1.5', 'fencing_token must be from 0 to 2^53 - 1, found "1.5"'],
    ['fencing_token = 1e300', 'fencing_token must be from 0 to 2^53 - 1, found "1e+300"'],
    ['fencing_token = 9007199254740992', 'fencing_token must be from 0 to 2^53 - 1, found'],
    ['fencing_token = 9223372036854775807', 'fencing_token must be from 0 to 2^53 - 1, found'],
    ["fencing_token = 'many'", 'fencing_token must be from 0 to 2^53 - 1, found "many"'],
    ["last_run_at = 'x'", 'last_run_at must be an integer within ±(2^53 - 1), found "x"'],
    ['updated_at = NULL', 'updated_at must be an integer, found "null"'],
  ]

  for (const [sql, problem] of DAMAGE) {
    it(`with ${sql} rejects its own calls and is left as it is`, async () => {
      await prepare()
      raw.exec(`UPDATE schedules SET ${sql} WHERE id = CAST('bad' AS BLOB)`)
      const before = rows()
      const calls = [
        schedules.get('bad'),
        schedules.register({ ...task('bad'), spec: '2' }, 0),
        schedules.claimDue('bad', 'owner', 9000, 1000),
        schedules.renew('bad', 1, 9000),
        schedules.complete('bad', 1, { nextRunAt: null }, 0),
        schedules.delete('bad'),
      ]
      for (const call of calls) {
        const error = await errorOf(call)
        expect([error.code, error.details]).toEqual([
          'STORE_DAMAGED_RECORD',
          { table: 'schedules', id: 'bad' },
        ])
        expect(error.message).toContain(`Table schedules, id "bad": ${problem}`)
        expect(error.message).toContain("DELETE FROM schedules WHERE id = X'626164'")
      }
      expect(rows()).toEqual(before)
    })
  }

  it('is passed over by list, and reported once', async () => {
    await prepare()
    raw.exec("UPDATE schedules SET spec = NULL WHERE id = CAST('bad' AS BLOB)")
    for (let round = 0; round < 3; round++) {
      expect((await schedules.list()).map(({ id }) => id)).toEqual(['a', 'c'])
    }
    expect(reported.map(({ details }) => details.id)).toEqual(['bad'])
  })

  for (const [what, id, shown] of [
    ['that is text', "'text'", 'text'],
    ['that is a number', '7', '7'],
    ['that is no UTF-8', "X'ff'", '\ufffd'],
    ['that is empty', "X''", ''],
  ] as const) {
    it(`with an id ${what} is passed over by list, and reported`, async () => {
      await prepare()
      raw.exec(`UPDATE schedules SET id = ${id} WHERE id = CAST('bad' AS BLOB)`)
      expect((await schedules.list()).map((record) => record.id)).toEqual(['a', 'c'])
      expect(reported.map(({ code, details }) => [code, details.id])).toEqual([
        ['STORE_DAMAGED_RECORD', shown],
      ])
      expect(reported[0]?.message).toContain(`WHERE id = ${id}`)
    })
  }

  it('rejects a batch as a whole, which changes nothing', async () => {
    await prepare()
    raw.exec("UPDATE schedules SET spec = NULL WHERE id = CAST('bad' AS BLOB)")
    const before = rows()
    const ids = ['a', 'bad', 'c']
    const patch = { nextRunAt: null }
    const batches = [
      schedules.getMany(ids),
      schedules.registerMany(
        ids.map((id) => ({ ...task(id), spec: '2' })),
        0,
      ),
      schedules.claimDueMany(ids, 'second', 1000, 1000),
      schedules.renewMany(ids.map((id) => ({ id, fencingToken: 1, leaseUntil: 5000 }))),
      schedules.completeMany(
        ids.map((id) => ({ id, fencingToken: 1, patch })),
        1000,
      ),
    ]
    for (const batch of batches) {
      const { code, details } = await errorOf(batch)
      expect([code, details.id]).toEqual(['STORE_DAMAGED_RECORD', 'bad'])
    }
    expect(rows()).toEqual(before)
  })

  it('is a process warning when nobody listens', async () => {
    await prepare(TYPED)
    raw.exec("UPDATE schedules SET spec = NULL WHERE id = CAST('bad' AS BLOB)")
    const silent = new SQLiteStore({ file: place.file })
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    await silent.schedules().list()
    await silent.stop()
    expect((await warned).message).toContain('Table schedules, id "bad"')
  })

  it('of the tombstones rejects the registration and is left as it is', async () => {
    await schedules.register(task('bad'), 0)
    await schedules.claimDue('bad', 'owner', 0, 1)
    await schedules.delete('bad')
    loosen('schedule_fences', [
      'id BLOB PRIMARY KEY',
      'fencing_token INTEGER',
      'deleted_at INTEGER',
    ])
    raw.exec('UPDATE schedule_fences SET fencing_token = NULL')
    const error = await errorOf(schedules.register(task('bad'), 0))
    expect(error.details).toEqual({ table: 'schedule_fences', id: 'bad' })
    expect(await store.purge(NOON + 1)).toBe(0)
    expect(rows('schedule_fences')).toHaveLength(1)
  })

  it('of the leases rejects its own calls and no others', async () => {
    const leases = store.leases()
    await leases.acquire('bad', 'owner', 1000)
    loosen('schedule_leases', [
      ...['name BLOB PRIMARY KEY', 'owner TEXT', 'lease_until INTEGER', 'fencing_token INTEGER'],
    ])
    raw.exec('UPDATE schedule_leases SET fencing_token = -1')
    const calls = [leases.acquire('bad', 'owner', 1000), leases.renew('bad', 1, 1000)]
    for (const call of [...calls, leases.release('bad', 1)]) {
      expect((await errorOf(call)).details).toEqual({ table: 'schedule_leases', id: 'bad' })
    }
    expect(await leases.acquire('good', 'owner', 1000)).not.toBeNull()
  })
})

describe('a token at the ceiling', () => {
  it('rejects a batch as a whole, which changes nothing', async () => {
    const ids = ['a', 'full', 'c']
    await schedules.registerMany(ids.map(task), 0)
    raw.exec(
      "UPDATE schedules SET fencing_token = 9007199254740991 WHERE id = CAST('full' AS BLOB)",
    )
    const before = rows()
    const error = await errorOf(schedules.claimDueMany(ids, 'owner', 0, 1000))
    expect([error.code, error.details.id]).toEqual(['STORE_TOKEN_CEILING', 'full'])
    expect(rows()).toEqual(before)
  })
})

describe('purge', () => {
  async function deleted(id: string, claims: number): Promise<void> {
    await schedules.register(task(id), 0)
    for (let now = 0; now < claims; now++) await schedules.claimDue(id, 'owner', now, 1)
    await schedules.delete(id)
  }

  it('removes tombstones older than the instant, and only those', async () => {
    await deleted('old', 3)
    await clock.advance(1000)
    await deleted('new', 5)
    expect(await store.purge(NOON)).toBe(0)
    expect(await store.purge(new Date(NOON + 1000))).toBe(1)
    expect((await schedules.register(task('new'), 0)).fencingToken).toBe(5)
  })

  it('never lets a token go back: new ids start from the highest that was removed', async () => {
    await deleted('a', 3)
    await deleted('b', 7)
    await store.purge(NOON + 1)
    expect((await schedules.register(task('a'), 0)).fencingToken).toBe(7)
    expect((await schedules.register(task('fresh'), 0)).fencingToken).toBe(7)
    await deleted('low', 1)
    await store.purge(NOON + 1)
    expect((await schedules.register(task('later'), 0)).fencingToken).toBe(8)
  })

  it('keeps rows: a delay that ran stays done', async () => {
    await schedules.register({ ...task('once'), kind: 'delay' }, 0)
    await schedules.claimDue('once', 'owner', 0, 1)
    await schedules.complete('once', 1, { nextRunAt: null, lastRunAt: 0 }, 0)
    expect(await store.purge(NOON + 1e12)).toBe(0)
    expect((await schedules.get('once'))?.lastRunAt).toBe(0)
  })

  it('refuses an instant that is none', async () => {
    await expect(store.purge(new Date(Number.NaN))).rejects.toThrow('olderThan: must be whole ms')
  })
})

describe('list', () => {
  it('gives every row of many pages once', async () => {
    const ids = Array.from({ length: 4500 }, (_, index) => `task ${index}`)
    await schedules.registerMany(ids.map(task), 0)
    expect((await schedules.list()).map(({ id }) => id).sort()).toEqual(ids.sort())
  })

  it('ends at a page that is exactly full', async () => {
    const ids = Array.from({ length: 2000 }, (_, index) => `task ${index}`)
    await schedules.registerMany(ids.map(task), 0)
    expect(await schedules.list()).toHaveLength(2000)
  })
})
