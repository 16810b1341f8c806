// What the simulation (test/simulation) has found, each as a short story: answers that never come,
// come twice, or leave open what was done.

import { expect, test } from 'vitest'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

test('a store that never answers its start is asked again', async () => {
  const world = new World()
  const faulty = new FaultyStore(world.store)
  faulty.fault = (method, call) => (method === 'start' && call === 1 ? 'silent' : undefined)
  const scheduler = world.replica({ store: faulty.proxy })
  await world.within(70_000, scheduler.start(), 1000)
  expect(faulty.count('start')).toBe(2)
})

test('a start that a second stop overtakes, while the first goes on, starts nothing', async () => {
  const world = new World()
  const scheduler = world.replica({ drainMs: 1000 })
  scheduler.every(300, { id: 'slow' }, world.handler(5000))
  await world.within(1000, scheduler.start())
  await world.clock.advance(400)
  const first = scheduler.stop()
  const start = scheduler.start()
  const second = scheduler.stop()
  await world.within(10_000, Promise.all([first, start, second]))
  const plain: number[] = []
  scheduler.every(100, () => void plain.push(world.clock.now()))
  await world.clock.advance(1000)
  expect(plain).toEqual([])
})

test('a commit that its client sends twice is told as committed', async () => {
  const world = new World()
  const faulty = new FaultyStore(world.store)
  faulty.fault = (method) => (method.startsWith('complete') ? 'doubled' : undefined)
  const scheduler = world.replica({ store: faulty.proxy })
  const told: string[] = []
  scheduler
    .on('commit', () => told.push('commit'))
    .on('commit-rejected', () => told.push('rejected'))
  scheduler.every(1000, { id: 'task' }, () => {})
  await world.within(1000, scheduler.start())
  await world.clock.advance(1500)
  expect(told).toEqual(['commit'])
})

test('a claim found by reading is not taken over from who had an earlier slot', async () => {
  const world = new World()
  const { clock, store } = world
  const slot = clock.now()
  await store.register({ id: 'task', kind: 'every', spec: '2000', nextRunAt: slot }, slot)
  await store.claimDue('task', 'first', slot, 1000)
  await clock.advance(5000)
  const faulty = new FaultyStore(store)
  faulty.fault = (method, call) => {
    if (method !== 'claimDueMany' || call > 1) return undefined
    // Quicker than we are, another replica takes the lapsed lease over and commits.
    void store.claimDue('task', 'second', clock.now(), 1000)
    void store.complete('task', 2, { nextRunAt: slot + 2000 }, clock.now())
    return 'unanswered'
  }
  const scheduler = world.replica({ store: faulty.proxy })
  scheduler.every(2000, { id: 'task', missed: 'run-once' }, world.handler())
  await world.within(1000, scheduler.start())
  await clock.advance(100)
  expect(world.marked()).toEqual(['10:00:02!'])
})

test('a commit is not told as accepted of a row that was deleted and made anew', async () => {
  const world = new World()
  const { clock, store } = world
  const scheduler = world.replica()
  const told: string[] = []
  scheduler
    .on('commit', () => told.push('commit'))
    .on('commit-rejected', () => told.push('refused'))
  scheduler.every(2000, { id: 'task' }, world.handler(500))
  await world.within(1000, scheduler.start())
  await clock.advance(2200)
  await store.delete('task', 1)
  const nextRunAt = clock.now() + 2000
  await store.register({ id: 'task', kind: 'every', spec: '2000', nextRunAt }, clock.now())
  await clock.advance(1000)
  expect(told).toEqual(['refused'])
})

test('what is handed back stays so, though a renewal was on its way', async () => {
  const world = new World()
  const { store } = world
  const late = new FaultyStore(store)
  const renewMany = store.renewMany.bind(store)
  let renewals = 0
  store.renewMany = async (batch) => {
    if (renewals++ === 0) await world.sleep(300)
    return renewMany(batch)
  }
  const scheduler = world.replica({ store: late.proxy, drainMs: 0 })
  scheduler.every(1000, { id: 'task', leaseMs: 6000 }, () => new Promise(() => {}))
  await world.within(1000, scheduler.start())
  await world.clock.advance(3001)
  expect(renewals).toBe(1)
  await world.within(1000, scheduler.stop())
  await world.clock.advance(1000)
  const row = await store.get('task')
  expect(row?.leaseUntil).toBeLessThanOrEqual(row?.nextRunAt ?? Number.NaN)
})

test('a claim that a renewal on its way finds lost is not handed back', async () => {
  const world = new World()
  const { store } = world
  const renewMany = store.renewMany.bind(store)
  let renewals = 0
  store.renewMany = async (batch) => {
    if (renewals++ === 0) await world.sleep(300)
    return renewMany(batch)
  }
  const scheduler = world.replica({ drainMs: 0 })
  scheduler.every(1000, { id: 'task', leaseMs: 6000 }, () => new Promise(() => {}))
  await world.within(1000, scheduler.start())
  await world.clock.advance(3001)
  await store.delete('task')
  await world.within(1000, scheduler.stop())
  await world.clock.advance(1000)
  expect(renewals).toBe(1)
})

test('two removals of one id, of a store that cannot start, reject and do no more', async () => {
  const world = new World()
  const faulty = new FaultyStore(world.store)
  faulty.fault = (method) => (method === 'start' ? 'refused' : undefined)
  const scheduler = world.replica({ store: faulty.proxy })
  const unhandled: unknown[] = []
  const hear = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', hear)
  const removals = [scheduler.forgetTask('task'), scheduler.forgetTask('task')]
  const outcomes = await Promise.allSettled(removals)
  await new Promise(setImmediate) // Node tells of them a turn later.
  process.off('unhandledRejection', hear)
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(unhandled).toEqual([])
})
