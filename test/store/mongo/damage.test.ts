// Documents that were edited by hand or restored in part: the store says which and what to do, and
// leaves them as they are.

import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CronfenceError } from '../../../src/errors.ts'
import { Scheduler, type StoreErrorEvent } from '../../../src/index.ts'
import type { MongoStore } from '../../../src/store/mongo/index.ts'
import { VirtualClock } from '../../../src/testing/index.ts'
import { dueTask, MongoStage } from './stage.ts'

const stage = new MongoStage('damage')
let store: MongoStore
beforeAll(async () => {
  store = stage.store()
  await store.start()
}, 300_000)
beforeEach(() => stage.empty())

/** What is set, or taken away, and what is said of it. */
const DAMAGES: Record<string, { set?: object; unset?: string; says: string }> = {
  'no token': {
    unset: 'fencingToken',
    says: 'fencingToken must be from 0 to 2^53 - 1, found nothing',
  },
  'null for a token': {
    set: { fencingToken: null },
    says: 'fencingToken must be from 0 to 2^53 - 1, found null',
  },
  'a token of text': {
    set: { fencingToken: 'seven' },
    says: 'fencingToken must be from 0 to 2^53 - 1, found "seven"',
  },
  'a negative token': {
    set: { fencingToken: -1n },
    says: 'fencingToken must be from 0 to 2^53 - 1, found -1',
  },
  'a token beyond 2^53': {
    set: { fencingToken: 2n ** 53n },
    says: 'fencingToken must be from 0 to 2^53 - 1, found 9007199254740992',
  },
  'a token that is a double beyond 2^53': {
    set: { fencingToken: 2 ** 53 },
    says: 'fencingToken must be from 0 to 2^53 - 1, found 9007199254740992',
  },
  'half a token': {
    set: { fencingToken: 1.5 },
    says: 'fencingToken must be from 0 to 2^53 - 1, found 1.5',
  },
  'a slot of text': { set: { nextRunAt: 'noon' }, says: 'nextRunAt must be an integer within' },
  'no slot at all': { unset: 'nextRunAt', says: 'nextRunAt must be an integer within' },
  'a slot that is a date': {
    set: { nextRunAt: new Date(0) },
    says: 'nextRunAt must be an integer within',
  },
  'a slot beyond 2^53': {
    set: { nextRunAt: 2n ** 60n },
    says: 'nextRunAt must be an integer within',
  },
  'a last slot of text': { set: { lastRunAt: 'x' }, says: 'lastRunAt must be an integer within' },
  'no instant of change': { unset: 'updatedAt', says: 'updatedAt must be an integer within' },
  'a kind of its own': {
    set: { kind: 'daily' },
    says: 'kind must be one of cron, every, delay, found "daily"',
  },
  'no kind': { unset: 'kind', says: 'kind must be one of cron, every, delay, found nothing' },
  'an empty spec': { set: { spec: '' }, says: 'spec must be text, found ""' },
  'a spec that is a document': {
    set: { spec: { at: 5n } },
    says: 'spec must be text, found {"at":"5"}',
  },
  'an owner without a deadline': {
    set: { leaseOwner: 'o' },
    says: 'leaseOwner and leaseUntil: one is set and the other is not',
  },
  'a deadline without an owner': {
    set: { leaseUntil: 0n },
    says: 'leaseOwner and leaseUntil: one is set and the other is not',
  },
  'no name of its last write': { unset: 'write', says: 'write must be text, found nothing' },
  'a past of another kind': { set: { past: 5 }, says: 'past must be an array of texts, found 5' },
}

describe.each(Object.entries(DAMAGES))('a document with %s', (name, { set, unset, says }) => {
  // A document is told of once, so each has an id of its own.
  const bad = `bad: ${name}`
  beforeEach(async () => {
    for (const id of [bad, 'good']) await store.schedules().register(dueTask(id), 0)
    const change = set ? { $set: set } : { $unset: { [unset as string]: '' } }
    await stage.collection().updateOne({ _id: bad }, change as object)
  })

  it('is told of by every call for it, and left as it is', async () => {
    const before = await stage.document(bad)
    const schedules = store.schedules()
    const calls: Record<string, () => Promise<unknown>> = {
      get: () => schedules.get(bad),
      register: () => schedules.register({ ...dueTask(bad), spec: '2' }, 0),
      registerMany: () => schedules.registerMany([{ ...dueTask(bad), spec: '2' }], 0),
      claimDue: () => schedules.claimDue(bad, 'owner', 0, 10),
      renew: () => schedules.renew(bad, 0, 5),
      complete: () => schedules.complete(bad, 0, { nextRunAt: 5 }, 0),
      delete: () => schedules.delete(bad),
    }
    for (const [method, call] of Object.entries(calls)) {
      const error = await call().catch((thrown: unknown) => thrown)
      expect(error, method).toMatchObject({ code: 'STORE_DAMAGED_RECORD' })
      const { message, details } = error as CronfenceError
      expect(message).toContain(`, collection schedules, _id "${bad}": ${says}`)
      expect(message).toMatch(/^MongoStore at 127\.0\.0\.1:\d+\/cronfence_damage, collection/)
      expect(message).toContain(
        'repair it, or remove it, token and all, with: ' +
          `db.getCollection("schedules").deleteOne({ _id: "${bad}" })`,
      )
      expect(details).toEqual({ collection: 'schedules', id: bad })
    }
    expect(await stage.document(bad)).toEqual(before)
  })

  it('does not stop the others, and is reported once', async () => {
    const heard = stage.damages.length
    const schedules = store.schedules()
    expect((await schedules.list()).map(({ id }) => id)).toEqual(['good'])
    const claims = await schedules.claimDueMany([bad, 'good'], 'owner', 0, 10)
    expect(claims.map((claim) => claim?.fencingToken)).toEqual([undefined, 1])
    const completions = [bad, 'good'].map((id) => ({
      id,
      fencingToken: 1,
      patch: { nextRunAt: 5 },
    }))
    expect(await schedules.completeMany(completions, 0)).toEqual([false, true])
    await schedules.list()
    expect(stage.damages.slice(heard)).toHaveLength(1)
  })
})

it('a tombstone that cannot be read is told of by a registration', async () => {
  await store.schedules().register(dueTask('a'), 0)
  await store.schedules().delete('a')
  await stage.collection().updateOne({ _id: 'a' }, { $set: { deletedAt: 'yesterday' } })
  await expect(store.schedules().register(dueTask('a'), 0)).rejects.toMatchObject({
    code: 'STORE_DAMAGED_RECORD',
    message: expect.stringContaining('deletedAt must be an integer'),
  })
})

it('a document whose _id no task can have is told of, and stops no other', async () => {
  await store.schedules().register(dueTask('good'), 0)
  const good = await stage.document('good')
  const ids = ['x'.repeat(1025), 'a\tb'.repeat(400)]
  for (const id of ids) await stage.collection().insertOne({ ...good, _id: id })
  const heard = stage.damages.length
  expect((await store.schedules().list()).map(({ id }) => id)).toEqual(['good'])
  const told = stage.damages.slice(heard).map(({ message }) => message)
  expect(told).toHaveLength(2)
  for (const message of told) expect(message).toMatch(/it cannot be an id: id: \d+ bytes of UTF-8/)
})

it('exact integers of other types are taken for what they are', async () => {
  await store.schedules().register(dueTask('a'), 0)
  // As mongosh writes numbers: doubles, or int32.
  const numbers = { fencingToken: 6, nextRunAt: 0, updatedAt: 1e12 }
  await stage.collection().updateOne({ _id: 'a' }, { $set: numbers })
  expect((await store.schedules().claimDue('a', 'owner', 0, 10))?.fencingToken).toBe(7)
  expect((await stage.document('a'))?.fencingToken).toBe(7n)
})

it('a lease without a token is told of', async () => {
  const leases = store.leases()
  await leases.acquire('leader', 'first', 1)
  await stage.collection('schedule_leases').updateOne({}, { $unset: { fencingToken: '' } })
  await expect(leases.acquire('leader', 'first', 1)).rejects.toMatchObject({
    code: 'STORE_DAMAGED_RECORD',
    message: expect.stringMatching(/, collection schedule_leases, _id "leader": fencingToken must/),
  })
})

it('a task whose document is damaged is not ended by it, and runs once it is mended', async () => {
  const clock = new VirtualClock('2026-01-01')
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const scheduler = new Scheduler({ store: store.schedules(), clock, logger })
  const [problems, runs]: [StoreErrorEvent[], number[]] = [[], []]
  scheduler.on('store-error', (event) => problems.push(event))
  scheduler.every('1m', { id: 'bad' }, ({ fencingToken }) => void runs.push(fencingToken))
  await scheduler.start()
  await stage.collection().updateOne({ _id: 'bad' }, { $set: { spec: '' } })
  /** Lets time pass, and the server answer, until `condition` holds. */
  const passUntil = (condition: () => boolean) =>
    vi.waitFor(
      async () => {
        await clock.advance(1000)
        expect(condition()).toBe(true)
      },
      { timeout: 30_000, interval: 1 },
    )
  await passUntil(() => problems.filter(({ operation }) => operation === 'read').length >= 3)
  expect(problems[0]?.error).toMatchObject({ code: 'STORE_DAMAGED_RECORD' })
  expect(runs).toEqual([])
  await stage.collection().updateOne({ _id: 'bad' }, { $set: { spec: '60000' } })
  await passUntil(() => runs.length >= 2)
  await scheduler.stop()
})
