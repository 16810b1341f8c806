// What is in the bucket: keys, values, tombstones; and values that are not ours to read.

import { describe, expect, it } from 'vitest'
import type { CronfenceError } from '../../../src/errors.ts'
import { EVERY, natsStage, scheduleKey } from './stage.ts'

const stage = natsStage()

const GOOD = {
  ...{ version: 1, write: 'w', id: 'bad', kind: 'every', spec: '1', nextRunAt: 0 },
  ...{ fencingToken: 3, updatedAt: 0 },
}

/** What stands under the key of `bad`, and what is said of it. */
const DAMAGES: Record<string, { text: string; says: RegExp }> = {
  'no JSON': { text: 'hello', says: /it is not a JSON object/ },
  nothing: { text: '', says: /it is not a JSON object/ },
  'an array': { text: '[1]', says: /it is not a JSON object/ },
  'JSON of somebody else': { text: '{"a":1}', says: /version must be a version, up to 1/ },
  'a version of text': { text: changed({ version: '1' }), says: /version must be/ },
  'version 0': { text: changed({ version: 0 }), says: /version must be/ },
  'the value of another id': { text: changed({ id: 'good' }), says: /id is of another key/ },
  'no name of its write': { text: changed({ write: 5 }), says: /write must be text, found 5/ },
  'no token': { text: changed({ fencingToken: undefined }), says: /fencingToken must be from 0/ },
  'a token of text': { text: changed({ fencingToken: '3' }), says: /fencingToken must be from 0/ },
  'a negative token': { text: changed({ fencingToken: -1 }), says: /fencingToken must be from 0/ },
  'a token beyond 2^53': {
    text: changed({}).replace('"fencingToken":3', '"fencingToken":9007199254740993'),
    says: /fencingToken must be from 0 to 2\^53 - 1, found 9007199254740992/,
  },
  'a token with a fraction': { text: changed({ fencingToken: 1.5 }), says: /fencingToken must be/ },
  'a slot beyond 2^53': { text: changed({ nextRunAt: 2 ** 53 }), says: /nextRunAt must be an int/ },
  'no slot': { text: changed({ nextRunAt: undefined }), says: /nextRunAt must be an integer/ },
  'a last slot of null': { text: changed({ lastRunAt: null }), says: /lastRunAt must be/ },
  'no time of change': { text: changed({ updatedAt: null }), says: /updatedAt must be an integer/ },
  'a kind of its own': { text: changed({ kind: 'daily' }), says: /kind must be one of cron, ev/ },
  'an empty spec': { text: changed({ spec: '' }), says: /spec must be text, found ""/ },
  'an owner without a deadline': {
    text: changed({ leaseOwner: 'o' }),
    says: /leaseOwner and leaseUntil: one is there and the other is not/,
  },
  'a deadline without an owner': {
    text: changed({ leaseUntil: 0 }),
    says: /leaseOwner and leaseUntil: one is there and the other is not/,
  },
  'a tombstone without an instant': {
    text: changed({ deletedAt: 'yesterday' }),
    says: /deletedAt must be an integer/,
  },
}

function changed(fields: object): string {
  return JSON.stringify({ ...GOOD, ...fields })
}

describe('a value', () => {
  it('has a version, the token, and the id beside its encoded key', async () => {
    const schedules = stage.store().schedules()
    await schedules.register({ id: 'nightly report', ...EVERY }, 5)
    await schedules.claimDue('nightly report', 'me', 5, 10)
    expect(scheduleKey('nightly report')).toBe('schedule.bmlnaHRseSByZXBvcnQ')
    expect(await stage.value('nightly report')).toEqual({
      ...{ version: 1, write: expect.any(String), id: 'nightly report', ...EVERY },
      ...{ leaseOwner: 'me', leaseUntil: 15, fencingToken: 1, updatedAt: 5 },
    })
  })

  it('has its token from itself, not from the revision', async () => {
    const schedules = stage.store().schedules()
    await schedules.register({ id: 'other', ...EVERY }, 0)
    await schedules.register({ id: 'a', ...EVERY }, 0)
    for (let token = 1; token <= 3; token++) {
      expect((await schedules.claimDue('a', 'me', token * 10, 5))?.fencingToken).toBe(token)
    }
    const entry = await (await stage.kv()).get(scheduleKey('a'))
    expect(entry?.revision).toBeGreaterThan(3)
  })

  it('stays as a tombstone with the token when the task is deleted', async () => {
    const schedules = stage.store().schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    await schedules.claimDue('a', 'me', 0, 10)
    await schedules.delete('a')
    expect(await stage.value('a')).toMatchObject({ id: 'a', fencingToken: 1 })
    expect(await schedules.list()).toEqual([])
    const again = await stage
      .store()
      .schedules()
      .register({ id: 'a', ...EVERY }, 0)
    expect(again.fencingToken).toBe(1)
  })

  it('of an id of 1024 bytes lives a whole life', async () => {
    const schedules = stage.store().schedules()
    const ids = ['x'.repeat(1024), '\u{10FFFF}'.repeat(256), `${'.*>/ '.repeat(204)}abcd`]
    await schedules.registerMany(
      ids.map((id) => ({ id, ...EVERY })),
      0,
    )
    const claims = await schedules.claimDueMany(ids, 'me', 0, 10)
    expect(claims.map((claim) => claim?.record.id)).toEqual(ids)
    expect((await schedules.list()).map(({ id }) => id).sort()).toEqual([...ids].sort())
    for (const id of ids) await schedules.delete(id)
    expect(await schedules.getMany(ids)).toEqual([null, null, null])
  })
})

describe('a key that another tool deleted', () => {
  it.each(['delete', 'purge'] as const)('by %s goes on with a higher token', async (method) => {
    const schedules = stage.store().schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    await schedules.claimDue('a', 'me', 0, 10)
    await (await stage.kv())[method](scheduleKey('a'))
    expect(await schedules.get('a')).toBeNull()
    expect(await schedules.renew('a', 1, 99)).toBe(false)
    expect(await schedules.list()).toEqual([])
    const { fencingToken } = await schedules.register({ id: 'a', ...EVERY }, 0)
    expect(fencingToken).toBeGreaterThanOrEqual(1)
    expect((await schedules.claimDue('a', 'me', 0, 10))?.fencingToken).toBe(fencingToken + 1)
    expect(await schedules.complete('a', 1, { nextRunAt: null }, 0)).toBe(false)
  })
})

describe.each(Object.entries(DAMAGES))('a key with %s', (_, { text, says }) => {
  it('is told of by every call for it, and left as it is; others go on', async () => {
    const schedules = stage.store().schedules()
    await schedules.register({ id: 'good', ...EVERY }, 0)
    await stage.put('bad', text)
    const bad = { id: 'bad', ...EVERY }
    const calls: Record<string, () => Promise<unknown>> = {
      get: () => schedules.get('bad'),
      register: () => schedules.register(bad, 0),
      registerMany: () => schedules.registerMany([bad], 0),
      claimDue: () => schedules.claimDue('bad', 'owner', 0, 10),
      renew: () => schedules.renew('bad', 3, 10),
      complete: () => schedules.complete('bad', 3, { nextRunAt: null }, 0),
      delete: () => schedules.delete('bad'),
    }
    const key = scheduleKey('bad')
    for (const [method, call] of Object.entries(calls)) {
      const error = (await call().catch((thrown: unknown) => thrown)) as CronfenceError
      expect(error, method).toMatchObject({ code: 'STORE_DAMAGED_RECORD' })
      expect(error.message).toMatch(says)
      expect(error.message).toContain(`bucket ${stage.bucket}, key ${key} ("bad"): `)
      expect(error.message).toContain(
        `remove it, token and all, with: nats kv del ${stage.bucket} ${key}`,
      )
      expect(error.details).toEqual({ bucket: stage.bucket, key })
    }
    // Of a value that is there, null would be a lie.
    await expect(schedules.getMany(['bad', 'good'])).rejects.toMatchObject({
      code: 'STORE_DAMAGED_RECORD',
      answers: [{ code: 'STORE_DAMAGED_RECORD' }, { id: 'good' }],
    })
    const claims = await schedules.claimDueMany(['bad', 'good'], 'owner', 0, 10)
    expect(claims.map((claim) => claim?.fencingToken)).toEqual([undefined, 1])
    expect((await schedules.list()).map(({ id }) => id)).toEqual(['good'])
    expect(stage.damages).toHaveLength(1)
    expect((await (await stage.kv()).get(key))?.string()).toBe(text)
  })
})

describe('a value of a newer release', () => {
  it('is refused by its version, and left as it is', async () => {
    const schedules = stage.store().schedules()
    await schedules.start()
    const text = changed({ version: 2, kind: 'lunar' })
    await stage.put('bad', text)
    for (const call of [
      () => schedules.get('bad'),
      () => schedules.register({ id: 'bad', ...EVERY }, 0),
      () => schedules.claimDue('bad', 'owner', 0, 10),
      () => schedules.delete('bad'),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'STORE_NEWER_SCHEMA',
        message: expect.stringMatching(/key schedule\.YmFk \("bad"\): the value has version 2/),
        details: { isOneRow: true },
      })
    }
    expect(await schedules.list()).toEqual([])
    expect(stage.damages).toMatchObject([{ code: 'STORE_NEWER_SCHEMA' }])
    expect((await (await stage.kv()).get(scheduleKey('bad')))?.string()).toBe(text)
  })
})

describe('a lease', () => {
  it('that cannot be read is told of, and left as it is', async () => {
    const leases = stage.store().leases()
    await leases.acquire('leader', 'first', 1)
    const kv = await stage.kv()
    await kv.put('lease.bGVhZGVy', '{"version":1,"write":"w","name":"leader"}')
    const store = stage.store()
    await expect(store.leases().acquire('leader', 'first', 1)).rejects.toMatchObject({
      code: 'STORE_DAMAGED_RECORD',
      message: expect.stringMatching(/key lease\.bGVhZGVy \("leader"\): fencingToken must be/),
    })
  })
})

describe('keys of others in the bucket', () => {
  it('are left alone', async () => {
    const schedules = stage.store().schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    const kv = await stage.kv()
    await kv.put('run.report.2026-01-01', 'theirs')
    await kv.put('schedule.deeper.key', 'theirs')
    expect(await schedules.list()).toHaveLength(1)
    expect(await stage.store().purge(Date.now() + 1000)).toBe(0)
    expect((await kv.get('run.report.2026-01-01'))?.string()).toBe('theirs')
  })
})

describe('purge', () => {
  it('removes old tombstones only, and no token goes back', async () => {
    const store = stage.store()
    const schedules = store.schedules()
    for (const id of ['old', 'live']) {
      await schedules.register({ id, ...EVERY }, 0)
      for (let token = 1; token <= 4; token++) await schedules.claimDue(id, 'me', token * 10, 5)
    }
    await schedules.delete('old')
    expect(await store.purge(0)).toBe(0)
    expect(await store.purge(Date.now() + 1000)).toBe(1)
    expect(await store.purge(Date.now() + 1000)).toBe(0)
    expect(await stage.value('old')).toBeUndefined()
    expect(await schedules.get('live')).toMatchObject({ fencingToken: 4 })
    // Of a store that saw the tombstone, and of one that did not.
    expect((await schedules.register({ id: 'old', ...EVERY }, 0)).fencingToken).toBe(4)
    const fresh = await stage
      .store()
      .schedules()
      .register({ id: 'new', ...EVERY }, 0)
    expect(fresh.fencingToken).toBe(4)
  })

  it('beside registrations of the same ids loses none of them', async () => {
    const [one, other] = [stage.store(), stage.store()]
    const schedules = one.schedules()
    const ids = Array.from({ length: 50 }, (_, index) => `id ${index}`)
    const plans = ids.map((id) => ({ id, ...EVERY }))
    for (let round = 1; round <= 5; round++) {
      await schedules.registerMany(plans, 0)
      const claims = await schedules.claimDueMany(ids, 'me', 0, 10)
      expect(Math.min(...claims.map((claim) => claim?.fencingToken ?? 0))).toBe(round)
      await Promise.all(ids.map((id) => schedules.delete(id)))
      const [rows] = await Promise.all([
        schedules.registerMany(plans, 0),
        other.purge(Date.now() + 1000),
      ])
      expect(rows.map(({ fencingToken }) => fencingToken)).toEqual(ids.map(() => round))
      expect((await schedules.getMany(ids)).every((row) => row !== null)).toBe(true)
      await Promise.all(ids.map((id) => schedules.delete(id)))
    }
  })
})
