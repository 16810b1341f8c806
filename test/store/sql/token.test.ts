// Tokens under crowds, deletions and purges: one winner a round, and never back.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServerStore } from '../../../src/store/server-store.ts'
import { serverUrl } from '../../support/server-url.ts'
import { dropTables, emptyTables, mariadb, postgres, type TestDatabase } from './dialect.ts'

const PREFIX = 'token_'
const schedule = (id: string) => ({ id, kind: 'every', spec: '1', nextRunAt: 0 }) as const

describe.each([postgres, mariadb])('$name', (dialect) => {
  let database: TestDatabase
  let stores: ServerStore[] = []
  const store = () => stores[0] as ServerStore

  beforeAll(async () => {
    const url = await serverUrl(dialect.server)
    database = dialect.open(url)
    await dropTables(database, PREFIX)
    const options = { url, tablePrefix: PREFIX, onWarning: () => {} }
    stores = Array.from({ length: 4 }, () => dialect.store(options))
    for (const each of stores) await each.start()
  }, 300_000)
  afterAll(async () => {
    for (const each of stores) await each.stop()
    await dropTables(database, PREFIX)
    await database.end()
  })
  beforeEach(() => emptyTables(database, PREFIX))

  it('each of a hundred rounds of thirty-two contenders has one winner', async () => {
    await store().schedules().register(schedule('a'), 0)
    for (let round = 1; round <= 100; round++) {
      const contenders = Array.from({ length: 32 }, (_, index) =>
        stores[index % 4]?.schedules().claimDue('a', `owner ${index}`, round, 1),
      )
      const winners = (await Promise.all(contenders)).filter((claim) => claim !== null)
      expect(winners.map((claim) => claim?.fencingToken)).toEqual([round])
    }
  })

  it('batches of many clients in different orders leave no deadlock behind', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `task ${index}`)
    const shuffled = (turn: number) => ids.map((_, index) => ids[(index * 7 + turn) % 60] as string)
    for (let round = 1; round <= 10; round++) {
      const now = round * 10
      await Promise.all(
        stores.map((each, turn) =>
          each.schedules().registerMany(
            shuffled(turn).map((id) => ({ ...schedule(id), spec: `${round} ${turn % 2}` })),
            now,
          ),
        ),
      )
      const claims = await Promise.all(
        stores.map((each, turn) =>
          each.schedules().claimDueMany(shuffled(turn), `owner ${turn}`, now, 5),
        ),
      )
      const won = claims.flat().filter((claim) => claim !== null)
      expect(new Set(won.map((claim) => claim.record.id)).size).toBe(won.length)
      const completions = won.map(({ record, fencingToken }) => {
        return { id: record.id, fencingToken, patch: { nextRunAt: 0 } }
      })
      const results = await Promise.all(
        stores.map((each) => each.schedules().completeMany([...completions].reverse(), now)),
      )
      const commits = results.flat().filter(Boolean)
      expect(commits).toHaveLength(won.length)
    }
  })

  it('a renewal to the same deadline is a renewal', async () => {
    await store().schedules().register(schedule('a'), 0)
    await store().schedules().claimDue('a', 'owner', 0, 10)
    for (let again = 0; again < 3; again++) {
      expect(await store().schedules().renew('a', 1, 10)).toBe(true)
    }
  })

  it('a delayed delete of an older claim deletes nothing', async () => {
    const schedules = store().schedules()
    await schedules.register(schedule('a'), 0)
    await schedules.claimDue('a', 'owner', 0, 1)
    await schedules.claimDue('a', 'owner', 5, 1)
    await schedules.delete('a', 1)
    expect(await schedules.get('a')).toMatchObject({ fencingToken: 2 })
    await schedules.delete('a', 2)
    expect(await schedules.get('a')).toBeNull()
  })

  describe('a purge', () => {
    const tombstone = async (id: string) => {
      const schedules = store().schedules()
      await schedules.register(schedule(id), 0)
      const claim = await schedules.claimDue(id, 'owner', 0, 1)
      await schedules.delete(id)
      return claim?.fencingToken ?? 0
    }

    it('removes tombstones older than the instant, and live rows never', async () => {
      await tombstone('a')
      await store().schedules().register(schedule('b'), 0)
      expect(await store().purge(0)).toBe(0)
      expect(await store().purge(new Date(store().clock().now() + 60_000))).toBe(1)
      expect(await store().schedules().list()).toHaveLength(1)
      expect(await database.run(`SELECT id FROM ${PREFIX}schedules`)).toHaveLength(1)
    })

    it('makes no token of any id go back', async () => {
      for (let token = 1; token <= 5; token++) {
        const schedules = store().schedules()
        await schedules.register(schedule('a'), 0)
        expect((await schedules.claimDue('a', 'owner', 10 * token, 1))?.fencingToken).toBe(token)
      }
      await store().schedules().delete('a')
      expect(await store().purge(9e15)).toBe(1)
      expect((await store().schedules().register(schedule('a'), 0)).fencingToken).toBe(5)
      expect((await store().schedules().register(schedule('new'), 0)).fencingToken).toBe(5)
    })

    it('at the same time as registrations makes no token go back either', async () => {
      let last = 0
      for (let round = 0; round < 60; round++) {
        const before = await tombstone('a')
        expect(before).toBeGreaterThan(last)
        const registrations = stores.map((each) => each.schedules().register(schedule('a'), 0))
        const purges = stores.map((each) => each.purge(9e15))
        const rows = await Promise.all(registrations)
        await Promise.all(purges)
        for (const row of rows) expect(row.fencingToken).toBeGreaterThanOrEqual(before)
        last = before
      }
    })
  })
})
