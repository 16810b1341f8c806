// Transactions of the SQLite store: when they begin, what they wait for, and how they fail.

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { errorOf, sqliteStage, task } from './sqlite-stage.ts'

const { storeOn, database } = sqliteStage()

describe('a transaction', () => {
  it('that may write has the lock before it reads, so nothing it read can be old', async () => {
    const client = database()
    const begun: string[] = []
    const store = storeOn({
      client: {
        prepare: (sql) => client.prepare(sql),
        exec(sql) {
          if (sql.startsWith('BEGIN')) begun.push(sql)
          return client.exec(sql)
        },
      },
    })
    await store.start()
    const schedules = store.schedules()
    const leases = store.leases()
    const writes: Record<string, () => Promise<unknown>> = {
      register: () => schedules.register(task, 0),
      claimDue: () => schedules.claimDue('task', 'me', 0, 10),
      renew: () => schedules.renew('task', 1, 20),
      complete: () => schedules.complete('task', 1, { nextRunAt: 5 }, 0),
      delete: () => schedules.delete('task'),
      purge: () => store.purge(0),
      acquire: () => leases.acquire('leader', 'me', 10),
      'renew a lease': () => leases.renew('leader', 1, 10),
      release: () => leases.release('leader', 1),
    }
    for (const [name, write] of Object.entries(writes)) {
      begun.length = 0
      await write()
      // A claim looks first whether there is anything to claim.
      const looks = name === 'claimDue' ? ['BEGIN DEFERRED'] : []
      expect(begun, name).toEqual([...looks, 'BEGIN IMMEDIATE'])
    }
  })
})

describe('a busy file', () => {
  it('is waited for while the event loop turns', async () => {
    const store = storeOn()
    await store.start()
    const other = database()
    other.exec('BEGIN IMMEDIATE')
    const call = store.schedules().register(task, 0)
    for (let turns = 0; turns < 5; turns++) await pause(10)
    other.exec('COMMIT') // Only a turning loop gets here; a blocked one would run out of time.
    expect((await call).id).toBe('task')
  })

  it('that stays busy is an error after the time given, and nothing is changed', async () => {
    const store = storeOn({ busyBudgetMs: 30 })
    await store.start()
    const other = database()
    other.exec('BEGIN IMMEDIATE')
    const error = await errorOf(store.schedules().register(task, 0))
    expect(error.code).toBe('STORE_UNAVAILABLE')
    expect(error.message).toContain('busy for 30 ms (busyBudgetMs)')
    other.exec('COMMIT')
    expect(await store.schedules().list()).toEqual([])
  })

  it('can be read all the while', async () => {
    const store = storeOn()
    await store.schedules().register(task, 0)
    database().exec('BEGIN IMMEDIATE; DELETE FROM schedules')
    expect(await store.schedules().get('task')).not.toBeNull()
    expect(await store.schedules().list()).toHaveLength(1)
  })
})

describe('a failure', () => {
  it('of a full disk is an error, and nothing is changed', async () => {
    const client = database()
    const store = storeOn({ client })
    await store.start()
    client.pragma(`max_page_count = ${client.pragma('page_count', { simple: true })}`)
    const error = await errorOf(store.schedules().register({ ...task, spec: 'x'.repeat(1e6) }, 0))
    expect([error.code, error.details.sqlite]).toEqual(['STORE_UNAVAILABLE', 'FULL'])
    expect(await store.schedules().list()).toEqual([])
    expect(client.inTransaction).toBe(false)
  })

  it('in the commit has an unknown outcome', async () => {
    const client = database()
    const store = storeOn({
      client: {
        prepare: (sql) => client.prepare(sql),
        exec(sql) {
          if (sql === 'COMMIT' && fails) throw Object.assign(new Error(), { code: 'SQLITE_IOERR' })
          return client.exec(sql)
        },
      },
    })
    let fails = false
    await store.start()
    fails = true
    expect((await errorOf(store.schedules().register(task, 0))).code).toBe('STORE_OUTCOME_UNKNOWN')
    fails = false
    expect(await store.schedules().list()).toEqual([])
  })

  it('to begin leaves a transaction of yours alone', async () => {
    const client = database()
    const store = storeOn({ client })
    await store.start()
    client.exec('CREATE TABLE mine (x); BEGIN; INSERT INTO mine VALUES (1)')
    const error = await errorOf(store.schedules().register(task, 0))
    expect(error.message).toContain('within a transaction')
    client.exec('COMMIT')
    expect(client.prepare('SELECT count(*) AS n FROM mine').get()).toEqual({ n: 1 })
  })

  it('of a wrong argument changes nothing, in a batch either', async () => {
    const store = storeOn().schedules()
    const batch = [task, { ...task, id: '' }]
    await expect(store.registerMany(batch, 0)).rejects.toThrow(TypeError)
    expect(await store.list()).toEqual([])
  })
})
