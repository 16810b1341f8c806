// The beginning and the end of a NatsStore: who may start it where, what it refuses, what it says.

import { Kvm } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import { describe, expect, it } from 'vitest'
import { NatsStore, type NatsStoreOptions } from '../../../src/store/nats/index.ts'
import { ownNatsServer } from '../../support/nats-server.ts'
import { EVERY, natsStage } from './stage.ts'

const stage = natsStage()

interface StreamManager {
  readonly streams: {
    add(config: object): Promise<unknown>
    info(name: string): Promise<{ config: object }>
  }
}

/** The management of streams, behind the driver's buckets. */
async function manager(): Promise<StreamManager> {
  return (await new Kvm(stage.admin).js.jetstreamManager()) as unknown as StreamManager
}

/** Makes the stream of the test's bucket as another tool might. */
async function makeStream(config: object): Promise<void> {
  await (await manager()).streams.add({
    ...{ name: `KV_${stage.bucket}`, subjects: [`$KV.${stage.bucket}.>`] },
    ...{ max_msgs_per_subject: 1, discard: 'new', allow_rollup_hdrs: true },
    ...config,
  })
}

async function configOf(): Promise<object> {
  return (await (await manager()).streams.info(`KV_${stage.bucket}`)).config
}

describe('starting', () => {
  it('makes a bucket on disk, without an age limit, without direct gets', async () => {
    await stage.store().start()
    expect(await configOf()).toMatchObject({
      ...{ storage: 'file', max_age: 0, max_msgs_per_subject: 1, num_replicas: 1 },
      ...{ discard: 'new', allow_direct: false, retention: 'limits' },
    })
    expect(stage.warnings).toEqual([])
  })

  it('from ten replicas at once makes one bucket', async () => {
    const stores = Array.from({ length: 10 }, () => stage.store())
    await Promise.all(stores.map((store) => store.start()))
    const schedules = stores.map((store) => store.schedules())
    await Promise.all(schedules.map((each) => each.register({ id: 'a', ...EVERY }, 0)))
    const claims = await Promise.all(schedules.map((each) => each.claimDue('a', 'o', 0, 10)))
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
  })

  it('again, or after a stop of another, changes nothing', async () => {
    const [first, second] = [stage.store(), stage.store()]
    await first.start()
    await first.start()
    await first.schedules().register({ id: 'a', ...EVERY }, 0)
    await first.stop()
    await second.schedules().start()
    expect(await second.schedules().list()).toHaveLength(1)
  })

  it('measures the clock of the server', async () => {
    const store = stage.store()
    await store.start()
    expect(Math.abs(store.clock().offsetMs)).toBeLessThan(1000)
  })

  it('with createBucket false refuses a bucket that does not exist, and makes none', async () => {
    const store = stage.store({ createBucket: false })
    await expect(store.start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/stream not found; create the bucket, or name another one$/),
    })
    await expect(configOf()).rejects.toThrow(/not found/)
    await stage.store().start()
    await store.start()
  })
})

describe('a bucket that exists', () => {
  it('keeps its settings, whatever serves', async () => {
    await makeStream({ max_msgs_per_subject: 7, allow_direct: true, max_bytes: 2 ** 20 })
    const config = await configOf()
    const schedules = stage.store().schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    for (let token = 1; token < 10; token++) await schedules.claimDue('a', 'o', token * 10, 5)
    expect(await schedules.list()).toMatchObject([{ id: 'a', fencingToken: 9 }])
    await schedules.delete('a')
    expect(await stage.store().purge(Date.now() + 1000)).toBe(1)
    expect(await stage.value('a')).toBeUndefined()
    expect(await configOf()).toEqual(config)
    expect(stage.warnings).toEqual([])
  })

  const REFUSED: Record<string, { config: object; says: RegExp }> = {
    'an age limit': { config: { max_age: 60_000_000_000 }, says: /max_age, TTL.*tokens go back/ },
    'room only for the newest': {
      config: { discard: 'old', max_bytes: 10_000 },
      says: /drops old values when it is full/,
    },
    'a stream that is a queue': { config: { retention: 'workqueue' }, says: /retention other/ },
    'no confirmations': { config: { no_ack: true }, says: /no_ack/ },
    'confirmations before values are kept': {
      config: { persist_mode: 'async' },
      says: /before it keeps them \(persist_mode async\)/,
    },
    'a mirror': {
      config: { subjects: undefined, mirror: { name: 'KV_elsewhere' }, discard: 'old' },
      says: /it mirrors another bucket/,
    },
    sources: { config: { sources: [{ name: 'KV_elsewhere' }] }, says: /from other streams/ },
  }
  it.each(Object.entries(REFUSED))('with %s is refused', async (_, { config, says }) => {
    await makeStream(config)
    const store = stage.store()
    const calls = [() => store.start(), () => store.schedules().register({ id: 'a', ...EVERY }, 0)]
    for (const call of calls) {
      const error = (await call().catch((thrown: unknown) => thrown)) as Error
      expect(error).toMatchObject({ code: 'STORE_FOREIGN_SCHEMA' })
      expect(error.message).toMatch(says)
      expect(error.message).toContain(`, bucket ${stage.bucket}: the bucket cannot be used: `)
    }
  })

  const WARNED: Record<string, { config: object; says: RegExp }> = {
    'kept in memory': { config: { storage: 'memory' }, says: /a restart of the server forgets/ },
    'with values that may expire': { config: { allow_msg_ttl: true }, says: /give values a TTL/ },
  }
  it.each(Object.entries(WARNED))('%s is warned of, once', async (_, { config, says }) => {
    await makeStream(config)
    const store = stage.store()
    await store.start()
    await store.schedules().start()
    expect(stage.warnings).toEqual([expect.stringMatching(says)])
  })
})

describe('a bucket that goes', () => {
  it('is not made anew by a running store, whose tokens would begin again', async () => {
    const store = stage.store()
    const schedules = store.schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    await schedules.claimDue('a', 'o', 0, 10)
    await (await stage.kv()).destroy()
    await expect(schedules.complete('a', 1, { nextRunAt: null }, 0)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
    for (const call of [
      () => schedules.get('a'),
      () => schedules.claimDue('a', 'o', 50, 10),
      () => store.start(),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'STORE_FOREIGN_SCHEMA',
        message: expect.stringMatching(/the bucket was deleted while the store was running/),
      })
    }
    await expect(configOf()).rejects.toThrow(/not found/)
  })

  it('and comes back empty is not taken for the old one', async () => {
    const [store, other] = [stage.store(), stage.store()]
    const schedules = store.schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    await schedules.claimDue('a', 'o', 0, 10)
    await (await stage.kv()).destroy()
    // In the new bucket the claim of another has the same revision and the same token.
    await other.schedules().register({ id: 'a', ...EVERY }, 0)
    await other.schedules().claimDue('a', 'other', 0, 10)
    await expect(store.clock().measure()).rejects.toMatchObject({
      code: 'STORE_FOREIGN_SCHEMA',
      message: expect.stringMatching(/deleted and created again while the store was running/),
    })
    await expect(schedules.complete('a', 1, { nextRunAt: null }, 0)).rejects.toMatchObject({
      code: 'STORE_FOREIGN_SCHEMA',
    })
    expect(await other.schedules().get('a')).toMatchObject({ leaseOwner: 'other' })
  })
})

describe('a server that refuses', () => {
  it('because nothing listens there is unavailable, and the error says where', async () => {
    const store = stage.store({ servers: 'nats://me:secret-word@127.0.0.1:1', timeoutMs: 3000 })
    for (const call of [() => store.start(), () => store.schedules().get('a')]) {
      const error = (await call().catch((thrown: unknown) => thrown)) as Error
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(error.message).toMatch(
        /^NatsStore at 127\.0\.0\.1:1, bucket .*; is nats-server running there, and can it/,
      )
      expect(error.message).not.toContain('secret-word')
    }
  })

  it('because of the password says so; the right one, from the URL, is taken', async () => {
    const server = await ownNatsServer(['--user', 'me', '--pass', 'a/b'], 'me:a/b@')
    try {
      const wrong = stage.store({ servers: `nats://me:secret-word@127.0.0.1:${server.port}` })
      const error = (await wrong.start().catch((thrown: unknown) => thrown)) as Error
      expect(error).toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/check the user, the password or the token/),
      })
      expect(error.message).not.toContain('secret-word')
      const right = stage.store({ servers: `nats://me:a%2Fb@127.0.0.1:${server.port}` })
      await right.start()
      expect(await right.schedules().list()).toEqual([])
      await right.stop()
    } finally {
      await server.stop()
    }
  })
})

describe('a stopped store', () => {
  it('refuses every call, and leaves a connection that was handed in open', async () => {
    const connection = await connect({ servers: stage.url })
    const store = stage.store({ connection })
    const schedules = store.schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    await store.stop()
    await store.stop()
    for (const call of [
      () => store.start(),
      () => schedules.get('a'),
      () => schedules.claimDue('a', 'o', 0, 10),
      () => store.leases().acquire('leader', 'o', 10),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    }
    expect(connection.isClosed()).toBe(false)
    await connection.close()
  })

  it('that never started stops too', async () => {
    await stage.store().stop()
  })

  it('is unavailable rather, when the connection that was handed in is closed', async () => {
    const connection = await connect({ servers: stage.url })
    const store = stage.store({ connection })
    await store.start()
    await connection.close()
    await expect(store.schedules().get('a')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/the connection is closed; give a store/),
    })
  })
})

describe('options', () => {
  const servers = 'nats://host:4222'
  const MISUSE: Record<string, { options: object; says: RegExp }> = {
    'neither servers nor connection': { options: {}, says: /give either servers or a connection/ },
    'both of them': { options: { servers, connection: {} }, says: /give either servers/ },
    'a connection that is none': { options: { connection: {} }, says: /^connection: must be/ },
    'no server': { options: { servers: [] }, says: /at least one server/ },
    'a server that is no text': { options: { servers: 5 }, says: /^servers: each must be/ },
    'an empty server': { options: { servers: '' }, says: /^servers: each must be/ },
    'a URL of another kind': { options: { servers: 'https://host' }, says: /^servers: each must/ },
    'a bucket with a dot': { options: { servers, bucket: 'a.b' }, says: /^bucket: must be/ },
    'an empty bucket': { options: { servers, bucket: '' }, says: /^bucket: must be/ },
    'two copies': { options: { servers, replicas: 2 }, says: /^replicas: must be 1, 3 or 5/ },
    'no time': { options: { servers, timeoutMs: 0 }, says: /^timeoutMs: must be a positive/ },
  }
  it.each(Object.entries(MISUSE))('%s: refused at once', (_, { options, says }) => {
    const create = () => new NatsStore(options as NatsStoreOptions)
    expect(create).toThrow(says)
    expect(create).not.toThrow(/secret/)
  })
})
