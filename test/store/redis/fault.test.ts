// What networks do to a store on Redis in the middle of its work, command by command: replies that
// are lost, connections that end or go silent, with our own client and with clients handed in.

import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RedisStore } from '../../../src/store/redis/index.ts'
import { type Direction, startProxy, type TcpProxy } from '../../support/proxy.ts'
import { dueTask, RedisStage } from './redis-stage.ts'
import { emptyKeys } from './subjects.ts'

const stage = new RedisStage('fault')
const LEASE_MS = 60_000

/** Every call that writes: what leads up to it, the call, and what it answers. */
const WRITES: Record<
  string,
  {
    before?: (store: RedisStore) => Promise<unknown>
    call: (store: RedisStore) => Promise<unknown>
    answer: unknown
  }
> = {
  register: {
    call: (store) => store.schedules().register(dueTask('new'), 0),
    answer: expect.objectContaining({ id: 'new', fencingToken: 0 }),
  },
  claimDue: {
    call: (store) => store.schedules().claimDue('a', 'owner', 0, LEASE_MS),
    answer: expect.objectContaining({ fencingToken: 1, takenOver: false }),
  },
  'claimDue of a lease that lapsed': {
    before: (store) => store.schedules().claimDue('a', 'first', 0, 1),
    call: (store) => store.schedules().claimDue('a', 'owner', 5, LEASE_MS),
    answer: expect.objectContaining({ fencingToken: 2, takenOver: true }),
  },
  claimDueMany: {
    call: (store) => store.schedules().claimDueMany(['a', 'b'], 'owner', 0, LEASE_MS),
    answer: [
      expect.objectContaining({ fencingToken: 1 }),
      expect.objectContaining({ fencingToken: 1 }),
    ],
  },
  renew: {
    before: (store) => store.schedules().claimDue('a', 'owner', 0, LEASE_MS),
    call: (store) => store.schedules().renew('a', 1, 99),
    answer: true,
  },
  complete: {
    before: (store) => store.schedules().claimDue('a', 'owner', 0, LEASE_MS),
    call: (store) => store.schedules().complete('a', 1, { nextRunAt: 7, lastRunAt: 0 }, 3),
    answer: true,
  },
  completeMany: {
    before: (store) => store.schedules().claimDueMany(['a', 'b'], 'owner', 0, LEASE_MS),
    call: (store) =>
      store.schedules().completeMany(
        ['a', 'b'].map((id) => ({ id, fencingToken: 1, patch: { nextRunAt: 7 } })),
        3,
      ),
    answer: [true, true],
  },
  delete: {
    before: (store) => store.schedules().claimDue('a', 'owner', 0, LEASE_MS),
    call: (store) => store.schedules().delete('a', 1),
    answer: undefined,
  },
}

let proxy: TcpProxy
let direct: RedisStore
beforeAll(async () => {
  proxy = await startProxy(Number(new URL(stage.url).port))
})
afterAll(() => proxy.close())
beforeEach(async () => {
  proxy.rule = () => 'pass'
  await setOut()
})

/** Two tasks, and a store that has seen nothing else. */
async function setOut(): Promise<void> {
  await emptyKeys(stage.redis, stage.prefix)
  direct = stage.store({ clock: { ...fixedClock } })
  for (const id of ['a', 'b']) await direct.schedules().register(dueTask(id), 0)
}

// Tombstones carry an instant: it must be the same in what is compared.
const fixedClock = {
  now: () => 1000,
  monotonic: () => performance.now(),
  setTimer: () => ({ cancel: () => {}, unref: () => {} }),
}

const proxied = () => {
  const target = new URL(stage.url)
  target.port = String(proxy.port)
  return target.href
}

/** Does `verdict` to the first script from now on, or to the reply to it; then all is well. */
function interfere(where: Direction, verdict: 'cut' | 'hold'): void {
  let wasSent = false
  let isOver = false
  proxy.rule = (direction, bytes) => {
    if (isOver) return 'pass'
    const isScript = direction === 'request' && /EVALSHA/i.test(bytes.toString('latin1'))
    wasSent ||= isScript
    isOver = where === 'request' ? isScript : wasSent && direction === 'reply'
    return isOver ? verdict : 'pass'
  }
}

/** All keys of the store as they are, without the marks, which name a call. */
async function snapshot(): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {}
  for (const key of (await stage.redis.keys(stage.key('*'))).sort()) {
    if ((await stage.redis.type(key)) === 'set') all[key] = (await stage.redis.smembers(key)).sort()
    else all[key] = { ...(await stage.redis.hgetall(key)), mark: '' }
  }
  return all
}

/** The keys after `name` went well, and as they are before the call that is interfered with. */
async function rehearse(name: keyof typeof WRITES) {
  const { before, call } = WRITES[name]!
  await before?.(direct)
  const start = await snapshot()
  await call(direct)
  const done = await snapshot()
  await setOut()
  await before?.(direct)
  expect(await snapshot()).toEqual(start)
  return { start, done }
}

describe.each(Object.keys(WRITES))('%s over our own client', (name) => {
  const { call } = WRITES[name]!
  const open = async () => {
    const store = stage.store({ url: proxied(), clock: { ...fixedClock } })
    await store.schedules().get('a')
    return store
  }

  it('whose reply is lost has an open outcome, and was done once', async () => {
    const { done } = await rehearse(name)
    const store = await open()
    interfere('reply', 'cut')
    await expect(call(store)).rejects.toMatchObject({
      code: 'STORE_OUTCOME_UNKNOWN',
      message: expect.stringMatching(/ at 127.*; the change may or may not have been made$/),
    })
    // The same store goes on over a new connection.
    expect(await store.schedules().get('b')).not.toBeUndefined()
    expect(await snapshot()).toEqual(done)
  })

  it('whose request is lost has an open outcome, and was not done', async () => {
    const { start } = await rehearse(name)
    const store = await open()
    interfere('request', 'cut')
    await expect(call(store)).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    expect(await store.schedules().get('b')).not.toBeUndefined()
    expect(await snapshot()).toEqual(start)
  })
})

describe.each(Object.keys(WRITES))('%s over a client that sends again by itself', (name) => {
  const { call, answer } = WRITES[name]!

  it('whose reply is lost is done once, and answers what it did', async () => {
    const { done } = await rehearse(name)
    const client = new Redis(proxied())
    client.on('error', () => {})
    const store = stage.store({ client, clock: { ...fixedClock } })
    await store.schedules().get('a')
    interfere('reply', 'cut')
    expect(await call(store)).toEqual(answer)
    expect(await snapshot()).toEqual(done)
    client.disconnect()
  })
})

describe.each(Object.keys(WRITES))('%s over node-redis', (name) => {
  const { call } = WRITES[name]!

  it('whose reply is lost has an open outcome, and was done once', async () => {
    const { done } = await rehearse(name)
    const client = createClient({ url: proxied() })
    client.on('error', () => {})
    await client.connect()
    const store = stage.store({ client, clock: { ...fixedClock } })
    await store.schedules().get('a')
    interfere('reply', 'cut')
    await expect(call(store)).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    expect(await store.schedules().get('b')).not.toBeUndefined()
    expect(await snapshot()).toEqual(done)
    client.destroy()
  })
})

describe('a lease', () => {
  it('whose reply is lost is taken again by its owner, under a new token', async () => {
    const store = stage.store({ url: proxied() })
    await store.schedules().get('a')
    await direct.leases().acquire('another', 'me', LEASE_MS) // The server knows the script now.
    const acquire = () => store.leases().acquire('leader', 'me', LEASE_MS)
    interfere('reply', 'cut')
    await expect(acquire()).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    expect((await acquire())?.fencingToken).toBe(2)
    expect(await direct.leases().acquire('leader', 'other', LEASE_MS)).toBeNull()
  })
})

describe('a connection', () => {
  it('that ends while it reads is no riddle', async () => {
    const store = stage.store({ url: proxied() })
    await store.schedules().get('a')
    interfere('reply', 'cut')
    await expect(store.schedules().get('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await store.schedules().get('a')).toMatchObject({ id: 'a' })
  })

  it('that ended while nobody used it is replaced without a word', async () => {
    const store = stage.store({ url: proxied() })
    for (let round = 1; round <= 5; round++) {
      expect((await store.schedules().claimDue('a', 'o', round * 10, 1))?.fencingToken).toBe(round)
      proxy.cut()
      // Both ends are in this process: the end of the connection is heard of within some turns.
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    }
  })

  it('that goes silent is given up; what arrives late changes no newer claim', async () => {
    await direct.schedules().claimDue('a', 'first', 0, 10)
    const store = stage.store({ url: proxied(), timeoutMs: 300 })
    await store.schedules().get('a')
    interfere('request', 'hold')
    const renewal = store.schedules().renew('a', 1, 99)
    await expect(renewal).rejects.toMatchObject({
      code: 'STORE_OUTCOME_UNKNOWN',
      message: expect.stringContaining('the script took more than 300 ms'),
    })
    expect((await direct.schedules().claimDue('a', 'second', 20, 10))?.fencingToken).toBe(2)
    const row = await direct.schedules().get('a')
    // Over a new connection: the silent one was left behind.
    expect(await store.schedules().get('a')).toEqual(row)
    proxy.release()
    expect(await store.schedules().get('a')).toEqual(row)
  })

  it('that goes silent under many requests is closed once', async () => {
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    const store = stage.store({ url: proxied(), timeoutMs: 300 })
    await store.schedules().get('a')
    proxy.rule = () => 'hold'
    const calls = Array.from({ length: 20 }, () => store.schedules().renew('a', 1, 99))
    const outcomes = await Promise.allSettled(calls)
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
    await new Promise(setImmediate) // Warnings come a turn later.
    process.off('warning', hear)
    expect(warnings).toEqual([])
  })

  it('that goes silent while it is opened is given up, and nothing was done', async () => {
    proxy.rule = () => 'hold'
    const store = stage.store({ url: proxied(), timeoutMs: 300 })
    await expect(store.schedules().register(dueTask('new'), 0)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/connecting took more than 300 ms.*reachable\?$/),
    })
    proxy.rule = () => 'pass'
    proxy.cut()
    expect(await store.schedules().get('new')).toBeNull()
  })

  it('that is cut at any message of a life leaves a life that goes on, tokens rising', async () => {
    const store = stage.store({ url: proxied() })
    const schedules = store.schedules()
    let last = 0
    for (let cutAt = 1; cutAt <= 40; cutAt++) {
      let messages = 0
      proxy.rule = () => (++messages === cutAt ? 'cut' : 'pass')
      const now = cutAt * 10
      try {
        const claim = await schedules.claimDue('a', `owner ${cutAt}`, now, 5)
        if (claim) await schedules.complete('a', claim.fencingToken, { nextRunAt: 0 }, now)
      } catch (error) {
        const { code } = error as { code: string }
        expect(code).toMatch(/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/)
      }
      const token = (await direct.schedules().get('a'))?.fencingToken ?? 0
      expect(token - last === 0 || token - last === 1).toBe(true)
      last = token
    }
    expect(last).toBeGreaterThan(15)
  })
})
