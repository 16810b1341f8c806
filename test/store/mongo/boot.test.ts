// The beginning and the end of a MongoStore: who may start it where, what it refuses, what it says.

import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startMongo } from '../../support/mongo.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { serverUrl } from '../../support/server-url.ts'
import { dueTask, MongoStage } from './stage.ts'

const SERVER_TIME = 'localTime'
const stage = new MongoStage('boot')
const database = () => stage.client.db(stage.database)
beforeEach(() => stage.drop())

describe('starting', () => {
  it('from ten replicas at once makes one schema, five times over', async () => {
    for (let round = 0; round < 5; round++) {
      await stage.drop()
      const stores = Array.from({ length: 10 }, () => stage.store())
      await Promise.all(stores.map((store) => store.start()))
      const schedules = stores.map((store) => store.schedules())
      await Promise.all(schedules.map((each) => each.register(dueTask('a'), 0)))
      const claims = await Promise.all(schedules.map((each) => each.claimDue('a', 'o', 0, 10)))
      expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
      expect(await stage.collection('schedule_schema').find().toArray()).toEqual([
        { _id: 'cronfence', version: 1n, tokenFloor: 0n },
      ])
      await Promise.all(stores.map((store) => store.stop()))
    }
  })

  it('again, or again after a stop of another, changes nothing', async () => {
    const [first, second] = [stage.store(), stage.store()]
    await first.start()
    await first.start()
    await first.schedules().register(dueTask('a'), 0)
    await first.stop()
    await second.schedules().start()
    expect(await second.schedules().list()).toHaveLength(1)
  })

  it('under two prefixes makes two stores that know nothing of each other', async () => {
    const [one, other] = ['one_', 'other_'].map((collectionPrefix) =>
      stage.store({ collectionPrefix }).schedules(),
    )
    await one?.register(dueTask('a'), 0)
    expect(await other?.list()).toEqual([])
    expect(await stage.collection('one_schedules').countDocuments()).toBe(1)
  })

  it('on a FerretDB whose updates are not atomic is warned of', async () => {
    const { ferretdbVersion = 'v2' } = await database().command({ buildInfo: 1 })
    const heard = stage.warnings.length
    await stage.store().start()
    const isWarned = stage.warnings.slice(heard).some((text) => /use it for one replica/.test(text))
    expect(isWarned).toBe(/^v1/.test(ferretdbVersion))
  })

  const foreign: Record<string, { make: () => Promise<unknown>; problem: RegExp }> = {
    'a collection of our name that was there before': {
      make: () => stage.collection('schedules').insertOne({ _id: 'x' }),
      problem: /Collection schedules is not as cronfence created it: it was there before the store/,
    },
    'leases of our name that were there before': {
      make: () => stage.collection('schedule_leases').insertOne({ _id: 'x' }),
      problem: /Collection schedule_leases is not as .* it was there before the store/,
    },
    'a collection for versions that has other documents': {
      make: () => stage.collection('schedule_schema').insertOne({ _id: 'x' }),
      problem: /Collection schedule_schema is not as .*: it has other documents/,
    },
    'documents of an application': {
      make: () => database().collection('schedules').insertOne({ name: 'x' }),
      problem: /Collection schedules is not as .*: it has documents whose _id is an ObjectId/,
    },
    'a collection that forgets its oldest documents': {
      make: () => database().createCollection('schedules', { capped: true, size: 4096 }),
      problem: /Collection schedules is not as .*: it was created with capped/,
    },
  }
  it.each(Object.entries(foreign))('beside %s is refused, and changes nothing', async (_, row) => {
    await row.make()
    const before = await names()
    const store = stage.store()
    await expect(store.start()).rejects.toMatchObject({
      code: 'STORE_FOREIGN_SCHEMA',
      message: expect.stringMatching(row.problem),
    })
    expect(await names()).toEqual(before)
    // Once it is out of the way the same store starts.
    await stage.drop()
    await store.start()
  })

  it('over a unique index that an administrator added is refused', async () => {
    await stage.store().schedules().register(dueTask('a'), 0)
    await stage.collection().createIndex({ spec: 1 }, { unique: true })
    await expect(stage.store().start()).rejects.toMatchObject({
      code: 'STORE_FOREIGN_SCHEMA',
      message: expect.stringMatching(/its index spec_1 is unique/),
    })
  })

  const changes: Record<string, { change: () => Promise<unknown>; error: object }> = {
    'a newer version': {
      change: () => setSchema({ version: 2n }),
      error: {
        code: 'STORE_NEWER_SCHEMA',
        message: expect.stringMatching(/schedule_schema has schema version 2, this release knows/),
      },
    },
    'a version of text': {
      change: () => setSchema({ version: 'one' }),
      error: { code: 'STORE_DAMAGED_RECORD' },
    },
    'a floor of tokens below 0': {
      change: () => setSchema({ tokenFloor: -1n }),
      error: { code: 'STORE_DAMAGED_RECORD' },
    },
    'no version': {
      change: () => stage.collection('schedule_schema').deleteMany({}),
      error: {
        code: 'STORE_DAMAGED_RECORD',
        message: expect.stringMatching(/schedule_schema must have a document with _id "cronfence"/),
      },
    },
  }
  it.each(Object.entries(changes))('over collections with %s is refused', async (_, row) => {
    await stage.store().schedules().register(dueTask('a'), 0)
    await row.change()
    await expect(stage.store().start()).rejects.toMatchObject(row.error)
  })

  it('and then losing the schema is told of where a token would go back', async () => {
    const store = stage.store()
    await store.start()
    await stage.drop()
    const lost = {
      code: 'STORE_FOREIGN_SCHEMA',
      message: expect.stringMatching(/was dropped while the store was running/),
    }
    await expect(store.schedules().register(dueTask('a'), 0)).rejects.toMatchObject(lost)
  })
})

describe('a server that refuses', () => {
  const rows: Record<string, { url: (port: string) => string; says: RegExp }> = {
    'because nothing listens there': {
      url: () => 'mongodb://127.0.0.1:1/app',
      says: /at 127\.0\.0\.1:1\/\w+: .*ECONNREFUSED.*; is the server running there, and reach/,
    },
    'because there is no server of that name': {
      url: () => 'mongodb://nowhere.invalid/app',
      says: /at nowhere\.invalid\/\w+: .*nowhere\.invalid.*; is the server running there/,
    },
    'because the driver does not know an option': {
      url: (port) => `mongodb://me:secret-word@127.0.0.1:${port}/app?colour=red`,
      says: /colour.*check the url/,
    },
  }
  it.each(Object.entries(rows))(
    '%s is unavailable, and the error says where and what to do',
    async (_, { url, says }) => {
      const store = stage.store({ url: url(new URL(stage.url).port), timeoutMs: 1500 })
      for (const call of [() => store.start(), () => store.schedules().register(dueTask('a'), 0)]) {
        const error = await call().catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
        const { message } = error as Error
        expect(message).toMatch(says)
        expect(message.startsWith('MongoStore at ')).toBe(true)
        expect(message).not.toContain('secret-word')
      }
    },
  )
})

describe('a server with users', () => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await startMongo({ postgresUrl: () => serverUrl('postgres'), isGuarded: true })
  }, 300_000)
  afterAll(() => server.stop())

  it.each(['cronfence:secret-word', 'secret-word:cronfence'])(
    'refuses %s, and that is told',
    async (user) => {
      const url = server.url.replace('//', `//${user}@`)
      const store = stage.store({ url, timeoutMs: 1500 })
      const error = await store.start().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { driverCode: '18' } })
      const { message } = error as Error
      expect(message).toMatch(
        /^MongoStore at 127.*; check the user, the password and the authSource/,
      )
      expect(message).not.toContain('secret-word')
    },
  )
})

describe('stopping', () => {
  it('ends the store for good, and leaves a client of yours open', async () => {
    const client = new MongoClient(stage.url, { promoteLongs: false })
    const store = stage.store({ client })
    await store.start()
    expect((await store.schedules().register(dueTask('a'), 0)).fencingToken).toBe(0)
    await store.stop()
    const calls = [
      () => store.start(),
      () => store.schedules().get('a'),
      () => store.schedules().claimDue('a', 'o', 0, 1),
      () => store.leases().acquire('a', 'o', 1),
      () => store.purge(0),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    }
    expect(await client.db().command({ ping: 1 })).toMatchObject({ ok: 1 })
    await client.close()
  })

  it('of a store that never started does nothing', async () => {
    const store = stage.store()
    await store.stop()
    await store.stop()
  })

  it('a client that its owner closed is said to be closed', async () => {
    const client = new MongoClient(stage.url)
    const store = stage.store({ client })
    await store.start()
    await client.close()
    await expect(store.schedules().get('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})

it('the clock follows the server, whatever the local one says', async () => {
  const timer = { cancel: () => {}, unref: () => {} }
  const slow = { now: () => 5, monotonic: () => 7, setTimer: () => timer }
  const store = stage.store({ clock: slow })
  expect(store.clock().now()).toBe(5)
  await store.start()
  const hello = await database().command({ hello: 1 })
  expect(Math.abs(Number(hello[SERVER_TIME]) - store.clock().now())).toBeLessThan(60_000)
  expect(store.clock().offsetMs).toBeGreaterThan(1e12)
})

async function names(): Promise<string[]> {
  const collections = await database().listCollections({}, { nameOnly: true }).toArray()
  return collections.map(({ name }) => name).sort()
}

function setSchema(fields: Record<string, unknown>) {
  return stage.collection('schedule_schema').updateOne({}, { $set: fields })
}
