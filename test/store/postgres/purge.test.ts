// The narrowest place of a purge in PostgreSQL: a registration that began before the floor of
// tokens was raised, and finds its tombstone gone when it comes to it.

import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { PostgresStore } from '../../../src/store/postgres/index.ts'
import { serverUrl } from '../../support/server-url.ts'
import { dropTables, postgres, type TestDatabase } from '../sql/dialect.ts'

const PREFIX = 'purge_'
const EVERY = { id: 'a', kind: 'every', spec: '1', nextRunAt: 0 } as const

let database: TestDatabase
let store: PostgresStore

beforeAll(async () => {
  const url = await serverUrl('postgres')
  database = postgres.open(url)
  await dropTables(database, PREFIX)
  store = new PostgresStore({ url, tablePrefix: PREFIX, onWarning: () => {} })
  await store.start()
}, 300_000)
afterAll(async () => {
  await store.stop()
  await dropTables(database, PREFIX)
  await database.end()
})

it('a registration that began before a purge takes the floor that the purge raised', async () => {
  const schedules = store.schedules()
  await schedules.register(EVERY, 0)
  expect((await schedules.claimDue('a', 'owner', 0, 1))?.fencingToken).toBe(1)
  await schedules.delete('a')
  const purge = await database.session()
  let registered: Promise<unknown> | undefined
  try {
    await purge.run('BEGIN')
    await purge.run(`SELECT * FROM ${PREFIX}schedules FOR UPDATE`)
    registered = schedules.register(EVERY, 0).catch((thrown: unknown) => thrown)
    await vi.waitFor(
      async () => {
        const waits = `SELECT 1 FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO "purge_schedules"%'`
        expect(await database.run(waits)).not.toEqual([])
      },
      { timeout: 10_000, interval: 10 },
    )
    await purge.run(`UPDATE ${PREFIX}schedule_schema SET token_floor = 1`)
    await purge.run(`DELETE FROM ${PREFIX}schedules`)
    await purge.run('COMMIT')
  } finally {
    await purge.end()
  }
  // The server may have had to end one of the two; what counts is which token there is now.
  await registered
  expect((await schedules.register(EVERY, 0)).fencingToken).toBe(1)
})
