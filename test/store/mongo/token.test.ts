// Tokens in MongoDB under crowds, deletions and purges: one winner a round, never back, and exact
// to the last of 2^53 numbers.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MongoStore } from '../../../src/store/mongo/index.ts'
import { dueTask, MongoStage } from './stage.ts'

const stage = new MongoStage('token')
const TOKEN_MAX = Number.MAX_SAFE_INTEGER
const YEAR_9999 = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

let stores: MongoStore[] = []
const store = () => stores[0] as MongoStore
const schedules = () => store().schedules()

beforeAll(async () => {
  stores = Array.from({ length: 4 }, () => stage.store())
  for (const each of stores) await each.start()
}, 300_000)
afterAll(async () => {
  for (const each of stores) await each.stop()
})
beforeEach(() => stage.empty())

const setToken = (id: string, fencingToken: number) =>
  stage.collection().updateOne({ _id: id }, { $set: { fencingToken: BigInt(fencingToken) } })

describe('many at once', () => {
  it('contend in a hundred rounds of thirty-two, and each has one winner', async () => {
    await schedules().register(dueTask('a'), 0)
    for (let round = 1; round <= 100; round++) {
      const contenders = Array.from({ length: 32 }, (_, index) =>
        stores[index % 4]?.schedules().claimDue('a', `owner ${index}`, round, 1),
      )
      const winners = (await Promise.all(contenders)).filter((claim) => claim !== null)
      expect(winners.map((claim) => claim?.fencingToken)).toEqual([round])
    }
  })

  it('register one id, thirty-two of them, and there is one record', async () => {
    const registrations = Array.from({ length: 32 }, (_, index) =>
      stores[index % 4]?.schedules().register(dueTask('a'), index),
    )
    const records = await Promise.all(registrations)
    expect(new Set(records.map((record) => record?.updatedAt)).size).toBe(1)
    expect(await stage.collection().countDocuments()).toBe(1)
  })

  it('batches in different orders win each id once, and commit each once', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `task ${index}`)
    const shuffled = (turn: number) => ids.map((_, index) => ids[(index * 7 + turn) % 60] as string)
    for (let round = 1; round <= 5; round++) {
      const now = round * 10
      await Promise.all(
        stores.map((each, turn) =>
          each.schedules().registerMany(
            shuffled(turn).map((id) => ({ ...dueTask(id), spec: `${round} ${turn % 2}` })),
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
      expect(won.map(({ record }) => record.id).sort()).toEqual([...ids].sort())
      expect(new Set(won.map(({ fencingToken }) => fencingToken))).toEqual(new Set([round]))
      const completions = won.map(({ record, fencingToken }) => {
        return { id: record.id, fencingToken, patch: { nextRunAt: 0 } }
      })
      const results = await Promise.all(
        stores.map((each) => each.schedules().completeMany([...completions].reverse(), now)),
      )
      expect(results.flat().filter(Boolean)).toHaveLength(60)
    }
  })
})

it('three hundred deletions and registrations give three hundred tokens in a row', async () => {
  for (let token = 1; token <= 300; token++) {
    await schedules().register(dueTask('a'), 0)
    expect((await schedules().claimDue('a', 'owner', 0, 1))?.fencingToken).toBe(token)
    await schedules().delete('a')
  }
})

it('a delayed delete of an older claim deletes nothing', async () => {
  await schedules().register(dueTask('a'), 0)
  await schedules().claimDue('a', 'owner', 0, 1)
  await schedules().claimDue('a', 'owner', 5, 1)
  await schedules().delete('a', 1)
  expect(await schedules().get('a')).toMatchObject({ fencingToken: 2 })
  await schedules().delete('a', 2)
  expect(await schedules().get('a')).toBeNull()
})

describe('numbers', () => {
  const edges = [2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32]
  const instants = [-TOKEN_MAX, -1, 0, ...edges, 123456789012345, YEAR_9999, TOKEN_MAX - 10]
  it.each(instants)('the instant %d comes and goes exactly, as an int64', async (at) => {
    await schedules().register({ ...dueTask('a'), nextRunAt: at }, at)
    const claim = await schedules().claimDue('a', 'owner', at, 9)
    expect(claim?.record).toMatchObject({ nextRunAt: at, leaseUntil: at + 9, updatedAt: at })
    expect(await stage.document('a')).toMatchObject({
      ...{ nextRunAt: BigInt(at), leaseUntil: BigInt(at + 9), updatedAt: BigInt(at) },
      fencingToken: 1n,
    })
    expect(await schedules().complete('a', 1, { nextRunAt: at + 1, lastRunAt: at }, at)).toBe(true)
    expect(await schedules().get('a')).toMatchObject({ nextRunAt: at + 1, lastRunAt: at })
  })

  const tokens = [...edges, 10 ** 15, 2 ** 52 + 1, TOKEN_MAX - 2, TOKEN_MAX - 1]
  it.each(tokens)('the token after %d is exactly one more', async (token) => {
    await schedules().register(dueTask('a'), 0)
    await setToken('a', token)
    expect((await schedules().claimDue('a', 'owner', 0, 9))?.fencingToken).toBe(token + 1)
    expect((await stage.document('a'))?.fencingToken).toBe(BigInt(token + 1))
    expect(await schedules().renew('a', token, 99)).toBe(false)
    expect(await schedules().complete('a', token + 1, { nextRunAt: 5 }, 0)).toBe(true)
  })

  it('the last token is claimed no more, is told of, and stops no other task', async () => {
    for (const id of ['a', 'b']) await schedules().register(dueTask(id), 0)
    await setToken('a', TOKEN_MAX)
    const before = await stage.document('a')
    const ceiling = { code: 'STORE_TOKEN_CEILING' }
    await expect(schedules().claimDue('a', 'owner', 0, 9)).rejects.toMatchObject(ceiling)
    const heard = stage.damages.length
    const claims = await schedules().claimDueMany(['a', 'b'], 'owner', 0, 9)
    expect(claims.map((claim) => claim?.fencingToken)).toEqual([undefined, 1])
    expect(stage.damages.slice(heard)).toMatchObject([ceiling])
    expect(await stage.document('a')).toEqual(before)
  })
})

describe('a purge', () => {
  const tombstone = async (id: string) => {
    await schedules().register(dueTask(id), 0)
    const claim = await schedules().claimDue(id, 'owner', 0, 1)
    await schedules().delete(id)
    return claim?.fencingToken ?? 0
  }

  it('removes tombstones older than the instant, and live rows never', async () => {
    await tombstone('a')
    await schedules().register(dueTask('b'), 0)
    expect(await store().purge(0)).toBe(0)
    expect(await store().purge(new Date(store().clock().now() + 60_000))).toBe(1)
    expect(await schedules().list()).toHaveLength(1)
    expect(await stage.collection().countDocuments()).toBe(1)
  })

  it('leaves a tombstone whose token cannot be read, and trusts it not', async () => {
    await tombstone('a')
    await tombstone('b')
    await stage.collection().updateOne({ _id: 'a' }, { $set: { fencingToken: '9' } })
    expect(await store().purge(9e15)).toBe(1)
    expect(await stage.document('a')).not.toBeNull()
  })

  it('makes no token of any id go back', async () => {
    for (let token = 1; token <= 5; token++) {
      await schedules().register(dueTask('a'), 0)
      expect((await schedules().claimDue('a', 'owner', 10 * token, 1))?.fencingToken).toBe(token)
    }
    await schedules().delete('a')
    expect(await store().purge(9e15)).toBe(1)
    expect((await schedules().register(dueTask('a'), 0)).fencingToken).toBe(5)
    expect((await schedules().register(dueTask('new'), 0)).fencingToken).toBe(5)
  })

  it('at the same time as registrations makes no token go back either', async () => {
    let last = 0
    for (let round = 0; round < 40; round++) {
      const before = await tombstone('a')
      expect(before).toBeGreaterThan(last)
      await Promise.all([
        ...stores.map((each) => each.schedules().register(dueTask('a'), 0)),
        store().purge(9e15),
      ])
      expect((await schedules().get('a'))?.fencingToken).toBeGreaterThanOrEqual(before)
      await schedules().delete('a')
      last = before
    }
  })
})
