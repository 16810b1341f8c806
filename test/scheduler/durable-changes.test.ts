// Tasks that come and go while a scheduler runs, here or elsewhere.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ScheduleStore } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

const at = (time: string) => Date.parse(`2026-03-02T${time}Z`)

describe('tasks that come and go while the scheduler runs', () => {
  test('are stored at once and deleted at once', async () => {
    const replica = world.replica()
    await replica.start()
    const task = replica.every('1m', { id: 'job' }, world.handler())
    await world.clock.settle()
    expect(task.nextRunAt).toEqual(new Date(at('10:01:00')))
    await world.clock.advance(MINUTE)
    const cancelled = task.cancel()
    replica.every('10s', { id: 'job' }, world.handler())
    await cancelled
    await world.clock.advance(10_000)
    expect(world.marked()).toEqual(['10:01:00', '10:01:10'])
    expect(world.runs.map(({ token }) => token)).toEqual([1, 2])
  })

  test('a namesake waits for the run of the cancelled one', async () => {
    const replica = world.replica()
    await replica.start()
    const task = replica.every('1m', { id: 'job' }, world.handler(15_000))
    await world.clock.advance(MINUTE)
    await task.cancel()
    replica.every('10s', { id: 'job', missed: 'run-once' }, world.handler())
    await world.clock.advance(20_000)
    expect(world.runs[1]!.startedAt).toBeGreaterThanOrEqual(world.runs[0]!.endedAt!)
  })

  test('forgetTask also deletes what is not registered here', async () => {
    await world.store.register({ id: 'orphan', kind: 'every', spec: '5', nextRunAt: 5 }, 0)
    const replica = world.replica()
    await replica.forgetTask('orphan')
    expect(await world.store.list()).toEqual([])
  })

  test('one that was deleted elsewhere ends here, and is said once', async () => {
    const replica = world.replica()
    const removed: unknown[] = []
    replica.on('removed', (event) => removed.push(event))
    const task = replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.store.delete('job')
    await world.clock.advance(5 * MINUTE)
    expect(removed).toEqual([{ taskId: 'job' }])
    expect(world.runs).toEqual([])
    expect(task.nextRunAt).toBeNull()
    expect(await world.store.get('job')).toBeNull()
  })
})

describe('a plan that a newer deploy changed', () => {
  test('is not run by the old one, and its row is left as it was', async () => {
    const old = world.replica()
    const superseded: unknown[] = []
    old.on('superseded', (event) => superseded.push(event))
    old.every('1m', { id: 'job', missed: 'run-once' }, world.handler())
    await old.start()
    await world.store.register(
      { id: 'job', kind: 'every', spec: '7000', nextRunAt: at('10:00:07') },
      at('10:00:00'),
    )
    await world.clock.advance(10 * MINUTE)
    expect(world.runs).toEqual([])
    expect(superseded).toEqual([{ taskId: 'job', kind: 'every', spec: '7000' }])
    const row = await world.store.get('job')
    expect(row).toMatchObject({ nextRunAt: at('10:00:07'), spec: '7000' })
    expect(row?.leaseUntil).toBeUndefined()
    // Rolled back: the old plan is stored again, and the old replica goes on.
    await world.store.register(
      { id: 'job', kind: 'every', spec: '60000', nextRunAt: at('10:20:00') },
      world.clock.now(),
    )
    await world.clock.advanceTo('2026-03-02T10:20:01Z')
    expect(world.marked()).toEqual(['10:20:00'])
  })

  test('is handed back at once, also when its slot was before that of the old plan', async () => {
    const old = world.replica({ drainMs: 0 })
    old.every('1h', { id: 'job' }, world.handler(600_000))
    await old.start()
    await world.clock.advance(61 * MINUTE)
    await world.store.register(
      { id: 'job', kind: 'every', spec: '7000', nextRunAt: at('10:30:00') },
      world.clock.now(),
    )
    await world.within(1000, old.stop())
    const replica = world.replica()
    replica.every('7s', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(100)
    expect(world.slots()).toEqual(['11:00:00', '10:30:00'])
  })

  test('is not run early by a claim of the old plan that is found later', async () => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy, drainMs: 0 })
    replica.every('10s', { id: 'job' }, world.handler())
    await replica.start()
    faulty.fault = (method) => (method.startsWith('claimDue') ? 'silent' : undefined)
    await world.clock.advance(10_000)
    await world.within(6000, replica.stop())
    faulty.fault = () => undefined
    const other = world.replica()
    other.every('1h', { id: 'job' }, world.handler())
    await other.start()
    await other.stop()
    await replica.start()
    await world.clock.advance(9000)
    expect(world.runs).toEqual([])
    await world.clock.advance(2000)
    expect(world.marked()).toEqual(['10:00:25'])
  })

  test('is not taken for the outcome of a commit that skipped slots', async () => {
    const faulty = new FaultyStore(world.store)
    const old = world.replica({ store: faulty.proxy })
    const told: string[] = []
    old.on('commit', () => told.push('commit')).on('commit-unknown', () => told.push('unknown'))
    old.every('1m', { id: 'job' }, world.handler())
    await old.start()
    await old.stop()
    await world.clock.advance(10 * MINUTE + 30_000)
    // Registered again elsewhere before the request comes; its reply is lost.
    faulty.fault = (method, call) => {
      if (method !== 'completeMany' || call > 1) return undefined
      void world.store.delete('job')
      const again = { id: 'job', kind: 'every', spec: '60000', nextRunAt: at('10:30:00') } as const
      void world.store.register(again, at('10:29:00'))
      return 'dropped'
    }
    await old.start()
    await world.clock.advance(5000)
    expect(told).toEqual(['unknown'])
  })

  test('is not overwritten by the commit of a run of the old plan', async () => {
    const old = world.replica()
    old.every('1m', { id: 'job' }, world.handler(20_000))
    await old.start()
    await world.clock.advance(MINUTE)
    const replica = world.replica()
    const task = replica.every('5s', { id: 'job' }, world.handler())
    await replica.start()
    expect(task.nextRunAt).toEqual(new Date(at('10:01:05')))
    await world.clock.advance(21_000)
    expect(world.slots()).toContain('10:01:00')
    await world.clock.advance(10_000)
    expect(world.runs.filter(({ replica: name }) => name === 'B').length).toBeGreaterThan(1)
  })

  test('is not overwritten either in a store that knows nothing of plans', async () => {
    const { proxy: store } = new FaultyStore(world.store, { single: true })
    const complete: ScheduleStore['complete'] = (id, token, { nextRunAt }, now) =>
      world.store.complete(id, token, { nextRunAt }, now)
    const literal = new Proxy(store, {
      get: (target, name) => (name === 'complete' ? complete : Reflect.get(target, name)),
    })
    const old = world.replica({ store: literal })
    old.every('1d', { id: 'job' }, world.handler(20_000))
    await old.start()
    await world.clock.advance(1440 * MINUTE)
    const replica = world.replica({ store: literal })
    replica.every('5m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(11 * MINUTE)
    expect(world.slots()).toEqual(['10:00:00', '10:05:00', '10:10:00'])
  })
})
