// How a store on Redis begins and ends: who may start it where, and what it refuses.

import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { RedisStore, type RedisStoreOptions } from '../../../src/store/redis/index.ts'
import { dueTask, RedisStage } from './redis-stage.ts'

const stage = new RedisStage('boot')

describe('starting', () => {
  it('from ten replicas at once sets up once, and one of them wins the claim', async () => {
    const stores = Array.from({ length: 10 }, () => stage.store())
    await Promise.all(stores.map((store) => store.start()))
    const schedules = stores.map((store) => store.schedules())
    await Promise.all(schedules.map((each) => each.register(dueTask('a'), 0)))
    const claims = await Promise.all(schedules.map((each) => each.claimDue('a', 'o', 0, 10)))
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
    expect(await stage.redis.hgetall(stage.key('meta'))).toEqual({ version: '1', floor: '0' })
  })

  it('again changes nothing', async () => {
    const store = stage.store()
    await store.start()
    await store.schedules().register(dueTask('a'), 0)
    await store.start()
    await stage.store().start()
    expect(await store.schedules().list()).toHaveLength(1)
  })

  const refused: Record<string, { command: string[]; error: { code: string; says: string } }> = {
    'a list where our hash belongs': {
      command: ['RPUSH', 'meta', 'x'],
      error: {
        code: 'STORE_FOREIGN_SCHEMA',
        says: '{cronfence-test-boot}:meta is not one that cronfence',
      },
    },
    'a hash of somebody else': {
      command: ['HSET', 'meta', 'name', 'x'],
      error: { code: 'STORE_FOREIGN_SCHEMA', says: 'it is a hash without a version' },
    },
    'a string where our index belongs': {
      command: ['SET', 'ids', 'x'],
      error: { code: 'STORE_FOREIGN_SCHEMA', says: 'Key {cronfence-test-boot}:ids is not one' },
    },
    'a list where the tombstones belong': {
      command: ['RPUSH', 'graves', 'x'],
      error: { code: 'STORE_FOREIGN_SCHEMA', says: 'Key {cronfence-test-boot}:graves is not one' },
    },
    'a newer version': {
      command: ['HSET', 'meta', 'version', '2', 'floor', '0'],
      error: { code: 'STORE_NEWER_SCHEMA', says: 'version 2, this release knows versions up to 1' },
    },
    'a version that is no number': {
      command: ['HSET', 'meta', 'version', 'x', 'floor', '0'],
      error: {
        code: 'STORE_DAMAGED_RECORD',
        says: '{cronfence-test-boot}:meta must have integers',
      },
    },
    'no floor': {
      command: ['HSET', 'meta', 'version', '1'],
      error: {
        code: 'STORE_DAMAGED_RECORD',
        says: '{cronfence-test-boot}:meta must have integers',
      },
    },
  }
  for (const [what, { command, error }] of Object.entries(refused)) {
    const [name = '', key = '', ...args] = command

    it(`beside ${what} is refused, and changes nothing`, async () => {
      await stage.redis.call(name, stage.key(key), ...args)
      const store = stage.store()
      const message = expect.stringContaining(error.says)
      await expect(store.start()).rejects.toMatchObject({ code: error.code, message })
      const calls = [
        () => store.schedules().register(dueTask('a'), 0),
        () => store.leases().acquire('leader', 'o', 10),
      ]
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: error.code })
      expect(await stage.redis.keys('{cronfence-test-boot}:*')).toEqual([stage.key(key)])
      // Once it is out of the way the same store starts.
      await stage.redis.del(stage.key(key))
      await store.start()
    })

    it(`and ${what} that comes under a running store is refused too`, async () => {
      const store = stage.store()
      await store.schedules().register(dueTask('a'), 0)
      const fields = await stage.fields('a')
      await stage.redis.del(stage.key(key))
      await stage.redis.call(name, stage.key(key), ...args)
      // Claims look at the record, which is whole, and at the version: they need no index.
      const calls = [
        () => store.schedules().register(dueTask('b'), 0),
        () => store.schedules().delete('a'),
      ]
      if (key === 'meta') calls.push(() => store.schedules().renew('a', 0, 5) as Promise<never>)
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: error.code })
      expect(await stage.fields('a')).toEqual(fields)
      expect(await stage.redis.exists(stage.key('sched:b'))).toBe(0)
    })
  }
})

describe('data that is lost under a running store', () => {
  it('is set up again by itself; tokens go on from the highest that was seen', async () => {
    const warnings: string[] = []
    const store = stage.store({ onWarning: (text) => warnings.push(text) })
    const schedules = store.schedules()
    await schedules.register(dueTask('a'), 0)
    for (let now = 0; now < 5; now++) await schedules.claimDue('a', 'o', now, 1)
    warnings.length = 0
    await stage.redis.del(...(await stage.redis.keys('{cronfence-test-boot}:*')))
    expect(await schedules.claimDue('a', 'o', 9, 1)).toBeNull()
    expect((await schedules.register(dueTask('a'), 9)).fencingToken).toBe(5)
    expect(warnings.at(-1)).toMatch(/data of the store was lost .* Tokens go on from 5/)
  })

  it('of the index only comes back as the replicas register', async () => {
    const store = stage.store()
    await store.schedules().register(dueTask('a'), 0)
    await stage.redis.del(stage.key('ids'))
    expect((await store.schedules().claimDue('a', 'o', 0, 1))?.fencingToken).toBe(1)
    await store.schedules().register(dueTask('a'), 7)
    expect(await store.schedules().list()).toHaveLength(1)
  })
})

describe('a server that refuses', () => {
  const at = (change: (target: URL) => void) => {
    const target = new URL(stage.url)
    change(target)
    return stage.store({ url: target.href, timeoutMs: 3000 })
  }
  const rows: Record<string, { change: (target: URL) => void; says: RegExp }> = {
    'because nothing listens there': {
      change: (target) => {
        target.port = '1'
      },
      says: /^RedisStore at 127\.0\.0\.1:1\/0: .*ECONNREFUSED.*; is the server running there/,
    },
    'because the password is wrong': {
      change: (target) => {
        target.password = 'secret-word'
      },
      says: /^RedisStore at 127\.0\.0\.1:\d+\/0: WRONGPASS .*; check the user and the password$/,
    },
    'because the password is missing': {
      change: (target) => {
        target.password = ''
      },
      says: /^RedisStore at 127\.0\.0\.1:\d+\/0: NOAUTH .*; check the user and the password$/,
    },
  }
  for (const [what, { change, says }] of Object.entries(rows)) {
    it(`${what} is unavailable, and the error says where and what to do`, async () => {
      const store = at(change)
      const calls = [() => store.start(), () => store.schedules().register(dueTask('a'), 0)]
      for (const call of calls) {
        const error = await call().catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
        const { message } = error as Error
        expect(message).toMatch(says)
        expect(message).not.toMatch(/secret-word/)
        expect(inspect(error, { depth: 9 })).not.toMatch(/secret-word/)
      }
    })
  }
})

describe('options', () => {
  const url = 'redis://h:1/0'
  const misuse: Record<string, { options: object; says: string }> = {
    'neither URL nor client': { options: {}, says: 'give either a url or a client' },
    'both URL and client': { options: { url, client: {} }, says: 'give either a url or a client' },
    'a URL of another kind': { options: { url: 'https://me:secret-word@h' }, says: 'url: must be' },
    'a URL without a host': { options: { url: 'redis:secret-word' }, says: 'url: must be' },
    'a URL that is no text': { options: { url: 5 }, says: 'url: must be' },
    'a client that is none': { options: { client: {} }, says: 'must be a client of ioredis or' },
    'a client that is null': { options: { client: null }, says: 'must be a client of ioredis or' },
    'an empty prefix': { options: { url, prefix: '' }, says: 'prefix: must be' },
    'a prefix that opens a tag': { options: { url, prefix: 'a{b' }, says: 'prefix: must be' },
    'a prefix that closes the tag': { options: { url, prefix: 'a}b' }, says: 'prefix: must be' },
    'a prefix with a pattern': { options: { url, prefix: 'a*' }, says: 'prefix: must be' },
    'a prefix with a line break': { options: { url, prefix: 'a\r\nb' }, says: 'prefix: must be' },
    'a prefix that ends in one': { options: { url, prefix: 'a\n' }, says: 'prefix: must be' },
    'a prefix with a quote': { options: { url, prefix: `a"'` }, says: 'prefix: must be' },
    'a prefix of elsewhere': { options: { url, prefix: 'ß' }, says: 'prefix: must be' },
    'a prefix of 101 letters': { options: { url, prefix: 'x'.repeat(101) }, says: 'prefix:' },
    'no time': { options: { url, timeoutMs: 0 }, says: 'timeoutMs' },
  }
  for (const [what, { options, says }] of Object.entries(misuse)) {
    it(`with ${what} are refused at once, without a word of a password`, () => {
      let thrown: unknown
      try {
        new RedisStore(options as RedisStoreOptions)
      } catch (error) {
        thrown = error
      }
      expect(thrown instanceof TypeError || thrown instanceof RangeError).toBe(true)
      expect((thrown as Error).message).toContain(says)
      expect((thrown as Error).message).not.toContain('secret-word')
    })
  }
})

describe('stopping', () => {
  it('ends the store for good, and leaves a client of yours connected', async () => {
    const client = new Redis(stage.url)
    const store = stage.store({ client })
    await store.start()
    await store.stop()
    const calls = [
      () => store.start(),
      () => store.schedules().get('a'),
      () => store.schedules().claimDue('a', 'o', 0, 1),
      () => store.leases().acquire('a', 'o', 1),
      () => store.purge(0),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(await client.ping()).toBe('PONG')
    client.disconnect()
  })

  it('of a store that never started does nothing', async () => {
    const store = stage.store()
    await store.stop()
    await store.stop()
  })
})

it('the clock follows the server, whatever the local one says', async () => {
  const timer = { cancel: () => {}, unref: () => {} }
  const slow = { now: () => 5, monotonic: () => 7, setTimer: () => timer }
  const store = stage.store({ clock: slow })
  expect(store.clock().now()).toBe(5)
  await store.start()
  const [seconds] = await stage.redis.time()
  expect(Math.abs(Number(seconds) * 1000 - store.clock().now())).toBeLessThan(60_000)
})
