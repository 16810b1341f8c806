// What MongoDB and its driver report, one by one: what each means for the request, and what is done
// about it; and what is asked of the server in the first place.

import { describe, expect, it } from 'vitest'
import { type MongoFields, MongoStore } from '../../../src/store/mongo/index.ts'
import { scheduleFields } from '../../../src/store/mongo/stored-schedule.ts'
import { type Answer, type Asked, scriptedClient } from './scripted.ts'
import { dueTask } from './stage.ts'

const TIMEOUT_MS = 300

/** A row under an id, as it is stored. */
const stored = (id: string, more: MongoFields = {}): MongoFields => ({
  ...{ _id: id, ...scheduleFields({ ...dueTask(id), fencingToken: 0, updatedAt: 0 }) },
  ...{ write: 'first', past: [], ...more },
})

function storeOver(answer: (asked: Asked, count: number) => Answer | undefined) {
  const script = scriptedClient(answer)
  const warnings: string[] = []
  const store = new MongoStore({
    ...{ client: script.client, timeoutMs: TIMEOUT_MS },
    onWarning: (text) => warnings.push(text),
  })
  return { ...script, store, schedules: store.schedules(), warnings }
}

/** A store with one due row, whose update is answered by `reply`. */
const overRow = (reply: (count: number) => Answer) =>
  storeOver(({ name, command }, count) => {
    if (name === 'update') return reply(count)
    return command.find === 'schedules' ? [stored('a')] : undefined
  })

const thrown = (fields: { code?: number; name?: string; labels?: string[] }): Error => {
  const { code, name = 'MongoServerError', labels } = fields
  const error = new Error(`failed with ${code ?? name}`)
  return Object.assign(error, { code, name, ...(labels ? { errorLabels: labels } : {}) })
}

const claim = ({ schedules }: ReturnType<typeof storeOver>) => schedules.claimDue('a', 'o', 0, 10)

describe('a write that fails with', () => {
  const rows: [string, Error, string, RegExp?][] = [
    ['13', thrown({ code: 13 }), 'STORE_UNAVAILABLE', /the user needs the role readWrite/],
    ['18', thrown({ code: 18 }), 'STORE_UNAVAILABLE', /check the user, the password/],
    ['121', thrown({ code: 121 }), 'STORE_UNAVAILABLE', /remove the validator/],
    ['14031', thrown({ code: 14031 }), 'STORE_UNAVAILABLE', /make room on the disk/],
    ['50', thrown({ code: 50 }), 'STORE_OUTCOME_UNKNOWN', /did not finish it within timeoutMs/],
    ['91', thrown({ code: 91 }), 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['189', thrown({ code: 189 }), 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['11600', thrown({ code: 11600 }), 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['11602', thrown({ code: 11602 }), 'STORE_OUTCOME_UNKNOWN', /may or may not have been made/],
    ['a code that nobody knows', thrown({ code: 4711 }), 'STORE_OUTCOME_UNKNOWN'],
    ['a lost connection', thrown({ name: 'MongoNetworkError' }), 'STORE_OUTCOME_UNKNOWN'],
    ['a silent one', thrown({ name: 'MongoNetworkTimeoutError' }), 'STORE_OUTCOME_UNKNOWN'],
    ['an error of no kind', new Error('oops'), 'STORE_OUTCOME_UNKNOWN'],
    [
      'no server to be found',
      thrown({ name: 'MongoServerSelectionError' }),
      'STORE_UNAVAILABLE',
      /is the server running there, and reachable/,
    ],
    [
      'a client that is closed',
      thrown({ name: 'MongoTopologyClosedError' }),
      'STORE_UNAVAILABLE',
      /the client that was handed in is closed/,
    ],
  ]
  it.each(rows)('%s says so, and is not sent again', async (_, error, code, says) => {
    const over = overRow(() => error)
    const told = await claim(over).catch((each: unknown) => each)
    expect(told).toMatchObject({ code, cause: error })
    if (says) expect((told as Error).message).toMatch(says)
    expect(over.of('update')).toHaveLength(1)
  })

  const passing: [string, Error][] = [
    ['an election', thrown({ code: 10107 })],
    ['a primary that is no more', thrown({ code: 13435 })],
    ['a conflict inside of the server', thrown({ code: 112 })],
    ['a pool that was emptied', thrown({ name: 'MongoPoolClearedError' })],
    ['a failed handshake', thrown({ name: 'MongoNetworkError', labels: ['HandshakeError'] })],
  ]
  it.each(passing)('%s is sent again: it did nothing', async (_, error) => {
    const over = overRow((count) => (count < 3 ? error : { ok: 1, n: 1 }))
    expect((await claim(over))?.fencingToken).toBe(1)
    expect(over.of('update')).toHaveLength(3)
  })

  it('an election that does not end is given up in time', async () => {
    const over = overRow(() => thrown({ code: 10107 }))
    await expect(claim(over)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/the set has no primary at the moment/),
    })
    expect(over.of('update').length).toBeGreaterThan(1)
  })
})

describe('a reply', () => {
  it('that no majority confirmed leaves the outcome open, whatever the reason', async () => {
    for (const code of [64, 100, 91, 10107]) {
      const writeConcernError = { code, errmsg: 'waiting for replication timed out' }
      const over = overRow(() => ({ ok: 1, n: 1, writeConcernError }))
      await expect(claim(over)).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
      expect(over.of('update')).toHaveLength(1)
    }
  })

  it('that refuses the one change of a command says why', async () => {
    const writeErrors = [{ index: 0, code: 121, errmsg: 'Document failed validation' }]
    const over = overRow(() => ({ ok: 1, n: 0, writeErrors }))
    await expect(claim(over)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message:
        'MongoStore: Document failed validation; a validator on the collection refuses it: ' +
        'remove the validator',
    })
  })

  it('that refuses one change of many leaves open what became of them', async () => {
    const rows = ['a', 'b'].map((id) => stored(id))
    const writeErrors = [{ index: 1, code: 121, errmsg: 'Document failed validation' }]
    const { schedules } = storeOver(({ name, command }) => {
      if (name === 'update') return { ok: 1, n: 1, writeErrors }
      return command.find === 'schedules' ? rows : undefined
    })
    const claims = schedules.claimDueMany(['a', 'b'], 'o', 0, 10)
    await expect(claims).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
  })

  it('that an id was there already makes a registration look again', async () => {
    let isThere = false
    const over = storeOver(({ name, command }) => {
      if (name === 'insert') {
        isThere = true
        return { ok: 1, n: 0, writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000' }] }
      }
      return command.find === 'schedules' ? (isThere ? [stored('a')] : []) : undefined
    })
    expect(await over.schedules.register(dueTask('a'), 9)).toMatchObject({ updatedAt: 0 })
    expect(over.of('insert')).toHaveLength(1)
  })
})

describe('a batch of which some were made', () => {
  /** Two due rows; of the first update one is made, then `after` is what is found. */
  const halfMade = (after: (write: string) => readonly MongoFields[]) => {
    let write: string | undefined
    return storeOver(({ name, command }, count) => {
      if (name === 'update') {
        const [{ u }] = command.updates as [{ u: { $set: { write: string } } }]
        write ??= u.$set.write
        return { ok: 1, n: count === 1 ? 1 : 0 }
      }
      if (command.find !== 'schedules') return undefined
      return write === undefined ? ['a', 'b'].map((id) => stored(id)) : after(write)
    })
  }
  const taken = { leaseOwner: 'other', leaseUntil: 99n, fencingToken: 1n, write: 'theirs' }

  it('tells them by the names of the last writes', async () => {
    const { schedules } = halfMade((write) => [
      stored('a', { leaseOwner: 'o', leaseUntil: 10n, fencingToken: 1n, write }),
      stored('b', taken),
    ])
    const claims = await schedules.claimDueMany(['a', 'b'], 'o', 0, 10)
    expect(claims.map((each) => each?.fencingToken)).toEqual([1, undefined])
  })

  it('tells one that was made and then written over', async () => {
    const { schedules } = halfMade((write) => [
      stored('a', taken),
      stored('b', { ...taken, spec: '2', past: ['second', write, 'first'] }),
    ])
    const claims = await schedules.claimDueMany(['a', 'b'], 'o', 0, 10)
    expect(claims.map((each) => each?.record.spec)).toEqual([undefined, '1'])
  })

  it('and that cannot be looked at leaves the outcome open', async () => {
    const { schedules } = halfMade(() => {
      throw thrown({ name: 'MongoServerSelectionError' })
    })
    const claims = schedules.claimDueMany(['a', 'b'], 'o', 0, 10)
    await expect(claims).rejects.toMatchObject({
      code: 'STORE_OUTCOME_UNKNOWN',
      message: expect.stringMatching(/other parts of the batch were done$/),
    })
  })
})

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

  it('of a read is the primary: no other member is named', async () => {
    const over = overRow(() => ({ ok: 1, n: 1 }))
    await claim(over)
    for (const { command, options } of over.asked) {
      expect({ ...command, ...options }).not.toHaveProperty('readPreference')
    }
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
