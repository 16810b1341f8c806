// Clients that are handed in, and none at all.

import { Redis } from 'ioredis'
import { createClient, createClientPool } from 'redis'
import { describe, expect, it, vi } from 'vitest'
import type { RedisClient } from '../../../src/store/redis/index.ts'
import { dueTask, RedisStage } from './redis-stage.ts'

const stage = new RedisStage('clients')

describe('a client handed in', () => {
  const clients: Record<string, () => Promise<RedisClient>> = {
    'of ioredis that has ended': async () => {
      const client = new Redis(stage.url)
      await client.ping()
      client.disconnect()
      await new Promise((resolve) => client.once('end', resolve))
      return client
    },
    'of node-redis that is not connected': async () => createClient({ url: stage.url }),
  }
  for (const [what, make] of Object.entries(clients)) {
    it(`${what} is an error of the store's own kind`, async () => {
      const store = stage.store({ client: await make() })
      await expect(store.start()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/^RedisStore: .*clos/),
      })
    })
  }

  it('of ioredis with a prefix of its own keeps all keys under both', async () => {
    const client = new Redis(stage.url, { keyPrefix: 'mine:' })
    const store = stage.store({ client })
    await store.schedules().register(dueTask('a'), 0)
    expect((await store.schedules().claimDue('a', 'o', 0, 1))?.fencingToken).toBe(1)
    expect(await store.schedules().list()).toHaveLength(1)
    const keys = await stage.redis.keys(`mine:{${stage.prefix}}:*`)
    expect(keys.sort()).toEqual(
      ['ids', 'meta', 'sched:a'].map((key) => `mine:{${stage.prefix}}:${key}`),
    )
    await stage.redis.del(keys)
    client.disconnect()
  })

  it('that gives bytes instead of text is understood', async () => {
    const client = new Redis(stage.url)
    const bytes = {
      call: (command: string, args: string[]) => client.callBuffer(command, args),
    }
    const store = stage.store({ client: bytes })
    await store.start()
    await store.schedules().register(dueTask('ä'), 0)
    expect((await store.schedules().claimDue('ä', 'ö', 0, 1))?.record.leaseOwner).toBe('ö')
    expect((await store.schedules().list()).map(({ id }) => id)).toEqual(['ä'])
    client.disconnect()
  })

  it('that is a pool of node-redis serves many calls at once', async () => {
    const pool = createClientPool({ url: stage.url })
    await pool.connect()
    const schedules = stage.store({ client: pool }).schedules()
    await schedules.register(dueTask('a'), 0)
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, index) => schedules.claimDue('a', `owner ${index}`, 0, 9)),
    )
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
    await pool.close()
  })
})

it('without the driver the store says which one it needs, and what to do', async () => {
  vi.doMock('ioredis', () => {
    throw new Error('Cannot find package')
  })
  try {
    const store = stage.store()
    const missing = {
      code: 'STORE_DRIVER_MISSING',
      message:
        'RedisStore needs the driver ioredis, which could not be loaded: ' +
        'run `npm install ioredis`, or hand in a client.',
    }
    await expect(store.start()).rejects.toMatchObject(missing)
    await expect(store.schedules().get('a')).rejects.toMatchObject(missing)
  } finally {
    vi.doUnmock('ioredis')
  }
})
