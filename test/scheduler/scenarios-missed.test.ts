// Scenarios of missed slots, stops, cancels and failures (shared cases, scenarios.md).

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MissedPolicy } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000
const POLICIES = ['skip', 'run-once', 'catch-up'] as const

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

test('sc-missed-01: down at the due time', async () => {
  world = new World('2026-03-02T02:00:00Z')
  const deploy = () => {
    return Array.from({ length: 3 }, () => {
      const replica = world.replica()
      for (const missed of POLICIES) {
        replica.schedule('0 3 * * *', { id: missed, missed }, world.handler())
      }
      return replica
    })
  }
  const old = deploy()
  await Promise.all(old.map((replica) => replica.start()))
  await world.clock.advanceTo('2026-03-02T02:50:00Z')
  await Promise.all(old.map((replica) => replica.stop()))
  await world.clock.advanceTo('2026-03-02T09:12:00Z')
  await Promise.all(deploy().map((replica) => replica.start()))
  await world.clock.advance(MINUTE)
  expect(world.marked('skip')).toEqual([])
  expect(world.marked('run-once')).toEqual(['03:00:00!'])
  expect(world.marked('catch-up')).toEqual(['03:00:00!'])
  await world.clock.advanceTo('2026-03-03T03:10:00Z')
  for (const policy of POLICIES) expect(world.marked(policy).at(-1)).toBe('03:00:00')
  expect(world.runs.slice(-3).map(({ slot }) => slot.slice(0, 10))).toEqual(
    Array(3).fill('2026-03-03'),
  )
})

test('sc-missed-03: catch-up below its cap', async () => {
  world = new World('2026-03-02T14:54:30Z')
  const old = world.replica()
  old.schedule('* * * * *', { id: 'minutely', missed: 'catch-up' }, world.handler())
  await old.start()
  await world.clock.advanceTo('2026-03-02T14:55:30Z')
  await old.stop()
  await world.clock.advanceTo('2026-03-02T14:59:30Z')
  const replica = world.replica()
  const keys: string[] = []
  replica.on('run-start', (run) => keys.push('occurrenceKey' in run ? run.occurrenceKey : ''))
  replica.schedule('* * * * *', { id: 'minutely', missed: 'catch-up' }, world.handler(1000))
  await replica.start()
  await world.clock.advanceTo('2026-03-02T15:00:30Z')
  expect(world.marked()).toEqual([
    '14:55:00',
    '14:56:00!',
    '14:57:00!',
    '14:58:00!',
    '14:59:00!',
    '15:00:00',
  ])
  const tokens = world.runs.map(({ token }) => token)
  expect(tokens).toEqual([1, 2, 2, 2, 2, 3])
  expect(keys.slice(0, 2)).toEqual([
    'minutely@2026-03-02T14:56:00.000Z',
    'minutely@2026-03-02T14:57:00.000Z',
  ])
  expect(new Set(keys).size).toBe(5)
  const runs = world.runs.slice(1)
  for (const [index, run] of runs.entries()) {
    expect(run.startedAt).toBeGreaterThanOrEqual(runs[index - 1]?.endedAt ?? 0)
  }
})

describe('sc-missed-07: slots that fall due while a run is going on', () => {
  const rows: [MissedPolicy, string[]][] = [
    ['skip', ['00', '06', '08']],
    ['run-once', ['00', '02!', '06', '08']],
    ['catch-up', ['00', '02!', '04!', '06', '08']],
  ]
  test.each(rows)('%s', async (missed, expected) => {
    world = new World('2026-03-02T09:59:58Z')
    const replica = world.replica()
    const slow = world.handler(5500)
    const quick = world.handler()
    let first = true
    replica.every('2s', { id: 'job', missed }, (run) => {
      const handler = first ? slow : quick
      first = false
      return handler(run)
    })
    await replica.start()
    await world.clock.advance(11_000)
    expect(world.marked().map((slot) => slot.slice(6))).toEqual(expected)
    for (const [index, run] of world.runs.entries()) {
      expect(run.startedAt).toBeGreaterThanOrEqual(world.runs[index - 1]?.endedAt ?? 0)
    }
  })
})

test('sc-stop-01: stop drains', async () => {
  const replica = world.replica()
  let abortedAt: number | undefined
  replica.every('1s', { id: 'running' }, async (run) => {
    await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
    abortedAt = world.clock.now()
    await world.sleep(200)
  })
  replica.every('1600ms', { id: 'waiting' }, world.handler())
  await replica.start()
  await world.clock.advance(1500)
  const stoppedAt = world.clock.now()
  await world.within(5000, replica.stop())
  expect(abortedAt).toBe(stoppedAt)
  expect(world.clock.now() - stoppedAt).toBeGreaterThanOrEqual(200)
  expect(world.runs).toEqual([])
  await world.clock.advance(60_000)
  expect(world.runs).toEqual([])
  const start = Date.parse('2026-03-02T10:00:00Z')
  const running = await world.store.get('running')
  expect(running).toMatchObject({ lastRunAt: start + 1000, nextRunAt: start + 2000 })
  expect(running?.leaseUntil).toBeUndefined()
  expect(await world.store.get('waiting')).toMatchObject({ nextRunAt: start + 1600 })
})

test('sc-stop-02: a handler that ignores its signal', async () => {
  const a = world.replica({ drainMs: 500 })
  const b = world.replica()
  a.every('10s', { id: 'job' }, world.handler(MINUTE))
  await a.start()
  await world.clock.advance(10_500)
  b.every('10s', { id: 'job' }, world.handler())
  await b.start()
  const stoppedAt = world.clock.now()
  await world.within(5000, a.stop())
  expect(world.clock.now() - stoppedAt).toBeLessThan(600)
  await world.clock.advance(1100)
  expect(world.marked()).toEqual(['10:00:10', '10:00:10'])
  expect(world.runs.map(({ token }) => token)).toEqual([1, 2])
  const before = await world.store.get('job')
  await world.clock.advanceTo('2026-03-02T10:01:09Z')
  expect(before?.lastRunAt).toBe(Date.parse('2026-03-02T10:00:10Z'))
  const row = await world.store.get('job')
  await world.clock.advanceTo('2026-03-02T10:01:10.500Z')
  expect(world.runs[0]?.endedAt).toBe(Date.parse('2026-03-02T10:01:10Z'))
  expect(await world.store.get('job')).toMatchObject({ fencingToken: (row?.fencingToken ?? 0) + 1 })
})

describe('sc-cancel-02: a task that cancels itself', () => {
  test('durable', async () => {
    const replica = world.replica()
    let count = 0
    const task = replica.every('1s', { id: 'job' }, async () => {
      if (++count === 3) await task.cancel()
    })
    await replica.start()
    await world.clock.advance(10_000)
    expect(count).toBe(3)
    expect(await world.store.get('job')).toBeNull()
    expect(world.lines).toEqual([])
    expect(task.nextRunAt).toBeNull()
  })

  test('plain', async () => {
    const replica = world.replica()
    let count = 0
    const task = replica.every('1s', async () => {
      if (++count === 3) await task.cancel()
    })
    await world.clock.advance(10_000)
    expect(count).toBe(3)
    expect(world.clock.pendingTimers).toBe(0)
  })
})

test('sc-cancel-03: ten thousand cancelled at once', async () => {
  const replica = world.replica()
  let runs = 0
  const tasks = Array.from({ length: 10_000 }, (_, index) => {
    return replica.every('10s', { id: `task-${index}` }, () => void runs++)
  })
  await replica.start()
  await world.clock.advance(20_000)
  expect(runs).toBe(20_000)
  await Promise.all(tasks.map((task) => task.cancel()))
  expect(await world.store.list()).toEqual([])
  expect(world.clock.pendingTimers).toBe(0)
  replica.every('10s', { id: 'new' }, world.handler())
  await world.clock.advance(20_000)
  expect(runs).toBe(20_000)
  expect(world.slots('new')).toHaveLength(2)
})

test('sc-error-05: the store is away for half a minute', async () => {
  const faulty = new FaultyStore(world.store)
  const replica = world.replica({ store: faulty.proxy })
  let away = false
  faulty.fault = () => (away ? 'refused' : undefined)
  let abortedAt: number | undefined
  replica.every('1m', { id: 'job', missed: 'run-once' }, world.handler())
  replica.every('50s', { id: 'long', missed: 'run-once', leaseMs: '10s' }, async (run) => {
    run.signal.addEventListener('abort', () => (abortedAt ??= world.clock.now()))
    await world.sleep(25_000)
  })
  await replica.start()
  await world.clock.advance(55_000)
  away = true
  const awayFrom = world.clock.now()
  await world.clock.advance(30_000)
  away = false
  expect(abortedAt! - awayFrom).toBeGreaterThan(5000)
  expect(abortedAt! - awayFrom).toBeLessThanOrEqual(10_000)
  await world.clock.advance(12_000)
  expect(world.marked('job')).toEqual(['10:01:00!'])
  await world.clock.advanceTo('2026-03-02T10:04:00.500Z')
  expect(world.marked('job')).toEqual(['10:01:00!', '10:02:00', '10:03:00', '10:04:00'])
  const errors = world.lines.filter((line) => line.includes('the store failed to'))
  expect(errors.length).toBeGreaterThan(3)
  expect(errors.length).toBeLessThan(30)
})

describe('sc-error-06: the work is done but the commit is lost', () => {
  test.each(['dropped', 'unanswered'] as const)('the commit is %s', async (fault) => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    faulty.fault = (method, call) => (method === 'completeMany' && call === 1 ? fault : undefined)
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE)
    expect(world.marked()).toEqual(['10:01:00'])
    await world.clock.advance(2000)
    const row = await world.store.get('job')
    expect(row).toMatchObject({ nextRunAt: Date.parse('2026-03-02T10:02:00Z') })
    expect(row?.leaseUntil).toBeUndefined()
    await world.clock.advance(2 * MINUTE)
    expect(world.marked()).toEqual(['10:01:00', '10:02:00', '10:03:00'])
  })
})
