// What MariaDB makes of our tables: keys to their last byte, deadlocks that really happen, tables
// that a MysqlStore would not have made, and users who may not make any.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type MysqlPool, MysqlStore } from '../../../src/store/mysql/index.ts'
import { serverUrl } from '../../support/server-url.ts'
import { dropTables, mariadb, type TestDatabase } from '../sql/dialect.ts'

const PREFIX = 'tables_'
const TABLE = `${PREFIX}schedules`
const schedule = (id: string) => ({ id, kind: 'every', spec: '1', nextRunAt: 0 }) as const

let url = ''
let database: TestDatabase
let store: MysqlStore
const open = (user = 'cronfence') => {
  const target = new URL(url)
  target.username = user
  return new MysqlStore({ url: target.href, tablePrefix: PREFIX, onWarning: () => {} })
}

beforeAll(async () => {
  url = await serverUrl('mariadb')
  database = mariadb.open(url)
}, 300_000)
beforeEach(async () => {
  await dropTables(database, PREFIX)
  store = open()
  await store.start()
})
afterAll(async () => {
  await dropTables(database, PREFIX)
  await database.end()
})

describe('an id', () => {
  it.each([1, 255, 256, 767, 768, 1023, 1024])(
    'of %i bytes is its own, to the last one',
    async (length) => {
      const ids = ['a', 'b'].map((last) => `${'x'.repeat(length - 1)}${last}`)
      for (const id of ids) await store.schedules().register(schedule(id), 0)
      for (const id of ids) expect((await store.schedules().get(id))?.id).toBe(id)
      expect(await store.schedules().list()).toHaveLength(2)
      await store.stop()
    },
  )

  it('that SQL would take for a statement is bytes', async () => {
    const ids = [
      `'; DROP TABLE ${TABLE}; -- `,
      '\\',
      "\\'",
      "' OR 1=1",
      '?',
      '??',
      ':id',
      '`',
      '%_',
    ]
    await store.schedules().registerMany(ids.map(schedule), 0)
    const claims = await store.schedules().claimDueMany(ids, "o'?", 0, 10)
    expect(claims.map((claim) => claim?.record.id)).toEqual(ids)
    expect((await store.schedules().get('?'))?.leaseOwner).toBe("o'?")
    await store.stop()
  })
})

it('a deadlock with another session undoes the call, which is made again', async () => {
  for (const id of ['a', 'b']) {
    await store.schedules().register(schedule(id), 0)
    await store.schedules().claimDue(id, 'owner', 0, 10)
  }
  const rival = await database.session()
  let renewed: Promise<boolean[]> | undefined
  try {
    await rival.run('START TRANSACTION')
    // The server undoes whoever wrote less, so the rival writes a lot first.
    for (let row = 0; row < 50; row++) {
      await rival.run(`INSERT INTO ${PREFIX}schedule_leases VALUES ('rival ${row}', NULL, 0, 0)`)
    }
    await rival.run(`SELECT * FROM ${TABLE} WHERE id = 'b' FOR UPDATE`)
    const renewals = ['a', 'b'].map((id) => ({ id, fencingToken: 1, leaseUntil: 99 }))
    renewed = store.schedules().renewMany(renewals)
    await vi.waitFor(
      async () => {
        const waits = 'SELECT * FROM information_schema.innodb_trx WHERE trx_state = ?'
        expect(await database.run(waits, ['LOCK WAIT'])).not.toEqual([])
      },
      // The server shows an old picture to whoever asks again within 100 ms.
      { timeout: 10_000, interval: 200 },
    )
    await rival.run(`SELECT * FROM ${TABLE} WHERE id = 'a' FOR UPDATE`)
    await rival.run('COMMIT')
  } finally {
    await rival.end()
  }
  expect(await renewed).toEqual([true, true])
  await store.stop()
})

describe('tables that are not as they were made', () => {
  const rows: Record<string, { sql: string; says: RegExp }> = {
    'with a second unique key, which upserts would mistake for the first': {
      sql: `ALTER TABLE ${TABLE} ADD UNIQUE (next_run_at)`,
      says: /tables_schedules is not one .*next_run_at bigint UNI/,
    },
    'of an engine without row locks': {
      sql: `ALTER TABLE ${TABLE} ENGINE = Aria`,
      says: /not InnoDB/,
    },
    'with shorter ids': {
      sql: `ALTER TABLE ${TABLE} MODIFY id VARBINARY(255) NOT NULL`,
      says: /id varbinary\(255\)/,
    },
    'with ids that have a collation': {
      sql: `ALTER TABLE ${TABLE} MODIFY id VARCHAR(255) NOT NULL`,
      says: /id varchar/,
    },
  }
  for (const [what, { sql, says }] of Object.entries(rows)) {
    it(`${what}, are refused`, async () => {
      await store.stop()
      await database.run(sql)
      const other = open()
      await expect(other.start()).rejects.toMatchObject({
        code: 'STORE_FOREIGN_SCHEMA',
        message: expect.stringMatching(says),
      })
      await other.stop()
    })
  }
})

it('a look for a row that is not there keeps nobody from adding one', async () => {
  const pool = database.pool as MysqlPool
  let hasLooked = false
  /** Adds a row once the store has looked for its own, and before it commits. */
  const interrupted: MysqlPool = {
    async getConnection() {
      const client = await pool.getConnection()
      return {
        async query(query) {
          const result = await client.query(query)
          if (query.sql.includes('FOR UPDATE') && !hasLooked) {
            hasLooked = true
            await store.schedules().register(schedule('between'), 0)
          }
          return result
        },
        release: () => client.release(),
        destroy: () => client.destroy(),
      }
    },
  }
  const other = new MysqlStore({ pool: interrupted, tablePrefix: PREFIX, onWarning: () => {} })
  expect(await other.schedules().renew('absent', 1, 5)).toBe(false)
  expect(hasLooked).toBe(true)
  expect(await store.schedules().list()).toHaveLength(1)
  await store.stop()
})

it('a creation that was cut off halfway is finished by the next start', async () => {
  await store.stop()
  await database.run(`DROP TABLE ${PREFIX}schedule_leases`)
  await database.run(`UPDATE ${PREFIX}schedule_schema SET version = 0`)
  const next = open()
  await next.start()
  expect(await next.leases().acquire('leader', 'o', 10)).toMatchObject({ fencingToken: 1 })
  await next.stop()
})

it('a creation that another replica has only begun is no damage', async () => {
  await store.stop()
  // What a look finds between the first statement of a creation and the second.
  await database.run(`DROP TABLE ${PREFIX}schedule_leases, ${PREFIX}schedules`)
  await database.run(`DELETE FROM ${PREFIX}schedule_schema`)
  const next = open()
  await next.start()
  expect(await next.schedules().register(schedule('a'), 0)).toMatchObject({ fencingToken: 0 })
  await next.stop()
})

it('a user who may only read and write works once the tables are there', async () => {
  await database.run("CREATE USER tables_worker@'127.0.0.1' IDENTIFIED BY 'cronfence'")
  try {
    for (const name of ['schedules', 'schedule_leases', 'schedule_schema']) {
      const rights = 'SELECT, INSERT, UPDATE, DELETE'
      await database.run(`GRANT ${rights} ON ${PREFIX}${name} TO tables_worker@'127.0.0.1'`)
    }
    const worker = open('tables_worker')
    await worker.start()
    await worker.schedules().register(schedule('a'), 0)
    expect((await worker.schedules().claimDue('a', 'o', 0, 1))?.fencingToken).toBe(1)
    await worker.schedules().delete('a')
    expect(await worker.purge(9e15)).toBe(1)
    await worker.stop()
    await dropTables(database, PREFIX)
    const helpless = open('tables_worker')
    await expect(helpless.start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/the user needs SELECT.*and CREATE/),
    })
    await helpless.stop()
  } finally {
    await database.run("DROP USER tables_worker@'127.0.0.1'")
    await store.stop()
  }
})
