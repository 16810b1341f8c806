// How PostgreSQL carries out the statements for many ids. Its planner expects one row of each of
// their parts; joined to each other, a thousand rows would be compared pair by pair.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresStore } from '../../../src/store/postgres/index.ts'
import { scheduleStatements } from '../../../src/store/postgres/postgres-statements.ts'
import { tablesOf } from '../../../src/store/tables.ts'
import { serverUrl } from '../../support/server-url.ts'
import { dropTables, postgres, type TestDatabase } from '../sql/dialect.ts'

const PREFIX = 'plans_'
const IDS = Array.from({ length: 1000 }, (_, task) => `task-${task}`)
const SQL = scheduleStatements(tablesOf(PREFIX))
const NOW = 1000

/** The same value for each id. */
const each = (value: string | number) => `array_fill(${literal(value)}, ARRAY[${IDS.length}])`
const literal = (value: string | number) => {
  return typeof value === 'number' ? `${value}::bigint` : `'${value}'::text`
}
const ids = `ARRAY['${IDS.join("','")}']`

let database: TestDatabase
let store: PostgresStore

beforeAll(async () => {
  const url = await serverUrl('postgres')
  database = postgres.open(url)
  await dropTables(database, PREFIX)
  store = new PostgresStore({ url, tablePrefix: PREFIX, onWarning: () => {} })
  const schedules = IDS.map((id) => ({ id, kind: 'every', spec: '1', nextRunAt: 0 }) as const)
  await store.schedules().registerMany(schedules, 0)
  await store.schedules().claimDueMany(IDS.slice(0, 500), 'owner', 0, 1)
}, 300_000)
afterAll(async () => {
  await store.stop()
  await dropTables(database, PREFIX)
  await database.end()
})

it.each([
  { name: 'register', values: [ids, each('every'), each('1'), each(0), NOW] },
  { name: 'claim', values: [ids, `'owner'`, NOW, NOW] },
  { name: 'renew', values: [ids, each(1), each(NOW)] },
  {
    name: 'complete',
    values: [ids, each(1), each(NOW), each(0), each('every'), each('1'), NOW],
  },
] as const)('a thousand ids are looked up, not compared pair by pair: $name', async (row) => {
  const bound = SQL[row.name].replace(/\$(\d)/g, (_, at) => `(${row.values[Number(at) - 1]})`)
  const session = await database.session()
  try {
    await session.run('BEGIN')
    const plan = JSON.stringify(await session.run(`EXPLAIN (ANALYZE) ${bound}`))
    const compared = [...plan.matchAll(/Rows Removed by Join Filter: (\d+)/g)]
    const most = compared.map(([, count]) => Number(count))
    expect(Math.max(0, ...most)).toBeLessThanOrEqual(IDS.length)
  } finally {
    await session.run('ROLLBACK')
    await session.end()
  }
})
