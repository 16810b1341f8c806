// Who may do what in PostgreSQL, what a store leaves behind there, and tables that a PostgresStore
// would not have made.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresPool, PostgresStore } from '../../../src/store/postgres/index.ts'
import { serverUrl } from '../../support/server-url.ts'
import { dropTables, postgres, type TestDatabase } from '../sql/dialect.ts'

const PREFIX = 'roles_'
const TABLES = ['schedules', 'schedule_leases', 'schedule_schema'].map((name) => PREFIX + name)
const EVERY = { id: 'a', kind: 'every', spec: '1', nextRunAt: 0 } as const

let url = ''
let database: TestDatabase
const open = (user = 'cronfence') => {
  const target = new URL(url)
  target.username = user
  return new PostgresStore({ url: target.href, tablePrefix: PREFIX, onWarning: () => {} })
}

beforeAll(async () => {
  url = await serverUrl('postgres')
  database = postgres.open(url)
  await dropTables(database, PREFIX)
  await database.run("CREATE ROLE roles_worker LOGIN PASSWORD 'cronfence'")
}, 300_000)
afterAll(async () => {
  await dropTables(database, PREFIX)
  await database.run('DROP ROLE roles_worker')
  await database.end()
})

describe('a role that may not create tables', () => {
  it('is told what it needs, and works once the tables are there and granted', async () => {
    const worker = open('roles_worker')
    const denied = { code: 'STORE_UNAVAILABLE', message: expect.stringMatching(/the role needs/) }
    await expect(worker.start()).rejects.toMatchObject(denied)
    const administrator = open()
    await administrator.start()
    await administrator.stop()
    await expect(worker.start()).rejects.toMatchObject(denied)
    const granted = TABLES.map((table) => `"${table}"`).join(', ')
    await database.run(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${granted} TO roles_worker`)
    await worker.start()
    await worker.schedules().register(EVERY, 0)
    expect((await worker.schedules().claimDue('a', 'o', 0, 1))?.fencingToken).toBe(1)
    await worker.schedules().delete('a')
    expect(await worker.purge(9e15)).toBe(1)
    expect(await worker.leases().acquire('leader', 'o', 1)).toMatchObject({ fencingToken: 1 })
    await worker.stop()
  })
})

it('a connection is given back as it was: no setting stays on it for whoever is next', async () => {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const settings = async () => (await pool.query('SHOW ALL')).rows
  const before = await settings()
  const store = new PostgresStore({
    ...{ pool: pool as unknown as PostgresPool, tablePrefix: PREFIX, onWarning: () => {} },
  })
  const schedules = store.schedules()
  await schedules.register(EVERY, 0)
  await schedules.claimDue('a', 'o', 0, 9)
  await schedules.renew('a', 1, 20)
  await schedules.complete('a', 1, { nextRunAt: 5 }, 0)
  await schedules.delete('a')
  await store.leases().acquire('leader', 'o', 1)
  await store.purge(9e15)
  expect(await settings()).toEqual(before)
  await pool.end()
})

describe('tables that are not as they were made', () => {
  const rows: Record<string, { sql: string; says: RegExp }> = {
    'that are not logged, and empty after a crash': {
      sql: `ALTER TABLE ${PREFIX}schedules SET UNLOGGED`,
      says: /roles_schedules is not one that cronfence created: it has no log/,
    },
    'whose ids compare by a language': {
      sql: `ALTER TABLE ${PREFIX}schedules ALTER id TYPE text COLLATE "default"`,
      says: /it has id text NOT NULL/,
    },
    'one of which is a view': {
      sql: `ALTER TABLE ${PREFIX}schedule_leases RENAME TO roles_other;
        CREATE VIEW ${PREFIX}schedule_leases AS SELECT * FROM roles_other`,
      says: /it has no table of rows/,
    },
  }
  for (const [what, { sql, says }] of Object.entries(rows)) {
    it(`${what}, are refused`, async () => {
      await dropTables(database, PREFIX)
      const first = open()
      await first.start()
      await first.stop()
      for (const statement of sql.split(';')) await database.run(statement)
      const store = open()
      await expect(store.start()).rejects.toMatchObject({
        code: 'STORE_FOREIGN_SCHEMA',
        message: expect.stringMatching(says),
      })
      await store.stop()
      await database.run(`DROP VIEW IF EXISTS ${PREFIX}schedule_leases`).catch(() => {})
      await database.run('DROP TABLE IF EXISTS roles_other')
    })
  }
})
