// SPEC §2.3 to §2.5: what a durable task is, its row, and its ends.

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

describe('dead runners', () => {
  test('are taken over: the slot runs again as itself, under a higher token', async () => {
    // A claim without a scheduler: its process has died.
    const replica = world.replica()
    replica.every('1m', { id: 'job', missed: 'catch-up' }, world.handler())
    await replica.start()
    await replica.stop()
    await world.clock.advance(MINUTE)
    await world.store.claimDue('job', 'dead', world.clock.now(), 10 * MINUTE)
    await replica.start()
    await world.clock.advance(9 * MINUTE)
    expect(world.runs).toEqual([])
    await world.clock.advance(70_000)
    expect(world.marked().slice(0, 3)).toEqual(['10:01:00', '10:02:00!', '10:03:00!'])
    expect(world.runs[0]?.token).toBe(2)
  })

  test('that were only stalled lose their lease, their signal and their commit', async () => {
    const a = world.replica()
    const rejected: unknown[] = []
    const lost: unknown[] = []
    a.on('lease-lost', ({ reason }) => lost.push(reason))
    a.on('commit-rejected', (event) => rejected.push(event))
    a.every('1m', { id: 'job', leaseMs: '6s' }, world.handler(20_000))
    await a.start()
    await world.clock.advance(MINUTE)
    // Meanwhile, as a stalled process would not see it, the lease passes to another.
    const row = await world.store.get('job')
    await world.store.renew('job', row!.fencingToken, world.clock.now())
    await world.store.claimDue('job', 'other', world.clock.now(), 60_000)
    await world.clock.advance(3000)
    expect(lost).toEqual(['rejected'])
    expect(world.runs[0]?.signal.aborted).toBe(true)
    await world.clock.advance(20_000)
    // Nothing more is written once the store has refused the lease.
    expect(rejected).toEqual([])
    expect(await world.store.get('job')).toMatchObject({
      leaseOwner: 'other',
      nextRunAt: at('10:01:00'),
    })
  })

  test('a stalled runner whose handler just returned offers its commit, and the token decides', async () => {
    const a = world.replica()
    const rejected: unknown[] = []
    a.on('commit-rejected', (event) => rejected.push(event))
    let finish = () => {}
    a.every('1m', { id: 'job', leaseMs: '6s' }, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    await a.start()
    await world.clock.advance(MINUTE)
    const row = await world.store.get('job')
    await world.store.renew('job', row!.fencingToken, world.clock.now())
    await world.store.claimDue('job', 'other', world.clock.now(), 60_000)
    finish()
    await world.clock.settle()
    expect(rejected).toMatchObject([{ taskId: 'job', fencingToken: 1 }])
    expect(world.lines.join()).toContain('refused the commit of task "job"')
    expect(await world.store.get('job')).toMatchObject({ leaseOwner: 'other' })
  })

  test('a late commit that nobody challenged is accepted', async () => {
    const a = world.replica()
    const lost: unknown[] = []
    a.on('lease-lost', ({ reason }) => lost.push(reason))
    a.every('1m', { id: 'job', leaseMs: '6s' }, async () => {
      // The whole machine sleeps for longer than the lease.
      world.clock.suspend(20_000)
    })
    await a.start()
    await world.clock.advance(MINUTE)
    expect(lost).toEqual(['uncertain'])
    expect(await world.store.get('job')).toMatchObject({ lastRunAt: at('10:01:00') })
  })
})

describe('a lease', () => {
  test('is renewed every third of it while the handler runs', async () => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    replica.every('1h', { id: 'job', leaseMs: '30s' }, world.handler(95_000))
    await replica.start()
    await world.clock.advance(60 * MINUTE + 96_000)
    expect(faulty.count('renewMany')).toBe(9)
    expect(world.runs[0]?.signal.aborted).toBe(false)
  })

  test('of many runs is renewed together', async () => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    for (let n = 0; n < 500; n++) replica.every('1h', { id: `job-${n}` }, world.handler(50_000))
    await replica.start()
    await world.clock.advance(61 * MINUTE)
    expect(faulty.count('renewMany')).toBe(2)
    expect(world.clock.pendingTimers).toBeLessThanOrEqual(2)
  })
})

describe('stop', () => {
  test('in a catch-up goes on with the first slot that did not run', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job', missed: 'catch-up' }, world.handler(400))
    await replica.start()
    await replica.stop()
    await world.clock.advanceTo('2026-03-02T10:05:30Z')
    await replica.start()
    await world.clock.advance(500)
    await world.within(5000, replica.stop())
    expect(world.marked()).toEqual(['10:01:00!', '10:02:00!'])
    expect(await world.store.get('job')).toMatchObject({
      nextRunAt: at('10:03:00'),
      lastRunAt: at('10:02:00'),
    })
    await replica.start()
    await world.clock.advance(5000)
    expect(world.marked().slice(2)).toEqual(['10:03:00!', '10:04:00!', '10:05:00!'])
  })

  test('hands back a run that gives up because of its signal', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job' }, async ({ signal }) => {
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    })
    await replica.start()
    await world.clock.advance(MINUTE)
    const other = world.replica()
    other.every('1m', { id: 'job' }, world.handler())
    await other.start()
    await world.within(1000, replica.stop())
    await world.clock.advance(1000)
    expect(world.marked()).toEqual(['10:01:00'])
    expect(world.runs[0]?.token).toBe(2)
  })

  test('does not run what it claimed last, but hands it back', async () => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    let stopped: Promise<void> | undefined
    faulty.fault = (method) => {
      if (method === 'claimDueMany') stopped ??= replica.stop()
      return undefined
    }
    await world.clock.advance(MINUTE)
    await stopped
    expect(world.runs).toEqual([])
    expect(await world.store.get('job')).toMatchObject({
      leaseUntil: at('10:01:00'),
      fencingToken: 1,
    })
  })

  test('twice is the same stop; before a start it does nothing', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job' }, world.handler())
    await Promise.all([replica.stop(), replica.stop()])
    expect(await world.store.list()).toEqual([])
    await replica.start()
    await replica.start()
    await world.clock.advance(MINUTE)
    expect(world.runs).toHaveLength(1)
  })

  test('leaves no timer', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE)
    await replica.stop()
    expect(world.clock.pendingTimers).toBe(0)
  })
})

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
  for (let n = 0; n < 250; n++) replica.every('1m', { id: `job-${n}` }, world.handler(30_000))
  await replica.start()
  await world.clock.advance(150_000)
  expect(world.runs).toHaveLength(500)
  expect(faulty.count('claimDue')).toBe(500)
})

test('an idle scheduler with many tasks asks nothing of the store', async () => {
  const faulty = new FaultyStore(new MemoryScheduleStore())
  const replica = world.replica({ store: faulty.proxy })
  for (let n = 0; n < 10_000; n++) replica.every('1d', { id: `job-${n}` }, () => {})
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
