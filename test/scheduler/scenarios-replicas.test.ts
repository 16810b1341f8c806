// Scenarios of several replicas, restarts, clocks and changed specs (shared cases, scenarios.md).

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryLeaseProvider } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

const nextRunAt = async (id: string) => {
  const row = await world.store.get(id)
  return row?.nextRunAt == null ? null : new Date(row.nextRunAt).toISOString()
}

test('sc-dup-02: twenty replicas race for the first registration', async () => {
  const replicas = Array.from({ length: 20 }, () => world.replica())
  for (const replica of replicas) replica.every('1m', { id: 'job' }, world.handler())
  await Promise.all(replicas.map((replica) => replica.start()))
  await world.clock.advance(3 * MINUTE + 1000)
  expect(await world.store.list()).toHaveLength(1)
  expect(world.slots()).toEqual(['10:01:00', '10:02:00', '10:03:00'])
  expect(world.runs.map(({ token }) => token)).toEqual([1, 2, 3])
  expect(world.lines).toEqual([])
})

test('sc-dup-03: ten redeploys without a change keep the slot', async () => {
  const deploy = async () => {
    const replica = world.replica()
    replica.every('5m', { id: 'job' }, world.handler())
    await replica.start()
    return replica
  }
  let current = await deploy()
  await world.clock.advance(MINUTE)
  for (let count = 0; count < 10; count++) {
    await current.stop()
    current = await deploy()
    expect(await nextRunAt('job')).toBe('2026-03-02T10:05:00.000Z')
    await world.clock.advance(18_000)
  }
  await world.clock.advanceTo('2026-03-02T10:11:00Z')
  expect(world.slots()).toEqual(['10:05:00', '10:10:00'])
  expect(await world.store.list()).toHaveLength(1)
})

describe('sc-dup-08: the replica that did all the work is killed', () => {
  test.each([false, true])('with a leader lease: %s', async (isLed) => {
    const leases = new MemoryLeaseProvider({ clock: world.clock })
    // Of a dead process nothing reaches the store any more.
    const faulty = new FaultyStore(world.store)
    const faultyLeases = new FaultyStore(leases)
    const a = world.replica({
      store: faulty.proxy,
      logger: { warn: () => {}, error: () => {} },
      ...(isLed && { lease: faultyLeases.proxy }),
    })
    const b = world.replica(isLed ? { lease: leases } : {})
    a.every('1m', { id: 'job' }, world.handler())
    await a.start()
    b.every('1m', { id: 'job' }, world.handler())
    await b.start()
    await world.clock.advance(3.5 * MINUTE)
    expect(new Set(world.runs.map(({ replica }) => replica))).toEqual(new Set(['A']))
    faulty.fault = () => 'refused'
    faultyLeases.fault = () => 'refused'
    await world.clock.advance(4 * MINUTE)
    expect(world.marked()).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `10:0${n}:00`))
    expect(world.runs.slice(3).map(({ replica }) => replica)).toEqual(['B', 'B', 'B', 'B'])
    const lateness = world.runs.map((run) => run.startedAt - Date.parse(run.slot))
    const graceMs = isLed ? 61_000 : 1000
    expect(lateness[3]).toBeLessThanOrEqual(graceMs)
    for (const ms of lateness.slice(4)) expect(ms).toBeLessThanOrEqual(1000)
  })
})

test('sc-dup-10: two tasks in one tick, the first one slow', async () => {
  world = new World('2026-03-02T07:00:00Z')
  const replica = world.replica()
  replica.schedule('30 * * * *', { id: 'a' }, world.handler(15 * MINUTE))
  replica.schedule('30 * * * *', { id: 'b' }, world.handler(6 * MINUTE))
  await replica.start()
  await world.clock.advance(60 * MINUTE)
  expect(
    world.runs.map(({ taskId, startedAt }) => [taskId, new Date(startedAt).toISOString()]),
  ).toEqual([
    ['a', '2026-03-02T07:30:00.000Z'],
    ['b', '2026-03-02T07:30:00.000Z'],
  ])
  expect(await nextRunAt('b')).toBe('2026-03-02T08:30:00.000Z')
})

test('sc-clock-01: the wall clock is set back one hour', async () => {
  world = new World('2026-03-02T11:58:00Z')
  const replica = world.replica()
  replica.schedule('*/5 * * * *', { id: 'job' }, world.handler())
  await replica.start()
  await world.clock.advanceTo('2026-03-02T12:06:00Z')
  expect(world.slots()).toEqual(['12:00:00', '12:05:00'])
  world.clock.stepWall(-60 * MINUTE)
  await world.clock.advanceTo('2026-03-02T12:09:00Z')
  expect(world.slots()).toEqual(['12:00:00', '12:05:00'])
  expect(await nextRunAt('job')).toBe('2026-03-02T12:10:00.000Z')
  await world.clock.advance(2 * MINUTE)
  expect(world.slots()).toEqual(['12:00:00', '12:05:00', '12:10:00'])
})

test('sc-clock-05: a restart between the two passes of the same wall time', async () => {
  world = new World('2026-11-01T05:00:00Z')
  const deploy = async () => {
    const replica = world.replica()
    replica.schedule('30 1 * * *', { id: 'job', timeZone: 'America/New_York' }, world.handler())
    await replica.start()
    return replica
  }
  const first = await deploy()
  await world.clock.advanceTo('2026-11-01T06:20:00Z')
  expect(world.slots()).toEqual(['05:30:00'])
  expect(await nextRunAt('job')).toBe('2026-11-02T06:30:00.000Z')
  await first.stop()
  await deploy()
  await world.clock.advanceTo('2026-11-01T07:00:00Z')
  expect(await nextRunAt('job')).toBe('2026-11-02T06:30:00.000Z')
  expect(world.slots()).toEqual(['05:30:00'])
})

describe('sc-spec-01: the new time has already passed today', () => {
  test.each([
    ['it ran today', '2026-03-02T14:00:00Z'],
    ['it was down since before', '2026-03-02T00:30:00Z'],
  ])('%s', async (_, stoppedAt) => {
    world = new World('2026-03-02T00:00:00Z')
    const old = world.replica()
    old.schedule('0 1 * * *', { id: 'job', missed: 'run-once' }, world.handler())
    await old.start()
    await world.clock.advanceTo(stoppedAt)
    await old.stop()
    const before = world.runs.length
    await world.clock.advanceTo('2026-03-02T15:00:00Z')
    const replica = world.replica()
    replica.schedule('0 2 * * *', { id: 'job', missed: 'run-once' }, world.handler())
    await replica.start()
    await world.clock.advance(60 * MINUTE)
    expect(world.runs).toHaveLength(before)
    expect(await nextRunAt('job')).toBe('2026-03-03T02:00:00.000Z')
  })
})

test('sc-spec-02: from a day to five minutes', async () => {
  world = new World('2026-03-01T18:00:00Z')
  const old = world.replica()
  old.every('24h', { id: 'job' }, world.handler())
  await old.start()
  await old.stop()
  expect(await nextRunAt('job')).toBe('2026-03-02T18:00:00.000Z')
  await world.clock.advanceTo('2026-03-02T10:00:00Z')
  const replica = world.replica()
  const task = replica.every('5m', { id: 'job' }, world.handler())
  await replica.start()
  expect(task.nextRunAt?.toISOString()).toBe('2026-03-02T10:05:00.000Z')
  await world.clock.advance(11 * MINUTE)
  expect(world.slots()).toEqual(['10:05:00', '10:10:00'])
  await world.clock.advanceTo('2026-03-02T18:01:00Z')
  expect(world.slots()).toHaveLength(8 * 12)
})
