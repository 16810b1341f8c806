// Keys that somebody damaged: told of by key, field and remedy; never claimed, never overwritten;
// and no reason for the others to wait.

import { beforeEach, describe, expect, it } from 'vitest'
import type { CronfenceError } from '../../../src/errors.ts'
import type { RedisStore } from '../../../src/store/redis/index.ts'
import { dueTask, RedisStage } from './redis-stage.ts'

const stage = new RedisStage('damage')

/** What is done to the key of a task that is due and free, and what is said of it. */
const DAMAGES: Record<string, { command: string[]; says: string }> = {
  'no token': { command: ['HDEL', 'fencingToken'], says: 'fencingToken must be from 0' },
  'a token that is no number': {
    command: ['HSET', 'fencingToken', 'many'],
    says: 'fencingToken must be from 0 to 2^53 - 1, found "many"',
  },
  'a negative token': { command: ['HSET', 'fencingToken', '-1'], says: 'fencingToken must be' },
  'a token in hexadecimal': { command: ['HSET', 'fencingToken', '0x5'], says: 'fencingToken must' },
  'a token with a fraction': {
    command: ['HSET', 'fencingToken', '1.5'],
    says: 'fencingToken must',
  },
  'a token with an exponent': { command: ['HSET', 'fencingToken', '1e3'], says: 'fencingToken' },
  'a token with a blank': { command: ['HSET', 'fencingToken', ' 5'], says: 'fencingToken must be' },
  'an empty token': { command: ['HSET', 'fencingToken', ''], says: 'fencingToken must be' },
  'a token of 2^53': {
    command: ['HSET', 'fencingToken', '9007199254740992'],
    says: 'fencingToken must be from 0 to 2^53 - 1, found "9007199254740992"',
  },
  'a token beyond 2^53': {
    command: ['HSET', 'fencingToken', '9007199254740993'],
    says: 'fencingToken must be',
  },
  'a token of very many zeros': {
    command: ['HSET', 'fencingToken', '000000000000000005'],
    says: 'is not written as a plain integer',
  },
  'a token that is infinite': { command: ['HSET', 'fencingToken', 'inf'], says: 'fencingToken' },
  'no slot': { command: ['HDEL', 'nextRunAt'], says: 'nextRunAt must be an integer' },
  'a slot that is no number': { command: ['HSET', 'nextRunAt', 'nan'], says: 'nextRunAt must be' },
  'a slot beyond 2^53': {
    command: ['HSET', 'nextRunAt', '-9007199254740993'],
    says: 'nextRunAt must be an integer within',
  },
  'a last slot that is no number': { command: ['HSET', 'lastRunAt', 'x'], says: 'lastRunAt must' },
  'no time of change': { command: ['HDEL', 'updatedAt'], says: 'updatedAt must be an integer' },
  'a kind of its own': { command: ['HSET', 'kind', 'daily'], says: 'kind must be one of cron,' },
  'no kind': { command: ['HDEL', 'kind'], says: 'kind must be one of cron, every, delay' },
  'no spec': { command: ['HDEL', 'spec'], says: 'spec must be text, found nothing' },
  'an empty spec': { command: ['HSET', 'spec', ''], says: 'spec must be text, found ""' },
  'no field for an owner': { command: ['HDEL', 'leaseOwner'], says: 'leaseOwner must be text' },
  'no field for a mark': { command: ['HDEL', 'mark'], says: 'mark must be text' },
  'an owner without a deadline': {
    command: ['HSET', 'leaseOwner', 'o'],
    says: 'leaseOwner and leaseUntil: one is set and the other is not',
  },
  'a deadline without an owner': {
    command: ['HSET', 'leaseUntil', '0'],
    says: 'leaseOwner and leaseUntil: one is set and the other is not',
  },
  'a tombstone without a number': {
    command: ['HSET', 'deletedAt', 'x'],
    says: 'deletedAt must be',
  },
}

/** Keys of another type in its place. */
const TYPES: Record<string, string[]> = {
  string: ['SET', 'x'],
  list: ['RPUSH', 'x'],
  set: ['SADD', 'x'],
  zset: ['ZADD', '1', 'x'],
  stream: ['XADD', '*', 'a', 'b'],
}

const bad = 'bad'
let heard: CronfenceError[] = []
let store: RedisStore
beforeEach(async () => {
  heard = []
  store = stage.store({ onDamaged: (error) => heard.push(error) })
  for (const id of [bad, 'good']) await store.schedules().register(dueTask(id), 0)
})

const key = () => stage.key(`sched:${bad}`)
const dump = () => stage.redis.dumpBuffer(key())

const cases = [
  ...Object.entries(DAMAGES).map(([name, { command, says }]) => {
    const [verb = '', ...args] = command
    const apply = async () => stage.redis.call(verb, key(), ...args)
    return [name, apply, says] as const
  }),
  ...Object.entries(TYPES).map(([type, [verb = '', ...args]]) => {
    const apply = async () => {
      await stage.redis.del(key())
      await stage.redis.call(verb, key(), ...args)
    }
    return [`the type ${type}`, apply, `it is a ${type}, and must be a hash`] as const
  }),
]

describe.each(cases)('a key with %s', (_name, apply, says) => {
  beforeEach(apply)

  it('is told of by every call for it, and left as it is', async () => {
    const before = await dump()
    const schedules = store.schedules()
    const changed = { ...dueTask(bad), spec: '2' }
    const calls: Record<string, () => Promise<unknown>> = {
      get: () => schedules.get(bad),
      register: () => schedules.register(changed, 0),
      registerMany: () => schedules.registerMany([changed], 0),
      claimDue: () => schedules.claimDue(bad, 'owner', 0, 10),
      renew: () => schedules.renew(bad, 0, 10),
      complete: () => schedules.complete(bad, 0, { nextRunAt: 1 }, 0),
      delete: () => schedules.delete(bad),
    }
    for (const [method, call] of Object.entries(calls)) {
      const error = await call().catch((thrown: unknown) => thrown)
      expect(error, method).toMatchObject({ code: 'STORE_DAMAGED_RECORD' })
      const { message, details } = error as CronfenceError
      expect(message).toContain(`Key "{cronfence-test-damage}:sched:bad": `)
      expect(message).toContain(says)
      expect(message).toMatch(
        /It is left as it is: repair it, or remove it, token and all, with DEL$/,
      )
      expect(details).toEqual({ key: '{cronfence-test-damage}:sched:bad', id: bad })
    }
    await store.purge(9e15)
    expect(await dump()).toEqual(before)
  })

  it('does not stop the others, and is reported once', async () => {
    const before = await dump()
    const schedules = store.schedules()
    const ids = [bad, 'good']
    expect((await schedules.list()).map(({ id }) => id)).toEqual(['good'])
    // Of a row that is there, null would be a lie.
    await expect(schedules.getMany(ids)).rejects.toMatchObject({
      code: 'STORE_DAMAGED_RECORD',
      answers: [{ code: 'STORE_DAMAGED_RECORD' }, { id: 'good' }],
    })
    const claims = await schedules.claimDueMany(ids, 'owner', 0, 10)
    expect(claims.map((claim) => claim?.fencingToken)).toEqual([undefined, 1])
    const renewals = ids.map((id) => ({ id, fencingToken: 1, leaseUntil: 9 }))
    expect(await schedules.renewMany(renewals)).toEqual([false, true])
    const completions = ids.map((id) => ({ id, fencingToken: 1, patch: { nextRunAt: 5 } }))
    expect(await schedules.completeMany(completions, 0)).toEqual([false, true])
    expect(heard).toHaveLength(1)
    expect(await dump()).toEqual(before)
  })
})

it('the remedy that is told removes the key', async () => {
  await stage.redis.hdel(key(), 'spec')
  await expect(store.schedules().get(bad)).rejects.toMatchObject({ code: 'STORE_DAMAGED_RECORD' })
  await stage.redis.del(key())
  expect(await store.schedules().get(bad)).toBeNull()
  expect(await store.schedules().list()).toHaveLength(1)
})

describe.each([
  ['no token', ['HDEL', 'fencingToken']],
  ['a token that is no number', ['HSET', 'fencingToken', 'x']],
  ['a deadline that is no number', ['HSET', 'until', 'x']],
  ['no owner', ['HDEL', 'owner']],
] as const)('a lease with %s', (_name, [verb, ...args]) => {
  it('is told of and left as it is', async () => {
    const leases = store.leases()
    await leases.acquire('leader', 'first', 1)
    const leaseKey = stage.key('lease:leader')
    await stage.redis.call(verb, leaseKey, ...args)
    const before = await stage.redis.hgetall(leaseKey)
    const calls = [
      () => leases.acquire('leader', 'first', 1),
      () => leases.renew('leader', 1, 1),
      () => leases.release('leader', 1),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({
        code: 'STORE_DAMAGED_RECORD',
        message: expect.stringMatching(
          /^Key "\{cronfence-test-damage\}:lease:leader": it must have owner/,
        ),
      })
    }
    expect(await stage.redis.hgetall(leaseKey)).toEqual(before)
  })
})

it('a lease in the place of another type is told of', async () => {
  await stage.redis.set(stage.key('lease:leader'), 'x')
  await expect(store.leases().acquire('leader', 'first', 1)).rejects.toMatchObject({
    code: 'STORE_DAMAGED_RECORD',
    message: expect.stringContaining('it is a string, and must be a hash'),
  })
})
