// Rows that somebody damaged: told of by table, id and remedy; never claimed, never overwritten;
// and no reason for the others to wait.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CronfenceError } from '../../../src/errors.ts'
import { Scheduler, type StoreErrorEvent } from '../../../src/index.ts'
import type { ServerStore } from '../../../src/store/server-store.ts'
import { VirtualClock } from '../../../src/testing/index.ts'
import { serverUrl } from '../../support/server-url.ts'
import {
  type Dialect,
  dropTables,
  emptyTables,
  mariadb,
  postgres,
  type TestDatabase,
} from './dialect.ts'

const PREFIX = 'damage_'
const TABLE = `${PREFIX}schedules`

/** What is done to a row that is due and free, and what is said of it. */
const DAMAGES: Record<string, { sets: string; says: string }> = {
  'no token': { sets: 'fencing_token = NULL', says: 'fencing_token must be from 0 to 2^53 - 1' },
  'a negative token': { sets: 'fencing_token = -1', says: 'fencing_token must be from 0' },
  'a token of 2^53': {
    sets: 'fencing_token = 9007199254740992',
    says: 'fencing_token must be from 0 to 2^53 - 1',
  },
  'a token beyond 2^53': {
    sets: 'fencing_token = 9007199254740993',
    says: 'fencing_token must be from 0 to 2^53 - 1',
  },
  'a slot beyond 2^53': {
    sets: 'next_run_at = -9007199254740993',
    says: 'next_run_at must be an integer within',
  },
  'a last slot beyond 2^53': {
    sets: 'last_run_at = 9007199254740993',
    says: 'last_run_at must be an integer within',
  },
  'no time of change': { sets: 'updated_at = NULL', says: 'updated_at must be an integer' },
  'a kind of its own': { sets: "kind = 'daily'", says: 'kind must be one of cron, every, delay' },
  'no kind': { sets: 'kind = NULL', says: 'kind must be one of cron, every, delay' },
  'no spec': { sets: 'spec = NULL', says: 'spec must be text, found "null"' },
  'an empty spec': { sets: "spec = ''", says: 'spec must be text, found ""' },
  'an owner without a deadline': {
    sets: "lease_owner = 'o'",
    says: 'lease_owner and lease_until: one is set and the other is not',
  },
  'a deadline without an owner': {
    sets: 'lease_until = 0',
    says: 'lease_owner and lease_until: one is set and the other is not',
  },
}

const SILENT = { info: () => {}, warn: () => {}, error: () => {} }
const schedule = (id: string) => ({ id, kind: 'every', spec: '1', nextRunAt: 0 }) as const

describe.each([postgres, mariadb])('$name', (dialect) => {
  let database: TestDatabase
  let store: ServerStore
  let heard: CronfenceError[] = []
  beforeAll(async () => {
    database = dialect.open(await serverUrl(dialect.server))
    await dropTables(database, PREFIX)
    store = dialect.store({
      ...{ pool: database.pool, tablePrefix: PREFIX, onWarning: () => {} },
      onDamaged: (error) => heard.push(error),
    })
    await store.start()
    await dropConstraints(dialect, database)
  }, 300_000)
  afterAll(async () => {
    await dropTables(database, PREFIX)
    await database.end()
  })
  beforeEach(async () => {
    await emptyTables(database, PREFIX)
    heard = []
  })

  describe.each(Object.entries(DAMAGES))('a row with %s', (name, { sets, says }) => {
    // A row is told of once, so each has an id of its own.
    const bad = `bad: ${name}`
    beforeEach(async () => {
      for (const id of [bad, 'good']) await store.schedules().register(schedule(id), 0)
      await database.run(`UPDATE ${TABLE} SET ${sets} WHERE id = ?`, [bad])
    })

    it('is told of by every call for it, and left as it is', async () => {
      const rows = await database.run(`SELECT * FROM ${TABLE} ORDER BY id`)
      const schedules = store.schedules()
      const changed = { ...schedule(bad), spec: '2' }
      const calls: Record<string, () => Promise<unknown>> = {
        get: () => schedules.get(bad),
        register: () => schedules.register(changed, 0),
        registerMany: () => schedules.registerMany([changed], 0),
        claimDue: () => schedules.claimDue(bad, 'owner', 0, 10),
        delete: () => schedules.delete(bad),
      }
      // A statement has nothing to say of a row that it has no reason to touch.
      if (/slot/.test(name) && !/last/.test(name)) delete calls.claimDue
      if (/deadline without/.test(name)) calls.renew = () => schedules.renew(bad, 0, 5)
      for (const [method, call] of Object.entries(calls)) {
        const error = await call().catch((thrown: unknown) => thrown)
        expect(error, method).toMatchObject({ code: 'STORE_DAMAGED_RECORD' })
        const { message, details } = error as CronfenceError
        expect(message).toContain(`Table ${TABLE}, id "${bad}": ${says}`)
        expect(message).toMatch(
          /repair it, or remove it, token and all, with: DELETE FROM damage_schedules WHERE/,
        )
        expect(details).toEqual({ table: TABLE, id: bad })
      }
      expect(await database.run(`SELECT * FROM ${TABLE} ORDER BY id`)).toEqual(rows)
    })

    it('does not stop the others, and is reported once', async () => {
      const schedules = store.schedules()
      expect((await schedules.list()).map(({ id }) => id)).toEqual(['good'])
      // Of a row that is there, null would be a lie.
      await expect(schedules.getMany([bad, 'good', 'absent'])).rejects.toMatchObject({
        code: 'STORE_DAMAGED_RECORD',
        answers: [{ code: 'STORE_DAMAGED_RECORD' }, { id: 'good' }, null],
      })
      const claims = await schedules.claimDueMany([bad, 'good'], 'owner', 0, 10)
      expect(claims.map((claim) => claim?.fencingToken)).toEqual([undefined, 1])
      expect(await schedules.renewMany([{ id: 'good', fencingToken: 1, leaseUntil: 9 }])).toEqual([
        true,
      ])
      const patch = { nextRunAt: 5 }
      const completions = [bad, 'good'].map((id) => ({ id, fencingToken: 1, patch }))
      expect(await schedules.completeMany(completions, 0)).toEqual([false, true])
      await schedules.list()
      expect(heard).toHaveLength(1)
    })
  })

  it('the remedy that is told removes the row', async () => {
    for (const id of ["it's bad", 'good']) await store.schedules().register(schedule(id), 0)
    await database.run(`UPDATE ${TABLE} SET spec = '' WHERE id = ?`, ["it's bad"])
    const get = () => store.schedules().get("it's bad")
    const error = (await get().catch((thrown: unknown) => thrown)) as Error
    await database.run(error.message.slice(error.message.indexOf('DELETE FROM')))
    expect(await get()).toBeNull()
    expect(await store.schedules().list()).toHaveLength(1)
  })

  it('a task whose row is damaged is not ended by it, and runs once it is mended', async () => {
    const clock = new VirtualClock('2026-01-01')
    const runs: number[] = []
    const problems: StoreErrorEvent[] = []
    const scheduler = new Scheduler({ store: store.schedules(), clock, logger: SILENT })
    scheduler.on('store-error', (event) => problems.push(event))
    scheduler.every('1m', { id: 'bad' }, ({ fencingToken }) => void runs.push(fencingToken))
    await scheduler.start()
    await database.run(`UPDATE ${TABLE} SET spec = '' WHERE id = 'bad'`)
    /** Lets time pass, and the server answer, until `condition` holds. */
    const passUntil = (condition: () => boolean) =>
      vi.waitFor(
        async () => {
          await clock.advance(1000)
          expect(condition()).toBe(true)
        },
        { timeout: 30_000, interval: 1 },
      )
    const readErrors = () => problems.filter(({ operation }) => operation === 'read').length
    await passUntil(() => readErrors() >= 3)
    expect(problems[0]?.error).toMatchObject({ code: 'STORE_DAMAGED_RECORD' })
    expect(runs).toEqual([])
    await database.run(`UPDATE ${TABLE} SET spec = '60000' WHERE id = 'bad'`)
    await passUntil(() => runs.length >= 2)
    await scheduler.stop()
  })

  it('a lease without a token is told of', async () => {
    const leases = store.leases()
    await leases.acquire('leader', 'first', 1)
    await database.run(`UPDATE ${PREFIX}schedule_leases SET fencing_token = NULL`)
    await expect(leases.acquire('leader', 'first', 1)).rejects.toMatchObject({
      code: 'STORE_DAMAGED_RECORD',
      message: expect.stringMatching(/^Table damage_schedule_leases, name "leader": fencing_token/),
    })
  })
})

/** Takes away what keeps rows sound, as a restored backup may have lost it. */
async function dropConstraints(dialect: Dialect, database: TestDatabase): Promise<void> {
  const tables = [TABLE, `${PREFIX}schedule_leases`]
  if (dialect.server === 'postgres') {
    for (const table of tables) {
      const checks = await database.run(
        `SELECT conname FROM pg_constraint WHERE conrelid = '${table}'::regclass AND contype = 'c'`,
      )
      for (const { conname } of checks) {
        await database.run(`ALTER TABLE ${table} DROP CONSTRAINT "${conname}"`)
      }
      await database.run(`ALTER TABLE ${table} ALTER fencing_token DROP NOT NULL`)
    }
    for (const column of ['kind', 'spec', 'updated_at']) {
      await database.run(`ALTER TABLE ${TABLE} ALTER ${column} DROP NOT NULL`)
    }
    return
  }
  await database.run(`ALTER TABLE ${TABLE} MODIFY kind VARBINARY(8), MODIFY spec LONGBLOB,
    MODIFY updated_at BIGINT, MODIFY fencing_token BIGINT, DROP CONSTRAINT CONSTRAINT_1`)
  await database.run(`ALTER TABLE ${PREFIX}schedule_leases MODIFY fencing_token BIGINT`)
}
