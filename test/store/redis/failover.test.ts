// A Redis primary and its replica that change places under replicas at work: by command, or by a
// sentinel after a crash. What a store says meanwhile, that it recovers by itself, and what no
// store on Redis can promise.

import { Redis } from 'ioredis'
import { createClient, createSentinel } from 'redis'
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisClient, RedisStore } from '../../../src/store/redis/index.ts'
import { startProxy } from '../../support/proxy.ts'
import { REDIS_PASSWORD, replicaOf, startRedis } from '../../support/redis.ts'
import { SENTINEL_NAME, startSentinel } from '../../support/redis-sentinel.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { EngineAtWork, TIMEOUT_MS } from '../engine-at-work.ts'
import { dueTask } from './redis-stage.ts'

const LEASE_MS = 60_000

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A server, and a way to command it. */
interface Node {
  readonly server: RunningDatabase
  readonly redis: Redis
}

async function node(settings: readonly string[] = []): Promise<Node> {
  const server = await startRedis(['--masterauth', REDIS_PASSWORD, ...settings])
  ends.push(() => server.stop())
  const redis = new Redis(server.url)
  redis.on('error', () => {}) // Some are killed under it.
  ends.push(() => redis.disconnect())
  return { server, redis }
}

/** A primary, and a replica that follows it. */
async function pair(): Promise<{ primary: Node; replica: Node }> {
  const primary = await node()
  const replica = await node(replicaOf(primary.server.port))
  await hasCopied(primary)
  return { primary, replica }
}

/** Resolves once the server says so of itself. */
async function says({ redis }: Node, text: RegExp): Promise<void> {
  while (!text.test(await redis.info('replication'))) {}
}

/** Resolves once its replica has all that a primary has written. */
async function hasCopied({ redis }: Node): Promise<void> {
  for (;;) {
    const info = await redis.info('replication')
    const [, copied] = /slave0:.*,state=online,offset=(\d+),/.exec(info) ?? []
    const [, written] = /master_repl_offset:(\d+)/.exec(info) ?? []
    if (copied !== undefined && copied === written) return
  }
}

const leads = (primary: Node) => says(primary, /role:master/)

function store(source: { url: string } | { client: RedisClient }, timeoutMs = TIMEOUT_MS) {
  const opened = new RedisStore({ ...source, timeoutMs, onWarning: () => {} })
  ends.push(() => opened.stop())
  return opened
}

/** Makes the other one the primary, without losing a write. */
async function change(from: Node, to: Node): Promise<void> {
  await from.redis.call('FAILOVER', 'TO', '127.0.0.1', to.server.port)
  await leads(to)
  await hasCopied(to)
}

const refusal = {
  code: 'STORE_UNAVAILABLE',
  message: expect.stringMatching(/replica.*: connect to the primary$|replica.*; connect to the pr/),
}

describe('a primary that becomes a replica', () => {
  const clients: Record<
    string,
    (url: string) => Promise<{ url: string } | { client: RedisClient }>
  > = {
    'our own client': async (url) => ({ url }),
    ioredis: async (url) => {
      const client = new Redis(url)
      ends.push(() => client.disconnect())
      return { client }
    },
    'node-redis': async (url) => {
      const client = await createClient({ url }).connect()
      ends.push(() => client.destroy())
      return { client }
    },
  }
  it.each(Object.entries(clients))(
    'refuses writes over %s, which change nothing, and takes them when it is back',
    async (_, connect) => {
      const { primary, replica } = await pair()
      const schedules = store(await connect(primary.server.url)).schedules()
      await schedules.register(dueTask('a'), 0)
      await schedules.claimDue('a', 'o', 0, LEASE_MS)
      await change(primary, replica)
      for (const call of [
        () => schedules.register(dueTask('b'), 0),
        () => schedules.complete('a', 1, { nextRunAt: 0 }, 5),
        () => schedules.renew('a', 1, LEASE_MS + 1),
      ]) {
        await expect(call()).rejects.toMatchObject(refusal)
      }
      await change(replica, primary)
      expect(await schedules.get('a')).toMatchObject({ fencingToken: 1, leaseUntil: LEASE_MS })
      expect(await schedules.get('b')).toBeNull()
      expect(await schedules.complete('a', 1, { nextRunAt: 0 }, 5)).toBe(true)
      expect((await schedules.claimDue('a', 'o', 5, LEASE_MS))?.fencingToken).toBe(2)
    },
  )

  it('is not read from either over our own client, for it may lag behind', async () => {
    const { primary, replica } = await pair()
    const schedules = store({ url: primary.server.url }).schedules()
    await schedules.register(dueTask('a'), 0)
    await change(primary, replica)
    // The first refusal ends the connection, the next one is not believed.
    await expect(schedules.claimDue('a', 'o', 0, LEASE_MS)).rejects.toMatchObject(refusal)
    for (const call of [() => schedules.get('a'), () => schedules.list()]) {
      await expect(call()).rejects.toMatchObject(refusal)
    }
  })
})

describe('the engine', () => {
  it('goes on by itself when its primary is back, no slot lost and no token twice', async () => {
    const { primary, replica } = await pair()
    const stores = [0, 1].map(() => store({ url: primary.server.url }))
    const engine = new EngineAtWork(stores, 'a')
    ends.push(() => engine.stop())
    await engine.start()
    for (let round = 0; round < 2; round++) {
      await engine.slots(3)
      await change(primary, replica)
      await engine.failure(/replica/)
      await change(replica, primary)
    }
    await engine.slots(3)
    await engine.stop()
    expect(engine.violations()).toEqual([])
  })

  const sentinelClients: Record<string, (port: number) => Promise<RedisClient>> = {
    ioredis: async (port) => {
      const client = new Redis({
        ...{ sentinels: [{ host: '127.0.0.1', port }], name: SENTINEL_NAME },
        ...{ password: REDIS_PASSWORD, enableOfflineQueue: false },
        sentinelRetryStrategy: () => 50,
      })
      client.on('error', () => {})
      ends.push(() => client.disconnect())
      await new Promise((ready) => client.once('ready', ready))
      return client
    },
    'node-redis': async (port) => {
      const client = createSentinel({
        ...{ name: SENTINEL_NAME, sentinelRootNodes: [{ host: '127.0.0.1', port }] },
        ...{ nodeClientOptions: { password: REDIS_PASSWORD }, scanInterval: 500 },
      })
      client.on('error', () => {})
      ends.push(() => client.destroy())
      await client.connect()
      return client
    },
  }
  it.each(Object.entries(sentinelClients))(
    'follows a sentinel to the new primary after a crash, over %s',
    async (_, connect) => {
      const { primary, replica } = await pair()
      const sentinel = await startSentinel(primary.server.port)
      ends.push(() => sentinel.stop())
      const stores = [
        store({ client: await connect(sentinel.port) }),
        store({ client: await connect(sentinel.port) }),
      ]
      const engine = new EngineAtWork(stores, 'a')
      ends.push(() => engine.stop())
      await engine.start()
      await engine.slots(3)
      await crash(primary)
      await leads(replica)
      await engine.slots(3)
      await engine.stop()
      expect(engine.violations()).toEqual([])
    },
  )
})

/** Kills a primary at an instant at which its replica has all that it confirmed. */
async function crash(primary: Node): Promise<void> {
  await primary.redis.call('CLIENT', 'PAUSE', 60_000, 'WRITE')
  await hasCopied(primary)
  await primary.server.pause('SIGKILL')
}

describe('a replica that lags behind', () => {
  /** A pair, a task on it that both know of, and then nothing reaches the replica any more. */
  async function lagging() {
    const primary = await node()
    const link = await startProxy(primary.server.port)
    ends.push(() => link.close())
    const replica = await node(replicaOf(link.port))
    const schedules = store({ url: primary.server.url }).schedules()
    await schedules.register(dueTask('a'), 0)
    await hasCopied(primary)
    link.rule = () => 'hold'
    return { primary, replica, schedules }
  }

  it('and is promoted gives a token out again (documented limit)', async () => {
    const { primary, replica, schedules } = await lagging()
    const confirmed = await schedules.claimDue('a', 'mine', 0, LEASE_MS)
    await primary.server.pause('SIGKILL')
    await replica.redis.replicaof('NO', 'ONE')
    const others = store({ url: replica.server.url }).schedules()
    const again = await others.claimDue('a', 'theirs', 0, LEASE_MS)
    expect([confirmed?.fencingToken, again?.fencingToken]).toEqual([1, 1])
  })

  it('lets no token out twice once min-replicas-to-write has noticed it', async () => {
    const { primary, replica, schedules } = await lagging()
    await primary.redis.config('SET', 'min-replicas-max-lag', '1')
    await primary.redis.config('SET', 'min-replicas-to-write', '1')
    await says(primary, /min_slaves_good_slaves:0/)
    await expect(schedules.claimDue('a', 'mine', 0, LEASE_MS)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/NOREPLICAS.*too few replicas follow/),
    })
    await primary.server.pause('SIGKILL')
    await replica.redis.replicaof('NO', 'ONE')
    const others = store({ url: replica.server.url }).schedules()
    expect((await others.claimDue('a', 'theirs', 0, LEASE_MS))?.fencingToken).toBe(1)
  })
})
