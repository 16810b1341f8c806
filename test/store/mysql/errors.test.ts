// The errors of MySQL and MariaDB, one by one and at each statement of a transaction: what each
// means for the request, and what is done about it.

import { describe, expect, it, vi } from 'vitest'
import {
  type MysqlClient,
  type MysqlPool,
  type MysqlQuery,
  MysqlStore,
} from '../../../src/store/mysql/index.ts'

const SETTINGS = {
  version: '10.11.6-MariaDB',
  read_only: 'OFF',
  log_bin: 'OFF',
  sync_binlog: '0',
  innodb_flush_log_at_trx_commit: '1',
}

type Reply = readonly Record<string, unknown>[] | Error | undefined

/** A set up database; statements get `reply`'s answer, `undefined` for none of its business. */
function settled(
  reply: (sql: string) => Reply,
  settings: Record<string, string> = SETTINGS,
  shapes: () => Reply = () => SHAPES,
) {
  const asked: string[] = []
  const ends: string[] = []
  const answerTo = (sql: string): Reply => {
    if (sql.includes('SHOW VARIABLES')) {
      return Object.entries(settings).map(([Variable_name, Value]) => ({ Variable_name, Value }))
    }
    if (sql.includes('information_schema')) return shapes()
    if (sql.startsWith('SELECT * FROM `schedule_schema`')) return [{ version: 1, token_floor: 0 }]
    return reply(sql)
  }
  const client: MysqlClient = {
    async query({ sql }: MysqlQuery) {
      asked.push(sql.trim().replace(/\s+/g, ' '))
      const answer = answerTo(sql)
      if (answer instanceof Error) throw answer
      return [answer ?? [], undefined]
    },
    release: () => ends.push('released'),
    destroy: () => ends.push('destroyed'),
  }
  const pool: MysqlPool = { getConnection: async () => client }
  return { pool, asked, ends }
}

const SHAPES = Object.entries({
  schedule_schema: 'one tinyint NOT NULL PRI, version int NOT NULL, token_floor bigint NOT NULL',
  schedules:
    'id varbinary(1024) NOT NULL PRI, kind varbinary(8) NOT NULL, spec longblob NOT NULL, ' +
    'next_run_at bigint, lease_owner longblob, lease_until bigint, ' +
    'fencing_token bigint NOT NULL, last_run_at bigint, updated_at bigint NOT NULL, ' +
    'deleted_at bigint',
  schedule_leases:
    'name varbinary(1024) NOT NULL PRI, owner longblob, lease_until bigint NOT NULL, ' +
    'fencing_token bigint NOT NULL',
}).map(([table_name, shape]) => ({ table_name, shape }))

const refused = (errno: number) =>
  Object.assign(new Error(`refused with ${errno}`), {
    errno,
    code: `ER_${errno}`,
    sqlState: 'HY000',
  })
const lost = (code: string) => Object.assign(new Error(`lost: ${code}`), { code, fatal: true })

/** The row of a claim that is open under token 1. */
const OPEN = {
  ...{ id: Buffer.from('a'), kind: Buffer.from('every'), spec: Buffer.from('1') },
  ...{ next_run_at: 0, lease_owner: Buffer.from('o'), lease_until: 9, fencing_token: 1 },
  ...{ last_run_at: null, updated_at: 0, deleted_at: null },
}

/** The statements of a commit, in their order. */
const STEPS = ['SET SESSION', 'START TRANSACTION', 'SELECT', 'INSERT', 'COMMIT'] as const

/** A commit whose statement `step` fails with `errors` in turn. */
function committing(step: string, errors: Error[]) {
  const { pool, asked, ends } = settled((sql) => {
    const statement = sql.trim()
    if (statement.startsWith(step) && errors.length > 0) return errors.shift()
    return statement.startsWith('SELECT') ? [OPEN] : undefined
  })
  const store = new MysqlStore({ pool })
  const commit = () => store.schedules().complete('a', 1, { nextRunAt: 5 }, 0)
  return { commit, asked, ends }
}

describe('a commit whose statement fails', () => {
  it.each(STEPS)('at %s, with a connection that ended', async (step) => {
    const { commit, asked, ends } = committing(step, [lost('PROTOCOL_CONNECTION_LOST')])
    const isLast = step === 'COMMIT'
    await expect(commit()).rejects.toMatchObject({
      code: isLast ? 'STORE_OUTCOME_UNKNOWN' : 'STORE_UNAVAILABLE',
    })
    expect(asked.at(-1)).toContain(step)
    expect(ends.at(-1)).toBe('destroyed')
  })

  it.each(STEPS)('at %s, with an error of the server', async (step) => {
    const { commit, asked, ends } = committing(step, [refused(1105)])
    const isLast = step === 'COMMIT'
    await expect(commit()).rejects.toMatchObject({
      code: isLast ? 'STORE_OUTCOME_UNKNOWN' : 'STORE_UNAVAILABLE',
    })
    // What the server has undone by then differs from error to error: the rest is undone by name.
    const isInside = step === 'SELECT' || step === 'INSERT'
    expect(asked.at(-1)).toContain(isInside ? 'ROLLBACK' : step)
    expect(ends.at(-1)).toBe(isLast ? 'destroyed' : 'released')
  })

  const transient: [number, (typeof STEPS)[number]][] = [
    [1213, 'SELECT'],
    [1213, 'INSERT'],
    [1213, 'COMMIT'],
    [1020, 'SELECT'],
  ]
  it.each(transient)('with %i at %s is done again, from the start', async (errno, step) => {
    const { commit, asked } = committing(step, [refused(errno), refused(errno)])
    expect(await commit()).toBe(true)
    const heads = asked.filter((sql) => sql.startsWith('START'))
    expect(heads).toHaveLength(3)
    const tail = asked.slice(asked.lastIndexOf('START TRANSACTION'))
    expect(tail.map((sql) => sql.split(' ')[0])).toEqual(['START', 'SELECT', 'INSERT', 'COMMIT'])
  })

  it.each(['SELECT', 'INSERT'])(
    'with 1205 at %s is undone, and says what is in the way',
    async (step) => {
      const { commit, asked } = committing(step, [refused(1205)])
      await expect(commit()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/innodb_trx/),
        details: { isLocked: true },
      })
      expect(asked.slice(-2)).toEqual([expect.stringContaining(step), 'ROLLBACK'])
      expect(await commit()).toBe(true)
    },
  )

  const remedies: [number, string, RegExp][] = [
    [1142, 'STORE_UNAVAILABLE', /the user needs SELECT, INSERT, UPDATE and DELETE/],
    [1290, 'STORE_UNAVAILABLE', /the store needs the primary/],
    [1792, 'STORE_UNAVAILABLE', /the store needs the primary/],
    [1836, 'STORE_UNAVAILABLE', /the store needs the primary/],
    [1665, 'STORE_UNAVAILABLE', /set binlog_format to ROW or MIXED/],
    [1021, 'STORE_UNAVAILABLE', /make room on the disk/],
    [1114, 'STORE_UNAVAILABLE', /make room on the disk/],
    [1146, 'STORE_FOREIGN_SCHEMA', /a table was dropped/],
    [1054, 'STORE_FOREIGN_SCHEMA', /a table was changed/],
    [1136, 'STORE_FOREIGN_SCHEMA', /a table was changed/],
    [1366, 'STORE_FOREIGN_SCHEMA', /a table was changed/],
  ]
  it.each(remedies)('with %i is %s and says what to do', async (errno, code, says) => {
    const { commit } = committing('INSERT', [refused(errno)])
    await expect(commit()).rejects.toMatchObject({ code, message: expect.stringMatching(says) })
  })
})

describe('a connection that fails with', () => {
  const rows: [Error, RegExp][] = [
    [lost('ECONNREFUSED'), /is the server running there\?/],
    [lost('ENOTFOUND'), /is the name of the server right\?/],
    [refused(1044), /grant the user access/],
    [refused(1045), /check the user and the password/],
    [refused(1049), /create the database, or name another one/],
    [refused(1040), /raise max_connections, or lower connectionsMax/],
    [refused(1203), /raise max_user_connections/],
  ]
  it.each(rows)('%s changed nothing', async (failure, says) => {
    const pool: MysqlPool = { getConnection: () => Promise.reject(failure) }
    await expect(new MysqlStore({ pool }).start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(says),
    })
  })
})

describe('a server', () => {
  const refusals: [string, Record<string, string>, RegExp][] = [
    [
      'MariaDB 10.5',
      { version: '10.5.29-MariaDB' },
      /needs MariaDB 10.6 or MySQL 8.0.16, or newer/,
    ],
    ['MySQL 8.0.15', { version: '8.0.15' }, /needs MariaDB 10.6 or MySQL 8.0.16, or newer/],
    ['MySQL 5.7', { version: '5.7.44-log' }, /this server is 5.7.44-log/],
    ['a replica', { read_only: 'ON' }, /is a replica, .*: connect to the primary/],
  ]
  it.each(refusals)('that is %s is refused', async (_name, settings, says) => {
    const { pool } = settled(() => undefined, { ...SETTINGS, ...settings })
    await expect(new MysqlStore({ pool }).start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(says),
    })
  })

  const warnings: [string, Record<string, string>, RegExp | undefined][] = [
    ['MariaDB 10.6', { version: '10.6.0-MariaDB' }, undefined],
    ['MariaDB 11.4', { version: '11.4.2-MariaDB-ubu' }, undefined],
    ['MySQL 8.0.16', { version: '8.0.16' }, undefined],
    ['MySQL 9.1', { version: '9.1.0' }, undefined],
    ['lazy with its log', { innodb_flush_log_at_trx_commit: '2' }, /innodb_flush_log.* is not 1/],
    ['lazy with its binary log', { log_bin: 'ON' }, /sync_binlog is not 1/],
    ['a node of a cluster', { wsrep_on: 'ON' }, /Galera.*use one and the same node/],
  ]
  it.each(warnings)(
    'that is %s is taken, with the warning it needs',
    async (_name, settings, says) => {
      const heard: string[] = []
      const { pool } = settled(() => undefined, { ...SETTINGS, ...settings })
      const store = new MysqlStore({ pool, onWarning: (text) => heard.push(text) })
      expect(await store.schedules().list()).toEqual([])
      expect(heard).toEqual(says ? [expect.stringMatching(says)] : [])
    },
  )
})

it('tables that another replica finishes between two looks are ours', async () => {
  const looks = [SHAPES.slice(0, 1), SHAPES]
  const { pool } = settled(
    () => undefined,
    SETTINGS,
    () => looks.shift(),
  )
  expect(await new MysqlStore({ pool }).schedules().list()).toEqual([])
})

describe('the driver', () => {
  it('when it is missing is asked for in one sentence, at the start and not before', async () => {
    vi.doMock('mysql2/promise', () => {
      throw new Error('Cannot find package')
    })
    const store = new MysqlStore({ url: 'mysql://user:secret-word@h/d' })
    await expect(store.start()).rejects.toMatchObject({
      code: 'STORE_DRIVER_MISSING',
      message: expect.stringMatching(
        /^MysqlStore needs the driver mysql2, .*: run `npm install mysql2`\.$/,
      ),
    })
    vi.doUnmock('mysql2/promise')
  })
})
