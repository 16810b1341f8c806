// What a store says of the server it starts on: replicas refused, settings that weaken a guarantee
// told of, and servers that keep their settings to themselves.

import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisClient, RedisStore } from '../../../src/store/redis/index.ts'
import { replicaOf, startRedis } from '../../support/redis.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { dueTask } from './redis-stage.ts'

const SAFE = ['--appendfsync', 'always']

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function server(...settings: readonly string[]): Promise<RunningDatabase> {
  const started = await startRedis(settings)
  ends.push(() => started.stop())
  return started
}

/** A store, and what it warns of. */
function storeAt(source: { url: string } | { client: RedisClient }) {
  const warnings: string[] = []
  const store = new RedisStore({ ...source, onWarning: (text) => warnings.push(text) })
  ends.push(() => store.stop())
  return { store, warnings }
}

async function warningsAt(url: string): Promise<string[]> {
  const { store, warnings } = storeAt({ url })
  await store.start()
  return warnings
}

describe('a server with settings that', () => {
  const rows: Record<string, { settings: string[]; says: RegExp[] }> = {
    'keep every promise is not talked of': { settings: SAFE, says: [] },
    'evict keys is told of': {
      settings: [...SAFE, '--maxmemory-policy', 'allkeys-lru'],
      says: [
        /maxmemory_policy is allkeys-lru .* a task may vanish.* maxmemory-policy to noeviction/,
      ],
    },
    'keep no log is told of': {
      settings: ['--appendonly', 'no'],
      says: [
        /aof_enabled is 0 .* since its last snapshot.* Set appendonly to yes, and appendfsync/,
      ],
    },
    'write the log every second is told of': {
      settings: ['--appendfsync', 'everysec'],
      says: [/appendfsync is everysec .* loss of power.* Set appendfsync to always/],
    },
    'leave the log to the system is told of': {
      settings: ['--appendfsync', 'no'],
      says: [/appendfsync is no .* loss of power.* Set appendfsync to always/],
    },
    'do all of it is told of, each by itself': {
      settings: ['--maxmemory-policy', 'volatile-lru', '--appendfsync', 'no'],
      says: [/maxmemory_policy is volatile-lru /, /appendfsync is no /],
    },
  }
  it.each(Object.entries(rows))('%s', async (_, { settings, says }) => {
    const { url } = await server(...settings)
    const warnings = await warningsAt(url)
    expect(warnings).toEqual(says.map((pattern) => expect.stringMatching(pattern)))
    for (const text of warnings) expect(text).toMatch(/^RedisStore at 127\.0\.0\.1:\d+\/0: /)
  })

  it.each([
    ['ioredis', async (url: string) => new Redis(url), (client: Redis) => client.disconnect()],
    ...([2, 3] as const).map((RESP) => [
      `node-redis, RESP${RESP}`,
      (url: string) => createClient({ url, RESP }).connect(),
      (client: { destroy(): void }) => client.destroy(),
    ]),
  ] as [string, (url: string) => Promise<RedisClient>, (client: RedisClient) => void][])(
    'weaken a guarantee are told of over a client of %s',
    async (_, connect, end) => {
      const { url } = await server('--appendfsync', 'everysec')
      const client = await connect(url)
      ends.push(() => end(client))
      const { store, warnings } = storeAt({ client })
      await store.start()
      expect(warnings).toEqual([expect.stringMatching(/^RedisStore: appendfsync is everysec /)])
    },
  )
})

describe('a server with a replica', () => {
  const rows: Record<string, { settings: string[]; counts: RegExp; says: RegExp[] }> = {
    'that need not follow is told of': {
      settings: SAFE,
      counts: /state=online/,
      says: [/min-replicas-to-write is 0 .* a failover undoes .* Set min-replicas-to-write to 1/],
    },
    'that has to follow is not talked of': {
      settings: [...SAFE, '--min-replicas-to-write', '1'],
      counts: /min_slaves_good_slaves:1/,
      says: [],
    },
  }
  it.each(Object.entries(rows))('%s', async (_, { settings, counts, says }) => {
    const primary = await server(...settings)
    await server(...replicaOf(primary.port))
    const admin = new Redis(primary.url)
    ends.push(() => admin.disconnect())
    while (!counts.test(await admin.info('replication'))) {}
    expect(await warningsAt(primary.url)).toEqual(says.map((each) => expect.stringMatching(each)))
  })
})

it('a replica is refused, and the error says so', async () => {
  const replica = await server(...replicaOf((await server()).port))
  const client = new Redis(replica.url)
  ends.push(() => client.disconnect())
  for (const source of [{ url: replica.url }, { client }]) {
    const { store } = storeAt(source)
    await expect(store.start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/^RedisStore.*: this server is a replica.*to the primary$/),
    })
  }
})

describe('a server that does not tell its settings', () => {
  const URGES = /: see to it yourself that maxmemory-policy is noeviction, appendonly is yes and a/

  it('since it has no CONFIG is used all the same, with one warning', async () => {
    const { url } = await server('--rename-command', 'CONFIG', 'hidden')
    const warnings = await warningsAt(url)
    expect(warnings).toEqual([
      expect.stringMatching(/ does not answer CONFIG GET appendfsync: see/),
    ])
    expect(warnings[0]).toMatch(URGES)
  })

  it('to this user is used all the same, with one warning', async () => {
    const { url, port } = await server()
    const admin = new Redis(url)
    ends.push(() => admin.disconnect())
    const commands = 'eval evalsha hset hmget hdel del exists type sadd srem sscan time'.split(' ')
    const allowed = commands.map((name) => `+${name}`)
    await admin.call('ACL', ['SETUSER', 'app', 'on', '>secret', '~{cronfence}:*', ...allowed])
    const { store, warnings } = storeAt({ url: `redis://app:secret@127.0.0.1:${port}/0` })
    await store.start()
    expect(warnings).toEqual([
      expect.stringMatching(/ does not answer INFO or CONFIG GET appendfsync: see to it yourself/),
    ])
    await wholeLife(store)
  })
})

/** Every call of a store once. */
async function wholeLife(store: RedisStore): Promise<void> {
  const schedules = store.schedules()
  await schedules.register(dueTask('a'), 0)
  expect((await schedules.claimDue('a', 'o', 0, 9))?.fencingToken).toBe(1)
  expect(await schedules.renew('a', 1, 99)).toBe(true)
  expect(await schedules.complete('a', 1, { nextRunAt: 7 }, 5)).toBe(true)
  expect(await schedules.list()).toHaveLength(1)
  await schedules.delete('a')
  await schedules.register(dueTask('a'), 0)
  await schedules.delete('a')
  expect(await store.purge(9e15)).toBe(1)
  const leases = store.leases()
  expect((await leases.acquire('leader', 'o', 1000))?.fencingToken).toBe(1)
  expect(await leases.renew('leader', 1, 1000)).toBe(true)
  await leases.release('leader', 1)
}
