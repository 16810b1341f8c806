// Rows that the store cannot do what it is asked for: damaged, newer, locked by somebody else. Each
// is a matter of its own task, and delays no other.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BatchError, CronfenceError } from '../../src/errors.ts'
import type { Completion, ScheduleRecord } from '../../src/index.ts'
import { World } from './harness.ts'

const MINUTE = 60_000
const at = (time: string) => Date.parse(`2026-03-02T${time}Z`)

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

/** The ids that a call is about. */
function idsOf([first]: readonly unknown[]): string[] {
  const items = (Array.isArray(first) ? first : [first]) as (string | Pick<ScheduleRecord, 'id'>)[]
  return items.map((item) => (typeof item === 'string' ? item : item?.id))
}

/** The store, with `before` awaited before each call that is about rows. */
function guarded(before: (method: string, ids: string[]) => void | Promise<void>): World['store'] {
  return new Proxy(world.store, {
    get: (target, name: string) => {
      const method = Reflect.get(target, name)
      if (typeof method !== 'function' || name === 'list' || name === 'start') return method
      return async (...args: unknown[]) => {
        await before(name, idsOf(args))
        return method.apply(target, args)
      }
    },
  })
}

const startsOf = (id: string) =>
  world.runs.filter(({ taskId }) => taskId === id).map(({ startedAt }) => startedAt)

describe('a row that cannot be read', () => {
  test.each([
    new CronfenceError('STORE_DAMAGED_RECORD', 'row "bad" is damaged'),
    new CronfenceError('STORE_TOKEN_CEILING', 'row "bad" is at the ceiling'),
    new CronfenceError('STORE_NEWER_SCHEMA', 'row "bad" is newer', {
      details: { isOneRow: true },
    }),
  ])('$code is set aside and delays no other task', async (damaged) => {
    const store = guarded((_, ids) => {
      if (ids.includes('bad')) throw damaged
    })
    const careful = world.replica({ store })
    for (const id of ['a', 'bad', 'b']) careful.every('1m', { id }, world.handler())
    await careful.start()
    await world.clock.advance(2 * MINUTE)
    expect(world.runs.map(({ taskId, startedAt }) => [taskId, startedAt])).toEqual([
      ['a', at('10:01:00')],
      ['b', at('10:01:00')],
      ['a', at('10:02:00')],
      ['b', at('10:02:00')],
    ])
    const lines = world.lines.filter((line) => line.includes('"bad"'))
    expect(lines.length).toBeGreaterThan(2)
    expect(lines.length).toBeLessThan(8)
  })

  test('is not taken for deleted by a batch that gives it an error of its own', async () => {
    const damage = { is: false }
    const asked: string[] = []
    const store = guarded(async (method, ids) => {
      asked.push(method)
      if (!damage.is || !ids.includes('bad')) return
      const error = new CronfenceError('STORE_DAMAGED_RECORD', 'row "bad" is damaged')
      if (method !== 'getMany') throw error
      const answers = ids.map((id) => (id === 'bad' ? error : world.store.get(id)))
      throw new BatchError(error, await Promise.all(answers))
    })
    const careful = world.replica({ store })
    for (const id of ['a', 'bad']) careful.every('1m', { id }, world.handler())
    await careful.start()
    damage.is = true
    await world.clock.advance(2 * MINUTE)
    expect(startsOf('bad')).toEqual([])
    expect(startsOf('a')).toEqual([at('10:01:00'), at('10:02:00')])
    expect(asked).not.toContain('get')
    damage.is = false
    await world.clock.advance(2 * MINUTE)
    expect(startsOf('bad').at(-1)).toBe(at('10:04:00'))
  })
})

describe('a row that is damaged while its task runs', () => {
  test('delays no other commit, though the store only says no to its own', async () => {
    const damage = { is: false }
    const error = new CronfenceError('STORE_DAMAGED_RECORD', 'row "bad" is damaged')
    const store = new Proxy(world.store, {
      get: (target, name) => {
        const method = Reflect.get(target, name)
        if (name === 'completeMany') {
          return (batch: Completion[], now: number) =>
            Promise.all(
              batch.map(({ id, fencingToken, patch }) =>
                damage.is && id === 'bad' ? false : target.complete(id, fencingToken, patch, now),
              ),
            )
        }
        if (name === 'getMany') {
          return async (ids: string[]) => {
            const answers = await target.getMany(ids)
            if (!damage.is || !ids.includes('bad')) return answers
            throw new BatchError(
              error,
              answers.map((row, index) => (ids[index] === 'bad' ? error : row)),
            )
          }
        }
        return method.bind?.(target)
      },
    })
    const careful = world.replica({ store })
    const spoil = async () => {
      damage.is = true
    }
    careful.every('5s', { id: 'bad', leaseMs: '5m' }, spoil)
    careful.every('5s', { id: 'a' }, world.handler())
    await careful.start()
    await world.clock.advance(2 * MINUTE)
    expect(startsOf('a')).toEqual(Array.from({ length: 24 }, (_, i) => at('10:00:05') + i * 5000))
  })
})

describe('the deletion of a row that cannot be read', () => {
  test('rejects, is told of, and does not hold up other deletions', async () => {
    const damage = { is: false }
    const damaged = new CronfenceError('STORE_DAMAGED_RECORD', 'row "bad" is damaged')
    const store = guarded((_, ids) => {
      if (damage.is && ids.includes('bad')) throw damaged
    })
    const careful = world.replica({ store })
    for (const id of ['a', 'bad', 'b']) careful.every('1h', { id }, world.handler())
    await careful.start()
    damage.is = true
    const deletions = ['a', 'bad', 'b'].map((id) => careful.forgetTask(id))
    const outcomes = await world.within(1000, Promise.allSettled(deletions))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: damaged })
    expect((await world.store.list()).map(({ id }) => id)).toEqual(['bad'])
    expect(world.lines.at(-1)).toContain('a task cannot be deleted: ')
    damage.is = false
    await careful.forgetTask('bad')
    expect(await world.store.list()).toEqual([])
  })
})

describe('a store that a newer release has taken over', () => {
  test('is asked once for a batch, not once for each of its rows', async () => {
    const asked = new Map<string, number>()
    const store = guarded((method) => {
      asked.set(method, (asked.get(method) ?? 0) + 1)
      if (method.startsWith('claim')) throw new CronfenceError('STORE_NEWER_SCHEMA', 'no use')
    })
    const old = world.replica({ store })
    for (let id = 0; id < 50; id++) old.every('1m', { id: `${id}` }, world.handler())
    await old.start()
    await world.clock.advance(MINUTE)
    expect(asked.get('claimDue')).toBeUndefined()
  })
})

describe('a row that somebody keeps locked', () => {
  const LOCKED = { details: { isLocked: true } }
  /** The store while `stuck.is`: whatever would change the row `stuck` waits, in vain. */
  const lockedStore = (stuck: { is: boolean }) =>
    guarded(async (method, ids) => {
      if (!stuck.is || method.startsWith('get') || !ids.includes('stuck')) return
      await world.sleep(1000)
      throw new CronfenceError('STORE_UNAVAILABLE', 'row "stuck" is locked', LOCKED)
    })

  test('delays no other commit, and is committed once it is free', async () => {
    const stuck = { is: false }
    const patient = world.replica({ store: lockedStore(stuck) })
    const stick = async () => {
      stuck.is = true
    }
    patient.every('5s', { id: 'stuck', leaseMs: '5m' }, stick)
    for (const id of ['a', 'b']) patient.every('5s', { id }, world.handler())
    await patient.start()
    await world.clock.advance(2 * MINUTE)
    const onTime = Array.from({ length: 24 }, (_, i) => at('10:00:05') + i * 5000)
    expect(startsOf('a')).toEqual(onTime)
    expect(startsOf('b')).toEqual(onTime)
    expect(await world.store.get('stuck')).toMatchObject({
      fencingToken: 1,
      leaseUntil: expect.any(Number),
    })
    stuck.is = false
    await world.clock.advance(3000)
    expect(await world.store.get('stuck')).toMatchObject({ lastRunAt: at('10:00:05') })
  })

  test('costs no other run its lease', async () => {
    const stuck = { is: false }
    const lost: unknown[] = []
    const patient = world.replica({ store: lockedStore(stuck) })
    patient.on('lease-lost', ({ taskId }) => lost.push(taskId))
    for (const id of ['a', 'stuck', 'b']) {
      patient.every('10m', { id, leaseMs: '30s' }, world.handler(2 * MINUTE))
    }
    await patient.start()
    await world.clock.advance(10 * MINUTE)
    stuck.is = true
    await world.clock.advance(3 * MINUTE)
    expect(lost).toEqual(['stuck'])
  })
})

describe('a batch that fails halfway', () => {
  test('and tells what it did is not asked again for that', async () => {
    const store = new Proxy(world.store, {
      get: (target, name) => {
        const method = Reflect.get(target, name)
        if (name !== 'claimDueMany') return method.bind?.(target)
        return async (ids: string[], owner: string, now: number, leaseMs: number) => {
          const [first = '', ...others] = ids
          const answers = [await target.claimDue(first, owner, now, leaseMs)]
          if (others.length === 0) return answers
          throw new BatchError(new CronfenceError('STORE_OUTCOME_UNKNOWN', 'lost'), answers)
        }
      },
    })
    const adopted: unknown[] = []
    const halfway = world.replica({ store })
    halfway.on('claim-adopted', (event) => adopted.push(event))
    for (const id of ['a', 'b', 'c']) {
      halfway.every('1m', { id, missed: 'run-once' }, world.handler())
    }
    await halfway.start()
    await world.clock.advance(MINUTE)
    expect(startsOf('a')).toEqual([at('10:01:00')])
    await world.clock.advance(30_000)
    expect(world.slots()).toEqual(['10:01:00', '10:01:00', '10:01:00'])
    expect(adopted).toEqual([])
  })
})

describe('a dormant row whose task has a run again', () => {
  test('is told of when it cannot be planned anew, which is tried again', async () => {
    const first = world.replica()
    first.schedule('0 12 * * *', { id: 'job' }, world.handler())
    await first.start()
    await first.stop()
    const { kind, spec } = (await world.store.get('job'))!
    await world.store.delete('job')
    await world.store.register({ id: 'job', kind, spec, nextRunAt: null }, world.clock.now())
    const away = { is: true }
    const error = new CronfenceError('STORE_UNAVAILABLE', 'cannot be reached')
    const store = guarded((method) => {
      if (away.is && method === 'delete') throw error
    })
    const failures: unknown[] = []
    const second = world.replica({ store })
    second.on('store-error', ({ operation, taskIds }) => failures.push([operation, taskIds]))
    second.schedule('0 12 * * *', { id: 'job' }, world.handler())
    await second.start()
    await world.clock.advance(MINUTE)
    expect(failures[0]).toEqual(['delete', ['job']])
    away.is = false
    await world.clock.advance(MINUTE)
    expect((await world.store.get('job'))?.nextRunAt).toBe(at('12:00:00'))
  })
})
