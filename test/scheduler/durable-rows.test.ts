// SPEC §2.3: what a durable task is, its row, and what is stored of it.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryScheduleStore, type ScheduledRun, Scheduler } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000
const DAY = 86_400_000

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

const at = (time: string) => Date.parse(`2026-03-02T${time}Z`)

describe('a run', () => {
  test('knows its task, slot, key, token and signal', async () => {
    const replica = world.replica()
    let run: ScheduledRun | undefined
    replica.every('1m', { id: 'näme' }, (given) => {
      run = given
    })
    await replica.start()
    await world.clock.stall(60_700)
    expect({ ...run, signal: undefined }).toEqual({
      taskId: 'näme',
      scheduledAt: new Date(at('10:01:00')),
      occurrenceKey: 'näme@2026-03-02T10:01:00.000Z',
      fencingToken: 1,
      missed: false,
      signal: undefined,
    })
    expect(run?.signal.aborted).toBe(false)
  })

  test('that fails is logged and emitted, and its slot is committed', async () => {
    const replica = world.replica()
    const errors: unknown[][] = []
    replica.on('error', (...args) => errors.push(args))
    const failure = new Error('broken')
    replica.every('1m', { id: 'job' }, () => {
      throw failure
    })
    await replica.start()
    await world.clock.advance(MINUTE)
    expect(errors).toMatchObject([[failure, { taskId: 'job' }]])
    expect(world.lines[0]).toContain('the handler of task "job" failed')
    expect(await world.store.get('job')).toMatchObject({
      lastRunAt: at('10:01:00'),
      nextRunAt: at('10:02:00'),
    })
  })
})

describe('the stored spec', () => {
  test.each<[string, (scheduler: Scheduler) => void, object]>([
    [
      'of an interval',
      (s) => s.every('1h30m', { id: 'job' }, () => {}),
      { kind: 'every', spec: '5400000' },
    ],
    [
      'of a delay',
      (s) => s.delay('2d', { id: 'job' }, () => {}),
      { kind: 'delay', spec: '172800000' },
    ],
    [
      'of a cron',
      (s) => s.schedule(' 0 9 * * 1-5 ', { id: 'job' }, () => {}),
      { kind: 'cron', spec: '0 9 * * 1-5' },
    ],
    [
      'with a zone',
      (s) => s.schedule('0 9 * * *', { id: 'job', timeZone: 'Europe/Madrid' }, () => {}),
      { spec: 'TZ=Europe/Madrid 0 9 * * *' },
    ],
    [
      'with the process zone',
      (s) => s.schedule('0 9 * * *', { id: 'job', timeZone: 'local' }, () => {}),
      { spec: '0 9 * * *' },
    ],
    [
      'with gap and fold',
      (s) =>
        s.schedule(
          '0 2 * * *',
          { id: 'job', timeZone: 'UTC', gap: 'skip', fold: 'both' },
          () => {},
        ),
      { spec: 'TZ=UTC GAP=skip FOLD=both 0 2 * * *' },
    ],
    [
      'in the extended dialect',
      (s) => s.schedule('0 0 9 * * MON#1', { id: 'job', dialect: 'extended' }, () => {}),
      { spec: 'DIALECT=extended 0 0 9 * * MON#1' },
    ],
    [
      'in the standard dialect, said aloud',
      (s) => s.schedule('0 9 * * 1', { id: 'job', dialect: 'standard' }, () => {}),
      { spec: '0 9 * * 1' },
    ],
  ])('%s', async (_, register, row) => {
    const replica = world.replica({ timeZone: undefined })
    register(replica)
    await replica.start()
    expect(await world.store.get('job')).toMatchObject(row)
  })

  test('has the zone of the scheduler', async () => {
    const replica = world.replica({ timeZone: 'Asia/Tokyo' })
    replica.schedule('0 9 * * *', { id: 'job' }, () => {})
    await replica.start()
    expect(await world.store.get('job')).toMatchObject({ spec: 'TZ=Asia/Tokyo 0 9 * * *' })
  })

  test('that changes its kind plans again from now', async () => {
    const old = world.replica()
    old.every('1h', { id: 'job' }, world.handler())
    await old.start()
    await old.stop()
    await world.clock.advance(30 * MINUTE)
    const replica = world.replica()
    const task = replica.schedule('45 * * * *', { id: 'job' }, world.handler())
    await replica.start()
    expect(task.nextRunAt).toEqual(new Date(at('10:45:00')))
  })
})

describe('a delay', () => {
  const deploy = async (ms = 60_000) => {
    const replica = world.replica()
    replica.delay(ms, { id: 'once', missed: 'run-once' }, world.handler())
    await replica.start()
    return replica
  }

  test('keeps its time across restarts, runs once, and leaves a tombstone', async () => {
    const first = await deploy()
    await world.clock.advance(30_000)
    await first.stop()
    const second = await deploy()
    await world.clock.advance(MINUTE)
    expect(world.marked()).toEqual(['10:01:00'])
    await second.stop()
    const third = await deploy()
    await world.clock.advance(10 * MINUTE)
    expect(world.runs).toHaveLength(1)
    expect(await world.store.get('once')).toMatchObject({ nextRunAt: null })
    await third.forgetTask('once')
    expect(await world.store.get('once')).toBeNull()
    await third.stop()
    await deploy()
    await world.clock.advance(2 * MINUTE)
    expect(world.runs).toHaveLength(2)
    expect(world.runs[1]?.token).toBe(2)
  })

  test('that is missed runs late or is dropped, as the policy says', async () => {
    const replica = world.replica()
    for (const missed of ['skip', 'run-once', 'catch-up'] as const) {
      replica.delay('1m', { id: missed, missed }, world.handler())
    }
    await replica.start()
    await replica.stop()
    await world.clock.advance(2 * MINUTE)
    await replica.start()
    await world.clock.settle()
    expect(world.marked('skip')).toEqual([])
    expect(world.marked('run-once')).toEqual(['10:01:00!'])
    expect(world.marked('catch-up')).toEqual(['10:01:00!'])
    for (const id of ['skip', 'run-once', 'catch-up']) {
      expect(await world.store.get(id)).toMatchObject({ nextRunAt: null })
    }
  })
})

describe('a dormant cron', () => {
  test('has a row without a slot; its slot is set when a run comes into sight', async () => {
    world = new World('2096-03-01T00:00:00Z')
    const replica = world.replica()
    const dormant: unknown[] = []
    replica.on('dormant', (event) => dormant.push(event))
    const task = replica.schedule('0 0 29 2 *', { id: 'leap' }, world.handler())
    await replica.start()
    expect(task.nextRunAt).toBeNull()
    expect(await world.store.get('leap')).toMatchObject({ nextRunAt: null })
    for (let days = 0; days < 4 * 365 + 10; days += 5) {
      await world.clock.stall(5 * DAY)
      await world.clock.settle()
    }
    expect(dormant).toEqual([{ taskId: 'leap' }])
    expect(await world.store.get('leap')).toMatchObject({
      nextRunAt: Date.parse('2104-02-29T00:00:00Z'),
    })
  })
})

describe('orphans', () => {
  test('are told once at start, kept, and never run', async () => {
    await world.store.register({ id: 'gone\n', kind: 'every', spec: '1000', nextRunAt: 0 }, 0)
    await world.store.register(
      { id: 'other\u001fjob', kind: 'every', spec: '1000', nextRunAt: 0 },
      0,
    )
    const replica = world.replica()
    const orphans: unknown[] = []
    replica.on('orphans', (event) => orphans.push(event))
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE)
    expect(orphans).toEqual([{ taskIds: ['gone\n'] }])
    expect(world.lines).toEqual(['cronfence: stored, but registered by no code: "gone\\u000a"'])
    expect(await world.store.list()).toHaveLength(3)
    expect(world.slots()).toEqual(['10:01:00'])
  })
})

test('namespaces keep the tasks of one store apart', async () => {
  const a = world.replica({ namespace: 'a' })
  const b = world.replica({ namespace: 'b' })
  const orphans: unknown[] = []
  for (const replica of [a, b]) {
    replica.on('orphans', (event) => orphans.push(event))
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
  }
  await world.clock.advance(MINUTE)
  expect(world.runs.map(({ taskId, replica }) => [taskId, replica])).toEqual([
    ['job', 'A'],
    ['job', 'B'],
  ])
  // Two tasks of one name: what holds of the runs of one does not hold here.
  world.runs.length = 0
  expect((await world.store.list()).map(({ id }) => id)).toEqual(['a\u001fjob', 'b\u001fjob'])
  expect(orphans).toEqual([])
  await a.forgetTask('job')
  expect((await world.store.list()).map(({ id }) => id)).toEqual(['b\u001fjob'])
})

test('the memory store is the default, and warns once that a restart forgets', async () => {
  const lines: string[] = []
  const logger = {
    warn: (line: string) => lines.push(line),
    error: (line: string) => lines.push(line),
  }
  const scheduler = new Scheduler({ clock: world.clock, logger })
  scheduler.every('1m', () => {})
  expect(lines).toEqual([])
  scheduler.every('1m', { id: 'a' }, world.handler())
  scheduler.every('1m', { id: 'b' }, world.handler())
  await scheduler.start()
  await world.clock.advance(MINUTE)
  expect(world.runs).toHaveLength(2)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('a restart forgets them')
})

test('a store without batch methods serves as well', async () => {
  const faulty = new FaultyStore(world.store, { single: true })
  const replica = world.replica({ store: faulty.proxy })
  for (let n = 0; n < 250; n++) replica.every('1m', { id: `task-${n}` }, world.handler(30_000))
  await replica.start()
  await world.clock.advance(150_000)
  expect(world.runs).toHaveLength(500)
  expect(faulty.count('claimDue')).toBe(500)
})

test('an idle scheduler with many tasks asks nothing of the store', async () => {
  const faulty = new FaultyStore(new MemoryScheduleStore())
  const replica = world.replica({ store: faulty.proxy })
  for (let n = 0; n < 10_000; n++) replica.every('1d', { id: `task-${n}` }, () => {})
  await replica.start()
  expect(faulty.count('registerMany')).toBe(10)
  const before = [...faulty.calls.values()].reduce((sum, count) => sum + count)
  await world.clock.advance(60 * MINUTE)
  expect([...faulty.calls.values()].reduce((sum, count) => sum + count)).toBe(before)
  await world.clock.advance(DAY)
  // A burst costs round trips per thousand ids.
  expect(faulty.count('claimDueMany')).toBe(10)
  expect(faulty.count('completeMany')).toBeLessThanOrEqual(20)
})
