// A store that is away, or hangs.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CronfenceError } from '../../src/errors.ts'
import type { Scheduler } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000

let world: World
let faulty: FaultyStore<World['store']>
let replica: Scheduler
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
  faulty = new FaultyStore(world.store)
  replica = world.replica({ store: faulty.proxy })
})
afterEach(() => world.checkInvariants())

describe('a store that does not answer at all', () => {
  test('is not waited for: the run aborts, and all goes on once it answers', async () => {
    let release: (() => void)[] = []
    const hung = { is: false }
    const slow = new Proxy(world.store, {
      get: (target, name) => {
        const method = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...args: unknown[]) => {
          if (hung.is) await new Promise<void>((resolve) => release.push(resolve))
          return method.apply(target, args)
        }
      },
    })
    const patient = world.replica({ store: slow })
    patient.every('1m', { id: 'job', missed: 'run-once', leaseMs: '10s' }, world.handler(20_000))
    await patient.start()
    await world.clock.advance(MINUTE + 1000)
    hung.is = true
    await world.clock.advance(3 * MINUTE)
    expect(world.runs).toMatchObject([{ signal: { aborted: true } }])
    hung.is = false
    for (const resolve of release) resolve()
    release = []
    await world.clock.advance(MINUTE)
    expect(world.runs.length).toBeGreaterThan(1)
    await world.clock.advance(2 * MINUTE)
    expect(world.marked().at(-1)).toBe('10:07:00')
  })
})

describe('start', () => {
  test('waits for a store that comes later, and takes tasks meanwhile', async () => {
    const down = { is: true }
    faulty.fault = () => (down.is ? 'refused' : undefined)
    replica.every('1m', { id: 'a' }, world.handler())
    let isStarted = false
    const started = replica.start().then(() => {
      isStarted = true
    })
    await world.clock.advance(20_000)
    expect(isStarted).toBe(false)
    replica.every('1m', { id: 'b' }, world.handler())
    down.is = false
    await world.within(15_000, started)
    expect((await world.store.list()).map(({ id }) => id)).toEqual(['a', 'b'])
    expect(world.lines[0]).toMatch(/the store failed to start, next try in \d+ ms/)
  })

  test.each(['STORE_FOREIGN_SCHEMA', 'STORE_NEWER_SCHEMA', 'STORE_DRIVER_MISSING'] as const)(
    'rejects with what trying again cannot mend: %s',
    async (code) => {
      const error = new CronfenceError(code, 'no use')
      const store = new Proxy(world.store, {
        get: (target, name) =>
          name === 'start' ? () => Promise.reject(error) : Reflect.get(target, name),
      })
      const hopeless = world.replica({ store })
      await expect(hopeless.start()).rejects.toBe(error)
      await expect(hopeless.start()).rejects.toBe(error)
      expect(world.clock.pendingTimers).toBe(0)
    },
  )

  test('ends when stop is called meanwhile', async () => {
    faulty.fault = () => 'refused'
    replica.every('1m', { id: 'a' }, world.handler())
    const started = replica.start()
    await world.clock.advance(5000)
    await world.within(100, Promise.all([replica.stop(), started]))
    expect(world.clock.pendingTimers).toBe(0)
    faulty.fault = () => undefined
    await world.clock.advance(MINUTE)
    expect(await world.store.list()).toEqual([])
  })
})

describe('cancel while the store is away', () => {
  test('is retried until it is done', async () => {
    const task = replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    faulty.fault = () => 'refused'
    const cancelled = task.cancel()
    await world.clock.advance(10_000)
    expect(await world.store.list()).toHaveLength(1)
    faulty.fault = () => undefined
    await world.within(15_000, cancelled)
    expect(await world.store.list()).toEqual([])
  })

  test('rejects when the scheduler stops first, and before a start at once', async () => {
    const task = replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    faulty.fault = () => 'refused'
    const cancelled = task.cancel()
    cancelled.catch(() => {})
    await world.within(20_000, replica.stop(), 100)
    await expect(cancelled).rejects.toThrow('cannot be reached')
    await expect(replica.forgetTask('job')).rejects.toThrow('cannot be reached')
  })
})
