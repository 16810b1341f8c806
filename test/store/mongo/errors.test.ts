// What MongoDB and its driver report, one by one: what each means for the request, and what is done
// about it.

import { describe, expect, it } from 'vitest'
import { BatchError } from '../../../src/errors.ts'
import type { MongoFields } from '../../../src/store/mongo/index.ts'
import { claim, overRow, stored, storeOver } from './scripted.ts'
import { dueTask } from './stage.ts'

const thrown = (fields: { code?: number; name?: string; labels?: string[] }): Error => {
  const { code, name = 'MongoServerError', labels } = fields
  const error = new Error(`failed with ${code ?? name}`)
  return Object.assign(error, { code, name, ...(labels ? { errorLabels: labels } : {}) })
}

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
    [
      'a client that is being closed',
      thrown({ name: 'MongoClientClosedError' }),
      'STORE_OUTCOME_UNKNOWN',
    ],
    [
      'a pool that is emptied under it',
      thrown({ name: 'PoolClearedOnNetworkError' }),
      'STORE_OUTCOME_UNKNOWN',
    ],
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

it('a read whose connection is lost is asked again', async () => {
  for (const name of ['MongoNetworkError', 'PoolClearedOnNetworkError']) {
    let isLost = false
    const over = storeOver(({ command }) => {
      if (command.find !== 'schedules') return undefined
      if (isLost) return [stored('a')]
      isLost = true
      throw thrown({ name })
    })
    expect(await over.schedules.get('a')).toMatchObject({ id: 'a' })
  }
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

  it('that no majority confirmed does so, too, as the driver throws it', async () => {
    const over = overRow(() => thrown({ name: 'MongoWriteConcernError', code: 10107 }))
    await expect(claim(over)).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    expect(over.of('update')).toHaveLength(1)
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

describe('a store that is stopped while', () => {
  const stopping = (error: Error) => {
    const over = overRow(() => {
      void over.store.stop()
      throw error
    })
    return over
  }

  it('a write is on its way leaves open what became of it', async () => {
    const over = stopping(thrown({ name: 'MongoNetworkError' }))
    await expect(claim(over)).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
  })

  it('a write was not sent yet says that it is closed', async () => {
    const over = stopping(thrown({ name: 'MongoPoolClosedError' }))
    await expect(claim(over)).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it('a read is on its way says that it is closed', async () => {
    const over = storeOver(({ command }) => {
      if (command.find !== 'schedules') return undefined
      void over.store.stop()
      throw thrown({ name: 'MongoNetworkError' })
    })
    await expect(over.schedules.get('a')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
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

  it('has the answers of those parts when a later one fails', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `task ${index}`)
    const lost = thrown({ name: 'MongoNetworkError' })
    const { schedules } = storeOver(({ name, command }, count) => {
      if (name === 'update') return count === 1 ? { ok: 1, n: 250 } : lost
      return command.find === 'schedules' ? ids.map((id) => stored(id)) : undefined
    })
    const error = await schedules.claimDueMany(ids, 'o', 0, 10).catch((each: unknown) => each)
    expect(error).toBeInstanceOf(BatchError)
    const { answers } = error as BatchError
    expect(answers.slice(0, 250)).toMatchObject(ids.slice(0, 250).map((id) => ({ record: { id } })))
    expect(answers.slice(250)).toEqual(new Array(50).fill((error as BatchError).cause))
    expect(error).toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
  })
})
