// SPEC §3.1: the leader claims on time, the others only what is overdue.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Coordinator, MemoryLeaseProvider } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

class FixedCoordinator implements Coordinator {
  leads: boolean
  readonly calls: string[] = []
  constructor(leads: boolean) {
    this.leads = leads
  }
  async start() {
    this.calls.push('start')
  }
  async stop() {
    this.calls.push('stop')
  }
  isLeader() {
    return this.leads
  }
}

describe('with a coordinator', () => {
  test('a follower asks nothing until the slot is overdue, and then looks first', async () => {
    const faulty = new FaultyStore(world.store)
    const leader = world.replica({ lease: new FixedCoordinator(true) })
    const follower = world.replica({ lease: new FixedCoordinator(false), store: faulty.proxy })
    for (const replica of [leader, follower]) {
      replica.every('1m', { id: 'job' }, world.handler())
      await replica.start()
    }
    await world.clock.advance(10 * MINUTE)
    expect(world.runs.map(({ replica }) => replica)).toEqual(Array(10).fill('A'))
    expect(faulty.count('claimDueMany')).toBe(0)
    expect(faulty.count('getMany')).toBeLessThanOrEqual(10)
  })

  test('one that throws does not lead, which is said once', async () => {
    const lease = new FixedCoordinator(true)
    lease.isLeader = () => {
      throw new Error('no quorum')
    }
    const replica = world.replica({ lease })
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(2 * MINUTE)
    expect(world.runs.map((run) => run.startedAt - Date.parse(run.slot))).toEqual([30_000])
    expect(world.lines.filter((line) => line.includes('no quorum'))).toHaveLength(1)
  })

  test('without a leader all slots run, late by its ttl and not missed', async () => {
    const followers = [1, 2, 3].map(() => world.replica({ lease: new FixedCoordinator(false) }))
    for (const replica of followers) {
      replica.every('1m', { id: 'job' }, world.handler())
      await replica.start()
    }
    await world.clock.advance(5 * MINUTE)
    expect(world.marked()).toEqual(['10:01:00', '10:02:00', '10:03:00', '10:04:00'])
    expect(world.runs.map((run) => run.startedAt - Date.parse(run.slot))).toEqual(
      Array(4).fill(30_000),
    )
  })

  test('with many leaders no slot runs twice', async () => {
    for (let n = 0; n < 5; n++) {
      const replica = world.replica({ lease: new FixedCoordinator(true) })
      replica.every('1m', { id: 'job' }, world.handler(10_000))
      await replica.start()
    }
    await world.clock.advance(3 * MINUTE)
    expect(world.slots()).toEqual(['10:01:00', '10:02:00', '10:03:00'])
  })

  test('a follower that becomes the leader takes what waits within a tick', async () => {
    const coordinator = new FixedCoordinator(false)
    const replica = world.replica({ lease: coordinator })
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE + 5000)
    coordinator.leads = true
    await world.clock.advance(1000)
    expect(world.slots()).toEqual(['10:01:00'])
    await world.within(1000, replica.stop())
    expect(coordinator.calls).toEqual(['start', 'stop'])
  })

  test('the grace is a tick and twice the ttl', async () => {
    const replica = world.replica({ lease: new FixedCoordinator(true), leaderTtlMs: '5s' })
    replica.every('1h', { id: 'in', missed: 'run-once' }, world.handler())
    replica.delay('1h', { id: 'out', missed: 'run-once' }, world.handler())
    await replica.start()
    await world.clock.advance(59 * MINUTE)
    await world.clock.stall(MINUTE + 11_000)
    expect(world.marked('in')).toEqual(['11:00:00'])
    await replica.stop()
    const late = world.replica({ lease: new FixedCoordinator(true), leaderTtlMs: '5s' })
    await world.store.register(
      { id: 'late', kind: 'delay', spec: '1', nextRunAt: world.clock.now() - 11_001 },
      0,
    )
    late.delay(1, { id: 'late', missed: 'run-once' }, world.handler())
    await late.start()
    await world.clock.settle()
    expect(world.runs.at(-1)).toMatchObject({ taskId: 'late', missed: true })
  })

  test('a coordinator that cannot start leaves a replica that never leads', async () => {
    const broken = new FixedCoordinator(false)
    broken.start = () => Promise.reject(new Error('no quorum'))
    broken.stop = () => Promise.reject(new Error('no quorum'))
    const replica = world.replica({ lease: broken })
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(2 * MINUTE)
    expect(world.slots()).toEqual(['10:01:00'])
    await world.within(1000, replica.stop())
  })
})

test('a coordinator that never answers holds up neither start nor stop', async () => {
  const silent = new FixedCoordinator(true)
  silent.start = () => new Promise(() => {})
  silent.stop = () => new Promise(() => {})
  const replica = world.replica({ lease: silent })
  replica.every('1m', { id: 'a' }, world.handler())
  await world.within(6000, replica.start(), 500)
  await world.clock.advance(2 * MINUTE)
  expect(world.runs).toHaveLength(2)
  await world.within(6000, replica.stop(), 500)
})

describe('with a lease provider', () => {
  test('one replica leads; another takes over at once when it stops', async () => {
    const lease = new MemoryLeaseProvider({ clock: world.clock })
    const a = world.replica({ lease, owner: 'same' })
    const b = world.replica({ lease, owner: 'same' })
    for (const replica of [a, b]) {
      replica.every('1m', { id: 'job' }, world.handler())
      await replica.start()
    }
    await world.clock.advance(2.5 * MINUTE)
    await world.within(100, a.stop())
    await world.clock.advance(3 * MINUTE)
    expect(world.runs.map(({ replica }) => replica).join('')).toBe('AABBB')
    const lateness = world.runs.map((run) => run.startedAt - Date.parse(run.slot))
    expect(Math.max(...lateness)).toBeLessThanOrEqual(1000)
  })

  test('namespaces have leaders of their own', async () => {
    const lease = new MemoryLeaseProvider({ clock: world.clock })
    for (const namespace of ['a', 'b']) {
      const replica = world.replica({ lease, namespace })
      replica.every('1m', { id: `in ${namespace}` }, world.handler())
      await replica.start()
    }
    await world.clock.advance(MINUTE)
    expect(world.runs).toHaveLength(2)
  })
})
