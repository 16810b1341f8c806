// PostgreSQL's codes, one by one: what each means for the request, and what is done about it.

import { describe, expect, it, vi } from 'vitest'
import {
  type PostgresClient,
  type PostgresPool,
  type PostgresQuery,
  PostgresStore,
} from '../../../src/store/postgres/index.ts'

const EVERY = { id: 'a', kind: 'every', spec: '1', nextRunAt: 0 } as const
const SETTINGS = { is_standby: false, encoding: 'UTF8', fsync: 'on' }

type Reply = readonly Record<string, unknown>[] | Error

/** A pool whose one connection answers by `reply`, and what was asked of it. */
function scripted(reply: (text: string, count: number) => Reply) {
  const asked: PostgresQuery[] = []
  const released: (boolean | undefined)[] = []
  const client: PostgresClient = {
    async query(query) {
      asked.push(query)
      const answer = reply(query.text, asked.length)
      if (answer instanceof Error) throw answer
      return { rows: answer }
    },
    release: (destroy) => released.push(destroy),
  }
  const pool: PostgresPool = { connect: async () => client }
  return { pool, asked, released }
}

/** A database that is set up, and whose statements on schedules answer `replies` in turn. */
function settled(replies: Reply[], settings: Record<string, unknown> = SETTINGS) {
  return scripted((text) => {
    if (text.includes('pg_is_in_recovery')) return [settings]
    if (text.includes('to_regclass')) return SHAPES
    if (text.includes('schedule_schema"') && text.startsWith('SELECT')) {
      return [{ version: 1, token_floor: '0' }]
    }
    return replies.shift() ?? []
  })
}

const SHAPES = [
  { name: 'schedule_schema', shape: 'version integer NOT NULL, token_floor bigint NOT NULL' },
  {
    name: 'schedules',
    shape:
      'id text "C" NOT NULL, kind text NOT NULL, spec text NOT NULL, next_run_at bigint, ' +
      'lease_owner text, lease_until bigint, fencing_token bigint NOT NULL, ' +
      'last_run_at bigint, updated_at bigint NOT NULL, deleted_at bigint',
  },
  {
    name: 'schedule_leases',
    shape:
      'name text "C" NOT NULL, owner text, lease_until bigint NOT NULL, ' +
      'fencing_token bigint NOT NULL',
  },
]

const failed = (code: string, severity?: string) =>
  Object.assign(new Error(`failed with ${code}`), { code, ...(severity ? { severity } : {}) })

describe('a write that fails with', () => {
  const rows: [string, string | undefined, string, RegExp?][] = [
    // SQLSTATE, severity: the code of the error, and a remedy where there is one.
    ['57014', 'ERROR', 'STORE_UNAVAILABLE', /statement_timeout ended it/],
    ['55P03', 'ERROR', 'STORE_UNAVAILABLE', /keeps a row or the table locked/],
    ['25006', 'ERROR', 'STORE_UNAVAILABLE', /the store needs the primary/],
    ['42501', 'ERROR', 'STORE_UNAVAILABLE', /the role needs SELECT, INSERT, UPDATE and DELETE/],
    ['53100', 'ERROR', 'STORE_UNAVAILABLE', /more connections, memory or disk/],
    ['53200', 'ERROR', 'STORE_UNAVAILABLE', /more connections, memory or disk/],
    ['23514', 'ERROR', 'STORE_UNAVAILABLE'],
    ['XX000', 'ERROR', 'STORE_UNAVAILABLE'],
    ['42P01', 'ERROR', 'STORE_FOREIGN_SCHEMA', /a table was dropped/],
    ['42703', 'ERROR', 'STORE_FOREIGN_SCHEMA', /a table was changed/],
    ['57P01', 'FATAL', 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['57P02', 'FATAL', 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['08P01', 'FATAL', 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['XX000', 'PANIC', 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['ECONNRESET', undefined, 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['EPIPE', undefined, 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
  ]
  it.each(rows)('%s (%s) is %s, and is not sent again', async (code, severity, expected, says) => {
    const { pool, asked, released } = settled([failed(code, severity)])
    const store = new PostgresStore({ pool })
    const error = await store
      .schedules()
      .register(EVERY, 0)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: expected, details: { driverCode: code } })
    if (says) expect((error as Error).message).toMatch(says)
    expect(asked.filter(({ text }) => text.includes('INSERT'))).toHaveLength(1)
    // A connection out of step is closed; one that only heard an error is used again.
    expect(released.at(-1)).toBe(severity !== 'ERROR')
  })

  it.each([
    ['40001', 'ERROR'],
    ['40P01', 'ERROR'],
    ['40001', 'FEHLER'],
  ])('%s (%s) is sent again, for the server undid it', async (code, severity) => {
    const again = failed(code, severity)
    const row = { ...EVERY, next_run_at: '0', fencing_token: '0', updated_at: '0' }
    const stored = { ...row, lease_owner: null, lease_until: null, last_run_at: null }
    const { pool, asked } = settled([again, again, [stored]])
    const store = new PostgresStore({ pool })
    expect(await store.schedules().register(EVERY, 0)).toMatchObject({ id: 'a', fencingToken: 0 })
    const sent = asked.filter(({ text }) => text.includes('INSERT'))
    expect(sent).toHaveLength(3)
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1)
  })

  it('40001 for ever is given up when the time is up', async () => {
    const pool = settled(new Array<Error>(1000).fill(failed('40001', 'ERROR'))).pool
    const store = new PostgresStore({ pool, timeoutMs: 50 })
    await expect(store.schedules().register(EVERY, 0)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      details: { driverCode: '40001' },
    })
  })
})

describe('a connection that fails with', () => {
  const rows: [string, RegExp][] = [
    ['ECONNREFUSED', /is the server running there\?/],
    ['ENOTFOUND', /is the name of the server right\?/],
    ['28P01', /check the user, the password and pg_hba.conf/],
    ['28000', /check the user, the password and pg_hba.conf/],
    ['3D000', /create the database, or name another one/],
    ['53300', /more connections/],
    ['57P03', /failed with 57P03/],
  ]
  it.each(rows)('%s changed nothing', async (code, says) => {
    const pool: PostgresPool = { connect: () => Promise.reject(failed(code, 'FATAL')) }
    const error = await new PostgresStore({ pool })
      .schedules()
      .claimDue('a', 'o', 0, 1)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect((error as Error).message).toMatch(says)
  })
})

describe('a server', () => {
  it('that is a standby is refused', async () => {
    const { pool } = settled([], { ...SETTINGS, is_standby: true })
    await expect(new PostgresStore({ pool }).start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/is a standby.*connect to the primary/),
    })
  })

  it('whose database cannot hold every id is refused', async () => {
    const { pool } = settled([], { ...SETTINGS, encoding: 'LATIN1' })
    await expect(new PostgresStore({ pool }).start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/encoding LATIN1.*use a database with the encoding UTF8/),
    })
  })

  it.each(['fsync', 'full_page_writes', 'synchronous_commit'])(
    'without %s is warned of',
    async (name) => {
      const warnings: string[] = []
      const { pool } = settled([], { ...SETTINGS, [name]: 'off' })
      const store = new PostgresStore({ pool, onWarning: (text) => warnings.push(text) })
      await store.schedules().list()
      expect(warnings).toEqual([expect.stringContaining(`${name} is off on this server`)])
    },
  )

  it('is never asked to remember a statement or a setting', async () => {
    const { pool, asked } = settled([])
    const schedules = new PostgresStore({ pool }).schedules()
    await schedules.claimDueMany(['a', 'b'], 'o', 0, 1)
    await schedules.renew('a', 1, 1)
    await schedules.complete('a', 1, { nextRunAt: null }, 0)
    for (const query of asked) {
      expect(Object.keys(query).sort()).toEqual(['text', 'values'])
      expect(query.text).not.toMatch(/^\s*(SET|LISTEN|PREPARE|DECLARE)\b|pg_advisory_lock/i)
    }
  })
})

describe('the driver', () => {
  it('when it is missing is asked for in one sentence, at the start and not before', async () => {
    vi.doMock('pg', () => {
      throw new Error('Cannot find package')
    })
    const store = new PostgresStore({ url: 'postgres://user:secret-word@h/d' })
    await expect(store.start()).rejects.toMatchObject({
      code: 'STORE_DRIVER_MISSING',
      message: expect.stringMatching(
        /^PostgresStore needs the driver pg, .*: run `npm install pg`\.$/,
      ),
    })
    vi.doUnmock('pg')
  })
})
