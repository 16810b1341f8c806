// A Redis server that is killed, flushed of its scripts, or full, under replicas at work: they say
// so, and go on by themselves; what was confirmed is still there, and no token comes twice.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RedisStore } from '../../../src/store/redis/index.ts'
import { startRedis } from '../../support/redis.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { ClaimsAtWork } from '../claims-at-work.ts'
import { dueTask } from './redis-stage.ts'

const REPLICAS = 3
const RESTARTS = 6

let server: RunningDatabase
let redis: Redis
const stores: RedisStore[] = []
const open = (timeoutMs = 2000) => {
  const store = new RedisStore({ url: server.url, timeoutMs, onWarning: () => {} })
  stores.push(store)
  return store
}

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.url, { maxRetriesPerRequest: null })
  redis.on('error', () => {}) // The server is ended under it.
}, 300_000)
beforeEach(async () => {
  await redis.flushall()
})
afterAll(async () => {
  redis.disconnect()
  for (const store of stores) await store.stop()
  await server.stop()
})

describe('a server', () => {
  it('that is gone at boot is waited for by trying again, with the same store', async () => {
    await server.pause()
    const store = open()
    await expect(store.start()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await server.start()
    await store.start()
    expect(await store.schedules().list()).toEqual([])
  })

  it('that is killed under work loses nothing that was confirmed', async () => {
    const replicas = Array.from({ length: REPLICAS }, () => open())
    await replicas[0]?.schedules().register(dueTask('a'), 0)
    const work = new ClaimsAtWork('a')
    const workers = replicas.map((store, index) => work.run(store.schedules(), `replica ${index}`))
    for (let restart = 0; restart < RESTARTS; restart++) {
      await work.more('grants', 20)
      await server.pause(restart % 2 === 0 ? 'SIGKILL' : undefined)
      await work.more('failures', REPLICAS)
      await server.start()
    }
    await work.more('grants', 20)
    work.isOver = true
    await Promise.all(workers)
    expect(work.strange).toEqual([])
    expect(new Set(work.granted).size).toBe(work.granted.length)
    const row = await replicas[0]?.schedules().get('a')
    expect(row?.fencingToken).toBeGreaterThanOrEqual(Math.max(...work.granted))
    expect(row?.lastRunAt).toBeGreaterThanOrEqual(work.lastConfirmed)
  }, 120_000)
})

it('scripts that the server forgets all the time are sent again, without one failure', async () => {
  const replicas = Array.from({ length: REPLICAS }, () => open())
  await replicas[0]?.schedules().register(dueTask('a'), 0)
  const work = new ClaimsAtWork('a')
  const workers = replicas.map((store, index) => work.run(store.schedules(), `replica ${index}`))
  let flushes = 0
  const before = await forgotten()
  const flushing = (async () => {
    for (; !work.isOver; flushes++) await redis.script('FLUSH')
  })()
  await work.more('grants', 500)
  work.isOver = true
  await Promise.all([...workers, flushing])
  expect(flushes).toBeGreaterThan(20)
  expect((await forgotten()) - before).toBeGreaterThan(20)
  expect([work.failures, work.strange]).toEqual([0, []])
  expect(work.granted.toSorted((a, b) => a - b)).toEqual(work.granted.map((_, at) => at + 1))
})

/** How many requests met a server that had forgotten their script. */
async function forgotten(): Promise<number> {
  const stats = await redis.info('errorstats')
  return Number(/errorstat_NOSCRIPT:count=(\d+)/.exec(stats)?.[1] ?? 0)
}

it('a server that is full refuses writes whole, loses nothing, and says what to do', async () => {
  const schedules = open(1000).schedules()
  const ids = Array.from({ length: 200 }, (_, index) => `task ${index}`)
  await schedules.registerMany(ids.map(dueTask), 0)
  await redis.config('SET', 'maxmemory', '1')
  try {
    const full = {
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/OOM.*server is full/),
    }
    await expect(schedules.registerMany([dueTask('more')], 0)).rejects.toMatchObject(full)
    await expect(schedules.claimDueMany(ids, 'o', 0, 10)).rejects.toMatchObject(full)
    const rows = await schedules.getMany(ids)
    expect(rows.every((row) => row?.fencingToken === 0 && row.leaseUntil === undefined)).toBe(true)
    // What frees memory is not refused.
    await schedules.delete('task 199')
    expect(await schedules.list()).toHaveLength(199)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
  const claims = await schedules.claimDueMany(ids.slice(0, 199), 'o', 0, 10)
  expect(claims.every((claim) => claim !== null)).toBe(true)
})

it('a server that is busy with a script of somebody else is waited for', async () => {
  const schedules = open(10_000).schedules()
  await schedules.register(dueTask('a'), 0)
  await redis.config('SET', 'busy-reply-threshold', '20')
  const other = new Redis(server.url)
  const endless = other.eval('while true do end', 0).catch((error: Error) => error.message)
  const claim = schedules.claimDue('a', 'o', 0, 10)
  while (!/BUSY/.test(await redis.ping().catch((error: Error) => error.message))) {}
  await redis.script('KILL')
  expect(await endless).toMatch(/killed/)
  expect((await claim)?.fencingToken).toBe(1)
  other.disconnect()
})

it('a server that misses its replicas refuses writes whole, and says so', async () => {
  const schedules = open(500).schedules()
  await schedules.register(dueTask('a'), 0)
  await redis.config('SET', 'min-replicas-to-write', '1')
  await expect(schedules.claimDue('a', 'o', 0, 10)).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: expect.stringMatching(/NOREPLICAS.*too few replicas follow/),
  })
  await redis.config('SET', 'min-replicas-to-write', '0')
  expect(await schedules.get('a')).toMatchObject({ fencingToken: 0 })
})

it('a batch of which a part was refused has an open outcome, its records have not', async () => {
  const schedules = open(300).schedules()
  const ids = Array.from({ length: 600 }, (_, index) => `task ${index}`)
  await schedules.registerMany(ids.map(dueTask), 0)
  let scripts = 0
  const own = new Redis(server.url)
  const client = {
    call(command: string, args: string[]) {
      if (args.includes('owner') && ++scripts === 2) {
        return Promise.reject(new Error('NOREPLICAS Not enough good replicas to write.'))
      }
      return own.call(command, args)
    },
  }
  const store = new RedisStore({ client, timeoutMs: 300, onWarning: () => {} })
  await expect(store.schedules().claimDueMany(ids, 'owner', 0, 10)).rejects.toMatchObject({
    code: 'STORE_OUTCOME_UNKNOWN',
    message: expect.stringMatching(/NOREPLICAS.*; other parts of the batch were done$/),
  })
  const rows = await schedules.getMany(ids)
  expect(rows.filter((row) => row?.leaseOwner === 'owner')).toHaveLength(350)
  own.disconnect()
})
