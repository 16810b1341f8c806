// Tokens in Redis under crowds, deletions and purges: one winner a round, never back, and exact to
// the last of 2^53 numbers.

import { beforeEach, describe, expect, it } from 'vitest'
import type { RedisStore } from '../../../src/store/redis/index.ts'
import { dueTask, RedisStage } from './redis-stage.ts'

const stage = new RedisStage('token')
const TOKEN_MAX = Number.MAX_SAFE_INTEGER
const YEAR_9999 = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

let stores: RedisStore[] = []
const store = () => stores[0] as RedisStore
const schedules = () => store().schedules()
beforeEach(() => {
  stores = Array.from({ length: 4 }, () => stage.store())
})

it('a hundred rounds of thirty-two contenders have a winner each, tokens in a row', async () => {
  await schedules().register(dueTask('a'), 0)
  for (let round = 1; round <= 100; round++) {
    const contenders = Array.from({ length: 32 }, (_, index) =>
      stores[index % 4]?.schedules().claimDue('a', `owner ${index}`, round, 1),
    )
    const winners = (await Promise.all(contenders)).filter((claim) => claim !== null)
    expect(winners.map((claim) => claim?.fencingToken)).toEqual([round])
  }
})

it('a thousand deletions and registrations give a thousand tokens in a row', async () => {
  for (let token = 1; token <= 1000; token++) {
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
  const instants = [-TOKEN_MAX, -1, 0, 2 ** 31, 123456789012345, YEAR_9999, TOKEN_MAX - 10]
  it.each(instants)('the instant %d comes and goes exactly, as the digits it has', async (at) => {
    await schedules().register({ ...dueTask('a'), nextRunAt: at }, at)
    const claim = await schedules().claimDue('a', 'owner', at, 9)
    expect(claim?.record).toMatchObject({ nextRunAt: at, leaseUntil: at + 9, updatedAt: at })
    expect(await stage.fields('a')).toMatchObject({
      ...{ nextRunAt: String(at), leaseUntil: String(at + 9), updatedAt: String(at) },
    })
    expect(await schedules().complete('a', 1, { nextRunAt: at + 1, lastRunAt: at }, at)).toBe(true)
    expect(await schedules().get('a')).toMatchObject({ nextRunAt: at + 1, lastRunAt: at })
  })

  const tokens = [10 ** 14, 10 ** 15 - 1, 10 ** 15, 2 ** 52 + 1, TOKEN_MAX - 2, TOKEN_MAX - 1]
  it.each(tokens)('the token after %d is exactly one more', async (token) => {
    await schedules().register(dueTask('a'), 0)
    await stage.redis.hset(stage.key('sched:a'), 'fencingToken', String(token))
    expect((await schedules().claimDue('a', 'owner', 0, 9))?.fencingToken).toBe(token + 1)
    expect((await stage.fields('a')).fencingToken).toBe(String(token + 1))
    expect(await schedules().renew('a', token, 99)).toBe(false)
    expect(await schedules().complete('a', token + 1, { nextRunAt: 5 }, 0)).toBe(true)
  })

  it('the last token is claimed no more, is told of, and stops no other task', async () => {
    for (const id of ['a', 'b']) await schedules().register(dueTask(id), 0)
    await stage.redis.hset(stage.key('sched:a'), 'fencingToken', String(TOKEN_MAX))
    const before = await stage.fields('a')
    const ceiling = { code: 'STORE_TOKEN_CEILING' }
    await expect(schedules().claimDue('a', 'owner', 0, 9)).rejects.toMatchObject(ceiling)
    const heard: unknown[] = []
    const batch = stage.store({ onDamaged: (error) => heard.push(error) }).schedules()
    const claims = await batch.claimDueMany(['a', 'b'], 'owner', 0, 9)
    expect(claims.map((claim) => claim?.fencingToken)).toEqual([undefined, 1])
    expect(heard).toEqual([expect.objectContaining(ceiling)])
    expect(await stage.fields('a')).toEqual(before)
    await stage.redis.hset(stage.key('lease:l'), {
      ...{ owner: '', until: '0', fencingToken: String(TOKEN_MAX) },
    })
    await expect(store().leases().acquire('l', 'owner', 9)).rejects.toMatchObject(ceiling)
  })
})

describe('a purge', () => {
  const tombstone = async (id: string) => {
    await schedules().register(dueTask(id), 0)
    const claim = await schedules().claimDue(id, 'owner', 0, 1)
    await schedules().delete(id)
    return claim?.fencingToken ?? 0
  }

  it('removes tombstones older than the instant, and live records never', async () => {
    await tombstone('a')
    await schedules().register(dueTask('b'), 0)
    expect(await store().purge(0)).toBe(0)
    expect(await store().purge(new Date(store().clock().now() + 60_000))).toBe(1)
    expect(await schedules().list()).toHaveLength(1)
    expect((await stage.redis.keys(stage.key('*'))).sort()).toEqual(
      ['ids', 'meta', 'sched:b'].map((rest) => stage.key(rest)),
    )
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
    for (let round = 0; round < 60; round++) {
      const before = await tombstone('a')
      expect(before).toBeGreaterThan(last)
      const registrations = stores.map((each) => each.schedules().register(dueTask('a'), 0))
      const purges = stores.map((each) => each.purge(9e15))
      const rows = await Promise.all(registrations)
      await Promise.all(purges)
      for (const row of rows) expect(row.fencingToken).toBeGreaterThanOrEqual(before)
      last = before
    }
  })

  it('goes through thousands of tombstones, whatever their ids are', async () => {
    const ids = Array.from({ length: 2500 }, (_, index) => `{${index}}*?[a]\n${index}`)
    await schedules().registerMany(ids.map(dueTask), 0)
    await schedules().claimDueMany(ids, 'owner', 0, 1)
    await Promise.all(ids.map((id) => schedules().delete(id)))
    expect(await schedules().list()).toEqual([])
    expect(await store().purge(9e15)).toBe(2500)
    expect(await stage.redis.keys(stage.key('*'))).toEqual([stage.key('meta')])
  })
})

describe('keys', () => {
  it('never expire', async () => {
    await schedules().register(dueTask('a'), 0)
    await schedules().claimDue('a', 'owner', 0, 1)
    await schedules().register(dueTask('b'), 0)
    await schedules().claimDue('b', 'owner', 0, 1)
    await schedules().delete('b')
    await store().leases().acquire('leader', 'owner', 1)
    const keys = await stage.redis.keys(stage.key('*'))
    expect(keys).toHaveLength(6)
    for (const key of keys) expect(await stage.redis.ttl(key)).toBe(-1)
  })

  it('of two prefixes are apart, though one begins with the other', async () => {
    const other = stage.store({ prefix: `${stage.prefix}:2` })
    await schedules().register(dueTask('2:sched:a'), 0)
    await other.schedules().register(dueTask('a'), 0)
    expect((await other.schedules().list()).map(({ id }) => id)).toEqual(['a'])
    expect((await schedules().list()).map(({ id }) => id)).toEqual(['2:sched:a'])
    await stage.redis.del(await stage.redis.keys(`{${stage.prefix}:2}:*`))
  })

  it('of a task and a lease of one name are apart', async () => {
    await schedules().register(dueTask('x'), 0)
    expect((await store().leases().acquire('x', 'owner', 9))?.fencingToken).toBe(1)
    expect(await schedules().get('x')).toMatchObject({ fencingToken: 0 })
  })
})
