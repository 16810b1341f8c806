// The SQLite store and its file: options, drivers, opening, whose tables these are.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import {
  SQLiteStore,
  type SQLiteStoreOptions,
  type SqliteClient,
  type SqliteDriver,
} from '../../src/store/sqlite/index.ts'
import { errorOf, sqliteStage, task } from './sqlite-stage.ts'

const { place, storeOn, database } = sqliteStage()

/** All files of the folder by content, so that a change to any of them shows. */
const fingerprint = () =>
  readdirSync(place.folder)
    .map(
      (name) => [name, createHash('sha1').update(readFileSync(join(place.folder, name)))] as const,
    )
    .map(([name, hash]) => `${name} ${hash.digest('hex')}`)

describe('options', () => {
  const client = {} as SqliteClient
  const refused: Record<string, [Record<string, unknown>, string]> = {
    'neither file nor client': [{}, 'give either a file or a client'],
    'both file and client': [{ file: 'x', client }, 'give either a file or a client'],
    'an empty file name': [{ file: '' }, 'file: must be a path, got ""'],
    'a file that is no string': [{ file: 7 }, 'file: must be a path, got 7'],
    'no time for a busy file': [{ file: 'x', busyBudgetMs: 0 }, 'busyBudgetMs: must be a positive'],
    'a prefix with a blank': [{ file: 'x', tablePrefix: 'a b' }, 'tablePrefix: "a b" must be'],
    'a prefix with a quote': [{ file: 'x', tablePrefix: 'a"' }, 'tablePrefix: "a\\"" must be'],
    'a prefix with a digit first': [{ file: 'x', tablePrefix: '1a' }, 'tablePrefix: "1a" must be'],
    'a prefix of 41 letters': [{ file: 'x', tablePrefix: 'a'.repeat(41) }, 'must be up to 40'],
    'the prefix of SQLite': [{ file: 'x', tablePrefix: 'SQLite_x' }, 'SQLite reserves sqlite_'],
    'an unknown driver': [{ file: 'x', driver: 'sqlite3' }, "driver: must be 'better-sqlite3' or"],
  }
  for (const [what, [options, message]] of Object.entries(refused)) {
    it(`refuse ${what}`, () => {
      expect(() => new SQLiteStore(options as SQLiteStoreOptions)).toThrow(message)
    })
  }

  it('open nothing before the first use', () => {
    storeOn()
    expect(readdirSync(place.folder)).toEqual([])
  })

  it('with different prefixes share a file and see nothing of each other', async () => {
    const [first, second] = [storeOn({ tablePrefix: 'a_' }), storeOn({ tablePrefix: 'b_' })]
    await first.schedules().register(task, 0)
    await first.leases().acquire('leader', 'me', 1000)
    expect(await second.schedules().list()).toEqual([])
    expect(await second.leases().acquire('leader', 'you', 1000)).not.toBeNull()
  })
})

describe('opening', () => {
  it('is done by the first call, whatever it is', async () => {
    expect(await storeOn().schedules().get('task')).toBeNull()
  })

  it('gives WAL and full synchronous writes', async () => {
    const client = database()
    await storeOn({ client }).start()
    expect(client.pragma('journal_mode', { simple: true })).toBe('wal')
    expect(client.pragma('synchronous', { simple: true })).toBe(2)
  })

  it('by a link to the file is opening the file', async () => {
    const link = join(place.folder, 'link.db')
    const direct = storeOn()
    await direct.schedules().register(task, 0)
    symlinkSync(place.file, link)
    const linked = storeOn({ file: link })
    const claims = await Promise.all(
      [direct, linked].map((store) => store.schedules().claimDue('task', 'me', 0, 10)),
    )
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
    expect(readdirSync(place.folder).some((name) => name.startsWith('link.db-'))).toBe(false)
  })

  describe('a file of several names is told of:', () => {
    const heard: string[] = []
    const open = async (file: string) => {
      heard.length = 0
      const store = storeOn({ file, onWarning: (text) => heard.push(text) })
      await store.start()
      await store.stop()
      return heard
    }

    it('hard links', async () => {
      expect(await open(place.file)).toEqual([])
      linkSync(place.file, join(place.folder, 'other.db'))
      expect(await open(place.file)).toEqual([
        expect.stringMatching(/test\.db: the file has 2 names \(hard links\), and a process/),
      ])
    })

    // To mount is root's, and not allowed everywhere.
    it('a mount of the file alone', async ({ skip }) => {
      const own = join(place.folder, 'own.db')
      const mounted = join(place.folder, 'a mount.db')
      for (const file of [own, mounted]) writeFileSync(file, '')
      const { status } = spawnSync('mount', ['--bind', own, mounted])
      if (status !== 0) skip('mount is not allowed here')
      try {
        expect(await open(own)).toEqual([])
        expect(await open(mounted)).toEqual([
          expect.stringMatching(/a mount\.db: the file is mounted by itself: mount its folder/),
        ])
      } finally {
        spawnSync('umount', [mounted])
      }
    })
  })

  it('is safe from many connections at once', async () => {
    const stores = Array.from({ length: 8 }, () => storeOn())
    await Promise.all(stores.map((store) => store.start()))
    await Promise.all(stores.map((store) => store.schedules().register(task, 0)))
    expect(await stores[3]?.schedules().list()).toHaveLength(1)
  })

  const broken: Record<string, [() => Partial<SQLiteStoreOptions>, string, RegExp]> = {
    'in a missing folder': [
      () => ({ file: join(place.folder, 'missing', 'test.db') }),
      'STORE_UNAVAILABLE',
      /^Cannot open the SQLite file .*missing.test\.db: .*its folder must exist/,
    ],
    'that is a folder': [
      () => ({ file: place.folder }),
      'STORE_UNAVAILABLE',
      /^Cannot open the SQLite file .*it must be a file that this process may read and write/,
    ],
    'that is no database': [
      () => {
        writeFileSync(place.file, 'This is a text, and long enough to be one. '.repeat(50))
        return {}
      },
      'STORE_FOREIGN_SCHEMA',
      /not a database; the file is not an SQLite database, it was left as it is$/,
    ],
    'that cannot be written': [
      () => {
        new Database(place.file).exec('PRAGMA user_version = 7').close()
        return { client: database({ readonly: true }) }
      },
      'STORE_UNAVAILABLE',
      /readonly database; the file and its folder must be writable by this process$/,
    ],
    'that is only memory': [
      () => ({ file: ':memory:' }),
      'STORE_UNAVAILABLE',
      /^SQLite refused WAL and stayed in journal mode "memory": .*MemoryScheduleStore/,
    ],
  }
  for (const [what, [options, code, text]] of Object.entries(broken)) {
    it(`a file ${what} is a clear error, and leaves it alone`, async () => {
      const given = options()
      const before = 'file' in given ? [] : fingerprint()
      const error = await errorOf(storeOn(given).start())
      expect(error.code).toBe(code)
      expect(error.message).toMatch(text)
      expect(fingerprint()).toEqual(before)
    })
  }

  it('works later, when the reason of a failure is gone', async () => {
    const file = join(place.folder, 'later', 'test.db')
    const store = storeOn({ file })
    await errorOf(store.start())
    mkdirSync(join(place.folder, 'later'))
    await store.start()
    expect(await store.schedules().list()).toEqual([])
  })

  it('names the missing driver in one sentence', async () => {
    const driver = 'no-such-driver' as SqliteDriver
    const { openFile } = await import('../../src/store/sqlite/sqlite-client.ts')
    const error = await errorOf(openFile(place.file, driver))
    expect(error.code).toBe('STORE_DRIVER_MISSING')
    expect(error.message).toBe(
      'SQLiteStore needs a driver and no-such-driver could not be loaded: run ' +
        '`npm install better-sqlite3`, or use a Node that has node:sqlite (22.13 or newer).',
    )
  })
})

describe('stopping', () => {
  it('closes the file and refuses every later call', async () => {
    const store = storeOn()
    await store.start()
    await store.stop()
    await store.stop()
    expect(readdirSync(place.folder)).toEqual(['test.db'])
    const calls = [store.start(), store.schedules().list(), store.leases().release('a', 1)]
    for (const call of [...calls, store.purge(0)]) {
      expect((await errorOf(call)).code).toBe('STORE_CLOSED')
    }
  })

  it('leaves a client of your own open', async () => {
    const client = database()
    const store = storeOn({ client })
    await store.schedules().register(task, 0)
    await store.stop()
    expect(client.prepare('SELECT count(*) AS n FROM schedules').get()).toEqual({ n: 1 })
  })

  it('ends calls that wait for a busy file', async () => {
    const store = storeOn()
    await store.start()
    database().exec('BEGIN IMMEDIATE')
    const call = errorOf(store.schedules().register(task, 0))
    await pause(1)
    await store.stop()
    expect((await call).code).toBe('STORE_CLOSED')
  })
})

describe('tables', () => {
  const TABLES = ['schedules', 'schedule_fences', 'schedule_leases', 'schedule_schema']
  for (const table of TABLES) {
    for (const name of [table, table.toUpperCase()]) {
      it(`of somebody else called ${name} are not touched`, async () => {
        const sql = `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, title TEXT)`
        new Database(place.file).exec(`${sql}; INSERT INTO ${name} VALUES (1, 'theirs')`).close()
        const before = fingerprint()
        const error = await errorOf(storeOn().start())
        expect([error.code, error.details.table]).toEqual(['STORE_FOREIGN_SCHEMA', table])
        expect(error.message).toContain('Choose another tablePrefix or another file.')
        expect(fingerprint()).toEqual(before)
      })
    }
  }

  it('of somebody else that are views are not touched', async () => {
    new Database(place.file).exec('CREATE VIEW schedules AS SELECT 1 AS id').close()
    expect((await errorOf(storeOn().start())).code).toBe('STORE_FOREIGN_SCHEMA')
  })

  it('of an application live beside ours', async () => {
    new Database(place.file).exec('CREATE TABLE orders (id); CREATE TABLE users (id)').close()
    await storeOn().schedules().register(task, 0)
  })

  const changes: Record<string, [sql: string, code: string]> = {
    'with a column more': ['ALTER TABLE schedules ADD COLUMN note TEXT', 'STORE_FOREIGN_SCHEMA'],
    'with a column renamed': [
      'ALTER TABLE schedules RENAME COLUMN spec TO cron',
      'STORE_FOREIGN_SCHEMA',
    ],
    'of which one is gone': ['DROP TABLE schedule_fences', 'STORE_FOREIGN_SCHEMA'],
    'from a newer release': ['UPDATE schedule_schema SET version = 999', 'STORE_NEWER_SCHEMA'],
    'without a version': ['DELETE FROM schedule_schema', 'STORE_DAMAGED_RECORD'],
    'with two versions': ['INSERT INTO schedule_schema VALUES (1, 0)', 'STORE_DAMAGED_RECORD'],
    'of a negative version': ['UPDATE schedule_schema SET version = -1', 'STORE_DAMAGED_RECORD'],
    'of version 2^53': [
      'UPDATE schedule_schema SET version = 9007199254740992',
      'STORE_DAMAGED_RECORD',
    ],
  }
  for (const [what, [sql, code]] of Object.entries(changes)) {
    it(`${what} are refused and left as they are`, async () => {
      const store = storeOn()
      await store.schedules().register(task, 0)
      await store.stop()
      new Database(place.file).exec(sql).close()
      const before = fingerprint()
      const error = await errorOf(storeOn().start())
      expect(error.code).toBe(code)
      expect(error.message).toContain('Nothing was changed')
      expect(fingerprint().filter((line) => line.startsWith('test.db '))).toEqual(before)
    })
  }

  it('of version 0 are migrated', async () => {
    new Database(place.file)
      .exec('CREATE TABLE schedule_schema (version INTEGER NOT NULL, token_floor INTEGER NOT NULL)')
      .exec('INSERT INTO schedule_schema VALUES (0, 41)')
      .close()
    const record = await storeOn().schedules().register(task, 0)
    expect(record.fencingToken).toBe(41)
    expect(database().prepare('SELECT version FROM schedule_schema').get()).toEqual({ version: 1 })
  })
})
