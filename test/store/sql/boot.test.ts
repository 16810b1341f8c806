// The beginning and the end of a SQL store: who may start it where, what it refuses, what it says.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverUrl } from '../../support/server-url.ts'
import { dropTables, mariadb, postgres, type TestDatabase } from './dialect.ts'

const EVERY = { id: 'a', kind: 'every', spec: '1', nextRunAt: 0 } as const

describe.each([postgres, mariadb])('$name', (dialect) => {
  const prefix = 'boot_'
  let url = ''
  let database: TestDatabase
  const open = (options: object = {}) =>
    dialect.store({ url, tablePrefix: prefix, onWarning: () => {}, ...options })
  /** `run` without tables before, and without tables after. */
  const withoutTables = async (run: () => Promise<void>) => {
    await dropTables(database, prefix)
    try {
      await run()
    } finally {
      await dropTables(database, prefix)
    }
  }

  beforeAll(async () => {
    url = await serverUrl(dialect.server)
    database = dialect.open(url)
  }, 300_000)
  afterAll(() => database.end())

  describe('starting', () => {
    it('from ten replicas at once makes one set of tables, five times over', async () => {
      for (let round = 0; round < 5; round++) {
        await withoutTables(async () => {
          const stores = Array.from({ length: 10 }, () => open())
          await Promise.all(stores.map((store) => store.start()))
          const schedules = stores.map((store) => store.schedules())
          await Promise.all(schedules.map((each) => each.register(EVERY, 0)))
          const claims = await Promise.all(schedules.map((each) => each.claimDue('a', 'o', 0, 10)))
          expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
          expect(await database.run(`SELECT version FROM ${prefix}schedule_schema`)).toHaveLength(1)
          await Promise.all(stores.map((store) => store.stop()))
        })
      }
    })

    it('again, or again after a stop of another, changes nothing', async () => {
      await withoutTables(async () => {
        const [first, second] = [open(), open()]
        await first.start()
        await first.start()
        await first.schedules().register(EVERY, 0)
        await first.stop()
        await second.schedules().start()
        expect(await second.schedules().list()).toHaveLength(1)
        await second.stop()
      })
    })

    const foreign: Record<string, { sql: string[]; problem: RegExp }> = {
      'a table of our name that was there before': {
        sql: [`CREATE TABLE ${prefix}schedules (id INT)`],
        problem: /Table boot_schedules is not one that cronfence created: it was there before/,
      },
      'a table of versions of another shape': {
        sql: [`CREATE TABLE ${prefix}schedule_schema (version INT, name INT)`],
        problem: /Table boot_schedule_schema is not one .*: it has version int/,
      },
    }
    for (const [what, { sql, problem }] of Object.entries(foreign)) {
      it(`beside ${what} is refused, and changes nothing`, async () => {
        await withoutTables(async () => {
          for (const statement of sql) await database.run(statement)
          const store = open()
          await expect(store.start()).rejects.toMatchObject({
            code: 'STORE_FOREIGN_SCHEMA',
            message: expect.stringMatching(problem),
          })
          await expect(database.run(`SELECT * FROM ${prefix}schedule_leases`)).rejects.toThrow()
          // Once the table is out of the way the same store starts.
          await dropTables(database, prefix)
          await store.start()
          await store.stop()
        })
      })
    }

    const changes: Record<string, { sql: string; error: object }> = {
      'a column that was dropped': {
        sql: `ALTER TABLE ${prefix}schedules DROP COLUMN last_run_at`,
        error: { code: 'STORE_FOREIGN_SCHEMA' },
      },
      'a column that became text': {
        sql:
          dialect.server === 'postgres'
            ? `ALTER TABLE ${prefix}schedules ALTER deleted_at TYPE text`
            : `ALTER TABLE ${prefix}schedules MODIFY deleted_at TEXT`,
        error: { code: 'STORE_FOREIGN_SCHEMA' },
      },
      'a newer version': {
        sql: `UPDATE ${prefix}schedule_schema SET version = 2`,
        error: {
          code: 'STORE_NEWER_SCHEMA',
          message: expect.stringMatching(/boot_schedule_schema has schema version 2, this release/),
        },
      },
      'no version': {
        sql: `DELETE FROM ${prefix}schedule_schema`,
        error: {
          code: 'STORE_DAMAGED_RECORD',
          message: expect.stringMatching(/boot_schedule_schema must have one row/),
        },
      },
    }
    for (const [what, { sql, error }] of Object.entries(changes)) {
      it(`over tables with ${what} is refused`, async () => {
        await withoutTables(async () => {
          await startAndStop(open())
          // Constraints that use the column go with it.
          await database.run(sql.replace(/DROP COLUMN \w+/, '$& CASCADE')).catch(async () => {
            await database.run(sql)
          })
          const store = open()
          await expect(store.start()).rejects.toMatchObject(error)
          await store.stop()
        })
      })
    }
  })

  describe('a server that refuses', () => {
    const at = (change: (target: URL) => void) => {
      const target = new URL(url)
      change(target)
      return open({ url: target.href, timeoutMs: 3000 })
    }
    const rows: Record<string, { change: (target: URL) => void; says: RegExp }> = {
      'because nothing listens there': {
        change: (target) => {
          target.port = '1'
        },
        says: /at 127\.0\.0\.1:1\/\w+: .*ECONNREFUSED.*; is the server running there\?/,
      },
      'because the password is wrong': {
        change: (target) => {
          target.password = 'secret-word'
        },
        says: /password|Access denied.*; check the user/i,
      },
      'because there is no such database': {
        change: (target) => {
          target.pathname = '/nowhere'
        },
        says: /nowhere.*; create the database, or name another one in the URL/,
      },
    }
    for (const [what, { change, says }] of Object.entries(rows)) {
      it(`${what} is unavailable, and the error says where and what to do`, async () => {
        const store = at(change)
        const calls = [() => store.start(), () => store.schedules().register(EVERY, 0)]
        for (const call of calls) {
          const error = await call().catch((thrown: unknown) => thrown)
          expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
          const { message } = error as Error
          expect(message).toMatch(says)
          expect(message.startsWith(`${dialect.name} at 127.0.0.1:`)).toBe(true)
          expect(message).not.toMatch(/secret-word|cronfence:cronfence/)
        }
        await store.stop()
      })
    }
  })

  describe('options', () => {
    const { href } = new URL(`${dialect.server === 'postgres' ? 'postgres' : 'mysql'}://h/d`)
    const misuse: Record<string, { options: object; says: string }> = {
      'neither URL nor pool': { options: {}, says: 'give either a url or a pool' },
      'both URL and pool': {
        options: { url: href, pool: {} },
        says: 'give either a url or a pool',
      },
      'a URL of another kind': {
        options: { url: 'https://h/d' },
        says: 'must be a URL that starts',
      },
      'a URL with a password, of another kind': {
        options: { url: 'ftp://me:secret-word@h' },
        says: 'must be a URL that starts',
      },
      'a URL that is no text': { options: { url: 5 }, says: 'must be a URL that starts' },
      'a prefix with a quote': { options: { url: href, tablePrefix: `x"'` }, says: 'tablePrefix' },
      'a prefix with a dot': { options: { url: href, tablePrefix: 'x.y' }, says: 'tablePrefix' },
      'a prefix with a digit first': {
        options: { url: href, tablePrefix: '1' },
        says: 'tablePrefix',
      },
      'a prefix with a blank': { options: { url: href, tablePrefix: 'x y' }, says: 'tablePrefix' },
      'a prefix with a letter of elsewhere': {
        options: { url: href, tablePrefix: 'ß' },
        says: 'tablePrefix',
      },
      'a prefix of 41 characters': {
        options: { url: href, tablePrefix: 'x'.repeat(41) },
        says: 'tablePrefix',
      },
      'no time': { options: { url: href, timeoutMs: 0 }, says: 'timeoutMs' },
      'no connections': { options: { url: href, connectionsMax: 0 }, says: 'connectionsMax' },
    }
    for (const [what, { options, says }] of Object.entries(misuse)) {
      it(`with ${what} are refused at once, without a word of what was said`, () => {
        let thrown: unknown
        try {
          dialect.store(options as { url: string })
        } catch (error) {
          thrown = error
        }
        expect(thrown instanceof TypeError || thrown instanceof RangeError).toBe(true)
        expect((thrown as Error).message).toContain(says)
        expect((thrown as Error).message).not.toContain('secret-word')
      })
    }
  })

  describe('stopping', () => {
    it('ends the store for good, and leaves a pool of yours open', async () => {
      await withoutTables(async () => {
        const store = dialect.store({
          ...{ pool: database.pool, tablePrefix: prefix, onWarning: () => {} },
        })
        await store.start()
        await store.stop()
        const calls = [
          () => store.start(),
          () => store.schedules().get('a'),
          () => store.schedules().claimDue('a', 'o', 0, 1),
          () => store.leases().acquire('a', 'o', 1),
          () => store.purge(0),
        ]
        for (const call of calls) {
          await expect(call()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
        }
        expect(await database.run('SELECT 1 AS one')).toMatchObject([{ one: 1 }])
      })
    })

    it('of a store that never started does nothing', async () => {
      const store = open()
      await store.stop()
      await store.stop()
    })
  })

  it('the clock follows the server, whatever the local one says', async () => {
    await withoutTables(async () => {
      const slow = { now: () => 5, monotonic: () => 7, setTimer: () => NO_TIMER }
      const store = open({ clock: slow })
      expect(store.clock().now()).toBe(5)
      await store.start()
      const [row] = await database.run(
        dialect.server === 'postgres'
          ? 'SELECT extract(epoch FROM now()) AS now'
          : 'SELECT UNIX_TIMESTAMP() AS now',
      )
      const aheadMs = Number(row?.now) * 1000 - store.clock().now()
      expect(Math.abs(aheadMs)).toBeLessThan(60_000)
      expect(store.clock().offsetMs).toBeGreaterThan(1e12)
      await store.stop()
    })
  })
})

const NO_TIMER = { cancel: () => {}, unref: () => {} }

async function startAndStop(store: { start(): Promise<void>; stop(): Promise<void> }) {
  await store.start()
  await store.stop()
}
