// SPEC §2.2: tasks without an id.

import { beforeEach, describe, expect, test } from 'vitest'
import { type OverlapPolicy, Scheduler, type SkippedEvent, systemClock } from '../../src/index.ts'
import { World } from './harness.ts'

const MINUTE = 60_000

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})

/** Start and slot of each run, in seconds from now on. */
function recorder(ms = 0) {
  const start = world.clock.now()
  const runs: [startedAt: number, slot: number][] = []
  const handler = async (run: { scheduledAt: Date }) => {
    runs.push(
      [world.clock.now() - start, run.scheduledAt.getTime() - start].map((n) => n / 1000) as [
        number,
        number,
      ],
    )
    if (ms > 0) await world.sleep(ms)
  }
  return { runs, handler }
}

test('a task runs without start, at its slots, and does not drift', async () => {
  const scheduler = world.replica()
  const { runs, handler } = recorder(300)
  const task = scheduler.every('7s', handler)
  expect(task).toMatchObject({ id: undefined, kind: 'every', timeZone: undefined })
  expect(task.nextRunAt?.toISOString()).toBe('2026-03-02T10:00:07.000Z')
  await world.clock.advance(5000)
  await world.clock.stall(5000)
  await world.clock.advance(18_000)
  expect(runs).toEqual([
    [10, 7],
    [14, 14],
    [21, 21],
    [28, 28],
  ])
})

test("a cron task follows its zone, or the scheduler's", async () => {
  const scheduler = world.replica({ timeZone: 'Asia/Tokyo' })
  const tokyo = scheduler.schedule('30 19 * * *', () => {})
  const madrid = scheduler.schedule('30 11 * * *', { timeZone: 'Europe/Madrid' }, () => {})
  expect([tokyo.timeZone, madrid.timeZone]).toEqual(['Asia/Tokyo', 'Europe/Madrid'])
  expect(tokyo.nextRunAt?.toISOString()).toBe('2026-03-02T10:30:00.000Z')
  expect(madrid.nextRunAt?.toISOString()).toBe('2026-03-02T10:30:00.000Z')
})

test('one host timer serves all tasks', async () => {
  const scheduler = world.replica()
  for (let n = 0; n < 100; n++) scheduler.every(`${n + 1}s`, () => {})
  expect(world.clock.pendingTimers).toBe(1)
  await world.clock.advance(10_000)
  expect(world.clock.pendingTimers).toBe(1)
})

describe('a handler that fails', () => {
  test.each([
    [
      'throws',
      () => {
        throw new Error('broken\nfake log line')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('broken\nfake log line')
      },
    ],
  ])('%s: it is logged and emitted, and nothing else stops', async (_, handler) => {
    const scheduler = world.replica()
    const errors: unknown[] = []
    scheduler.on('error', (error) => errors.push(error))
    scheduler.on('error', () => {
      throw new Error('a listener fails too')
    })
    const other = recorder()
    scheduler.every('10s', handler)
    scheduler.every('10s', other.handler)
    await world.clock.advance(20_000)
    expect(errors).toHaveLength(2)
    expect(other.runs).toHaveLength(2)
    const line = world.lines.find((text) => text.includes('broken'))
    expect(line).toContain('broken\\u000afake log line')
  })

  test('needs no listener', async () => {
    const scheduler = world.replica()
    scheduler.every('1s', () => Promise.reject(undefined))
    await world.clock.advance(3000)
    expect(world.lines).toHaveLength(3)
  })
})

describe('a slot that falls due during a run', () => {
  // Slots every second, each run takes 2.5 s.
  const rows: [OverlapPolicy, [number, number][]][] = [
    [
      'skip',
      [
        [1, 1],
        [4, 4],
        [7, 7],
      ],
    ],
    [
      'queue',
      [
        [1, 1],
        [3.5, 2],
        [6, 3],
      ],
    ],
    [
      'allow',
      [
        [1, 1],
        [2, 2],
        [3, 3],
        [4, 4],
        [5, 5],
        [6, 6],
        [7, 7],
        [8, 8],
      ],
    ],
  ]
  test.each(rows)('overlap %s', async (overlap, expected) => {
    const scheduler = world.replica()
    const skipped: SkippedEvent[] = []
    scheduler.on('skipped', (event) => skipped.push(event))
    const { runs, handler } = recorder(2500)
    scheduler.every('1s', { overlap }, handler)
    await world.clock.advance(8400)
    expect(runs).toEqual(expected)
    expect(skipped.map(({ reason }) => reason)).toEqual(
      overlap === 'skip' ? Array(5).fill('running') : [],
    )
  })

  test('is skipped by default, and a full queue skips it too', async () => {
    const scheduler = world.replica()
    const byDefault = recorder(1500)
    scheduler.every('1s', byDefault.handler)
    let skipped = 0
    scheduler.on('skipped', () => skipped++)
    scheduler.every('1s', { overlap: 'queue' }, () => new Promise(() => {}))
    await world.clock.advance(4000)
    expect(byDefault.runs).toEqual([
      [1, 1],
      [3, 3],
    ])
    expect(skipped).toBe(2)
    await world.clock.advance(1_000_000)
    expect(skipped).toBeGreaterThan(2)
  })
})

describe('a clock that jumps', () => {
  test('sleep is noticed within 30 s; the latest slot runs, older ones do not', async () => {
    const scheduler = world.replica()
    const skipped: SkippedEvent[] = []
    scheduler.on('skipped', (event) => skipped.push(event))
    const every = recorder()
    const cron = recorder()
    const delay = recorder()
    scheduler.every('10m', every.handler)
    scheduler.schedule('*/10 * * * *', cron.handler)
    scheduler.delay('2h', delay.handler)
    await world.clock.advance(MINUTE)
    world.clock.suspend(180 * MINUTE)
    await world.clock.advance(30_000)
    expect(every.runs).toEqual([[expect.any(Number), 180 * 60]])
    expect(cron.runs).toEqual([[expect.any(Number), 180 * 60]])
    expect(delay.runs).toEqual([[expect.any(Number), 120 * 60]])
    expect(skipped.map(({ count, reason }) => [count, reason])).toEqual([
      [17, 'missed'],
      [17, 'missed'],
    ])
    await world.clock.advance(10 * MINUTE)
    expect(every.runs[1]).toEqual([190 * 60, 190 * 60])
  })

  test('set back: intervals and delays keep their pace, cron waits for its wall time', async () => {
    const scheduler = world.replica()
    let everyRuns = 0
    let delayRuns = 0
    const cron = recorder()
    scheduler.every('1m', () => everyRuns++)
    scheduler.delay('5m', () => delayRuns++)
    scheduler.schedule('5 10 * * *', cron.handler)
    await world.clock.advance(90_000)
    world.clock.stepWall(-60 * MINUTE)
    await world.clock.advance(240_000)
    expect([everyRuns, delayRuns]).toEqual([5, 1])
    expect(cron.runs).toEqual([])
    await world.clock.advance(60 * MINUTE)
    expect(cron.runs).toEqual([[300, 300]])
  })
})

test('a cron without a run in the horizon is dormant: said once, planned again daily', async () => {
  const scheduler = world.replica()
  const dormant: unknown[] = []
  scheduler.on('dormant', (event) => dormant.push(event))
  world = new World('2096-03-01T00:00:00Z')
  const later = world.replica()
  later.on('dormant', (event) => dormant.push(event))
  // 2100 is no leap year: from March 2096 the next 29 February is eight years away.
  const { runs, handler } = recorder()
  const task = later.schedule('0 0 29 2 *', handler)
  expect(task.nextRunAt).toBeNull()
  for (let days = 0; days < 4 * 365 + 10; days += 5) {
    await world.clock.stall(5 * 86_400_000)
    await world.clock.settle()
  }
  expect(dormant).toEqual([{ taskId: undefined }])
  expect(task.nextRunAt?.toISOString()).toBe('2104-02-29T00:00:00.000Z')
  expect(runs).toEqual([])
})

describe('cancel', () => {
  test('ends a task before its slot, and what is queued', async () => {
    const scheduler = world.replica()
    const { runs, handler } = recorder(2500)
    const task = scheduler.every('1s', { overlap: 'queue' }, handler)
    await world.clock.advance(3000)
    await task.cancel()
    await task.cancel()
    expect(task.nextRunAt).toBeNull()
    await world.clock.advance(20_000)
    expect(runs).toEqual([[1, 1]])
    expect(world.clock.pendingTimers).toBe(0)
  })

  test('also holds for a task that is due in the same moment', async () => {
    const scheduler = world.replica()
    const { runs, handler } = recorder()
    scheduler.every('1s', () => void second.cancel())
    const second = scheduler.every('1s', handler)
    await world.clock.advance(5000)
    expect(runs).toEqual([])
  })
})

describe('stop and start', () => {
  test('stop aborts runs, waits for them, and holds the tasks until start', async () => {
    const scheduler = world.replica()
    const aborted: unknown[] = []
    const { runs, handler } = recorder()
    scheduler.every('10s', handler)
    scheduler.delay('25s', handler)
    scheduler.every('10s', async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted.push(signal.reason)
    })
    await world.clock.advance(12_000)
    await world.within(100, scheduler.stop())
    expect(aborted).toMatchObject([{ name: 'AbortError' }])
    expect(world.clock.pendingTimers).toBe(0)
    await world.clock.advance(30_000)
    expect(runs).toEqual([[10, 10]])
    await scheduler.start()
    await world.clock.advance(20_000)
    // The delay's time has passed; the interval goes on with its next slot.
    expect(runs.slice(1).map(([, slot]) => slot)).toEqual([25, 50, 60])
  })
})

test('unref lets the process end while tasks are pending', () => {
  const unreferenced: boolean[] = []
  for (const unref of [false, true]) {
    let count = 0
    const clock = {
      ...systemClock,
      setTimer: () => ({ cancel: () => {}, unref: () => void count++ }),
    }
    new Scheduler({ clock, unref }).every('1h', () => {})
    unreferenced.push(count > 0)
  }
  expect(unreferenced).toEqual([false, true])
})
