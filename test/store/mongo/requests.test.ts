// What a MongoStore asks of a server, word by word, and of which servers and collections it will
// have nothing.

import { describe, expect, it } from 'vitest'
import type { MongoFields } from '../../../src/store/mongo/index.ts'
import { type Asked, claim, overRow, stored, storeOver, TIMEOUT_MS } from './scripted.ts'
import { dueTask } from './stage.ts'

describe('what is asked', () => {
  it('of a write is a majority, its journals, and an end in time', async () => {
    const over = overRow(() => ({ ok: 1, n: 1 }))
    await claim(over)
    const [{ command }] = over.of('update') as [Asked]
    expect(command).toMatchObject({
      writeConcern: { w: 'majority', j: true, wtimeout: TIMEOUT_MS },
      maxTimeMS: TIMEOUT_MS,
      ordered: false,
    })
  })

  it('of a change is that the document is as it was read, whatever is in the id', async () => {
    for (const id of ['$where', '{"$gt":""}', 'a.b', '$set', '__proto__']) {
      const over = storeOver(({ name, command }) => {
        if (name === 'update') return { ok: 1, n: 1 }
        return command.find === 'schedules' ? [stored(id)] : undefined
      })
      await over.schedules.claimDue(id, '$owner', 0, 10)
      const [{ command }] = over.of('update') as [Asked]
      expect(command.updates).toEqual([
        {
          q: { _id: id, write: 'first' },
          u: {
            $set: {
              ...{ leaseOwner: '$owner', leaseUntil: 10n, fencingToken: 1n },
              ...{ write: expect.any(String), past: ['first'] },
            },
          },
        },
      ])
    }
  })

  it('of many ids is one reading and one change, all in two commands', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `task ${index}`)
    const over = storeOver(({ name, command }) => {
      if (name === 'update') return { ok: 1, n: 200 }
      return command.find === 'schedules' ? ids.map((id) => stored(id)) : undefined
    })
    await over.store.start()
    const before = over.asked.length
    expect(await over.schedules.claimDueMany(ids, 'o', 0, 10)).toHaveLength(200)
    expect(over.asked.slice(before).map(({ name }) => name)).toEqual(['find', 'update'])
  })

  it('of a read is the newest state of the primary: no other member is named', async () => {
    const over = overRow(() => ({ ok: 1, n: 1 }))
    await claim(over)
    for (const { command } of over.of('find')) {
      expect(command).toMatchObject({ readConcern: { level: 'local' } })
    }
    for (const { command, options } of over.asked) {
      expect({ ...command, ...options }).not.toHaveProperty('readPreference')
    }
  })

  // A primary that was cut off has what it took last, and loses it: on what it alone knows nobody
  // may take a claim for his own, or a registration for done.
  it.each([
    ['a set', { setName: 'rs0' }, 'linearizable'],
    ['a sharded cluster', { msg: 'isdbgrid' }, 'linearizable'],
    ['a standalone server, which knows no more', {}, 'local'],
  ])('of %s is what no failover undoes, where no write follows', async (_, more, level) => {
    const over = storeOver(({ name, command }) => {
      if (name === 'hello') return { isWritablePrimary: true, ...more }
      return command.find === 'schedules' ? [stored('a')] : undefined
    })
    const ofRows = () => over.of('find').filter(({ command }) => command.find === 'schedules')
    await over.schedules.get('a')
    await over.schedules.register(dueTask('a'), 0)
    expect(over.of('update')).toEqual([])
    const levels = ofRows().map(({ command }) => command.readConcern)
    expect(levels).toEqual([{ level }, { level }])
    await over.schedules.claimDue('a', 'o', -1, 1)
    expect(ofRows().at(-1)?.command.readConcern).toEqual({ level: 'local' })
  })

  it('of long specs is cut into commands that the server takes', async () => {
    const spec = 'x'.repeat(1_500_000)
    const over = storeOver(({ name, command }) => {
      if (name === 'insert') return { ok: 1, n: (command.documents as unknown[]).length }
      return command.find === 'schedules' ? [] : undefined
    })
    const schedules = Array.from({ length: 5 }, (_, index) => ({ ...dueTask(`${index}`), spec }))
    await over.schedules.registerMany(schedules, 0)
    const sizes = over.of('insert').map(({ command }) => (command.documents as unknown[]).length)
    expect(sizes).toEqual([2, 2, 1])
  })
})

describe('a server', () => {
  it('that is no primary is refused', async () => {
    const { store } = storeOver(({ name }) =>
      name === 'hello' ? { isWritablePrimary: false, secondary: true } : undefined,
    )
    await expect(store.start()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/not the primary of its set: name the set in the URL/),
    })
  })

  const found = (options: MongoFields) => [{ name: 'schedules', type: 'collection', options }]
  const unfit: Record<
    string,
    { collections: MongoFields[]; indexes?: MongoFields[]; says: RegExp }
  > = {
    'a collation': {
      collections: found({ collation: { locale: 'en', strength: 1 } }),
      says: /it was created with collation/,
    },
    'an index that removes documents': {
      collections: found({}),
      indexes: [{ name: '_id_' }, { name: 'old', expireAfterSeconds: 60 }],
      says: /its index old removes documents after a time/,
    },
    'a view': {
      collections: [{ name: 'schedules', type: 'view', options: {} }],
      says: /it is a view/,
    },
  }
  it.each(Object.entries(unfit))('whose collection has %s is refused', async (_, row) => {
    const { store, of } = storeOver(({ name }) => {
      if (name === 'listCollections') return row.collections
      return name === 'listIndexes' ? (row.indexes ?? [{ name: '_id_' }]) : undefined
    })
    await expect(store.start()).rejects.toMatchObject({
      code: 'STORE_FOREIGN_SCHEMA',
      message: expect.stringMatching(row.says),
    })
    expect([...of('insert'), ...of('update')]).toEqual([])
  })

  it('that keeps a client to its stable interface is taken', async () => {
    const refusal = Object.assign(new Error('not in API Version 1'), { code: 323 })
    const { store } = storeOver(({ name }) => (name === 'buildInfo' ? refusal : undefined))
    await store.start()
    expect(await store.schedules().list()).toEqual([])
  })

  it('of FerretDB 2 is taken without a warning, and of 1 with one', async () => {
    for (const [ferretdbVersion, count] of [
      ['v2.5.0', 0],
      ['v1.24.2', 1],
    ] as const) {
      const { store, warnings } = storeOver(({ name }) =>
        name === 'buildInfo' ? { ferretdbVersion } : undefined,
      )
      await store.start()
      expect(warnings).toHaveLength(count)
      await store.stop()
    }
  })
})
