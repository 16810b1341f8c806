// Tasks that are left: their rows stay, for other replicas and later registrations.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Scheduler } from '../../src/scheduler/scheduler.ts'
import { MemoryScheduleStore } from '../../src/store/memory/memory-schedule-store.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { FaultyStore } from './faulty-store.ts'

const SILENT = { warn: () => {}, error: () => {} }

let clock: VirtualClock
let store: MemoryScheduleStore
let scheduler: Scheduler

beforeEach(async () => {
  clock = new VirtualClock('2026-01-01T00:00:00Z')
  store = new MemoryScheduleStore()
  scheduler = new Scheduler({ store, clock, logger: SILENT, drainMs: 0 })
  await scheduler.start()
})

afterEach(async () => {
  const stopped = scheduler.stop()
  await clock.advance(20_000)
  await stopped
})

/** A task that is due every second and runs until it is told to end. */
async function runningTask() {
  let end = () => {}
  const runs: string[] = []
  const task = scheduler.every(1000, { id: 'a' }, ({ occurrenceKey }) => {
    runs.push(occurrenceKey)
    return new Promise<void>((resolve) => (end = resolve))
  })
  await clock.advance(1000)
  return { task, runs, end: () => end() }
}

describe('a task that is left', () => {
  test('has no next slot and runs no more, and its row stays', async () => {
    const { task, runs, end } = await runningTask()
    end()
    await clock.settle()
    task.leave()
    await clock.advance(5000)
    expect([task.nextRunAt, runs]).toEqual([null, ['a@2026-01-01T00:00:01.000Z']])
    expect(await store.get('a')).toMatchObject({ nextRunAt: Date.parse('2026-01-01T00:00:02Z') })
  })

  test('keeps the lease of a run that goes on, and commits it', async () => {
    const { task, end } = await runningTask()
    task.leave()
    await clock.advance(300_000)
    expect((await store.get('a'))?.leaseUntil).toBeGreaterThan(clock.now())
    end()
    await clock.settle()
    const row = await store.get('a')
    expect([row?.leaseUntil, row?.lastRunAt]).toEqual([undefined, 1000 + Date.parse('2026-01-01')])
  })

  test('makes room for another of its id, which waits for the run that goes on', async () => {
    const { task, end } = await runningTask()
    task.leave()
    const slots: number[] = []
    const options = { id: 'a', missed: 'catch-up' } as const
    scheduler.every(1000, options, ({ scheduledAt }) => {
      slots.push(scheduledAt.getTime() - Date.parse('2026-01-01'))
    })
    await clock.advance(3000)
    expect(slots).toEqual([])
    end()
    await clock.advance(2000)
    expect(slots.at(-1)).toBe(6000)
  })

  test('can be cancelled afterwards, unless another has its id', async () => {
    const left = scheduler.every(1000, { id: 'a' }, () => {})
    await clock.settle()
    left.leave()
    const other = scheduler.every(1000, { id: 'a' }, () => {})
    await clock.settle()
    await left.cancel()
    expect(await store.get('a')).not.toBeNull()
    other.leave()
    await left.cancel()
    expect(await store.get('a')).toBeNull()
  })

  test('ends, when it is a plain one', async () => {
    let count = 0
    const task = scheduler.every(1000, () => count++)
    task.leave()
    await clock.advance(5000)
    expect([count, task.nextRunAt]).toEqual([0, null])
  })

  test('by a listener that is told of its row stays left', async () => {
    const runs: string[] = []
    const task = scheduler.delay(0, { id: 'once' }, ({ taskId }) => runs.push(taskId))
    scheduler.on('read', ({ taskId }) => taskId === 'once' && task.leave())
    await clock.advance(5000)
    expect([runs, (await store.get('once'))?.leaseUntil]).toEqual([[], undefined])
  })
})

// Tasks are claimed together with those of the same lease, one lease after the other.
test.each<[string, (other: Ending) => unknown]>([
  ['left', ({ task }) => task.leave()],
  ['cancelled', ({ task }) => void task.cancel()],
  ['stopped', ({ scheduler: its }) => void its.stop()],
])('a task that is %s while one of another lease is claimed is not claimed', async (_, end) => {
  const faulty = new FaultyStore(store)
  const other = new Scheduler({ store: faulty.proxy, clock, logger: SILENT, drainMs: 0 })
  other.every(1000, { id: 'first', leaseMs: 3000 }, () => {})
  const task = other.every(1000, { id: 'second', leaseMs: 6000 }, () => {})
  await other.start()
  const claimed: unknown[] = []
  faulty.fault = (method, _call, [ids]) => {
    if (method !== 'claimDueMany') return undefined
    if (claimed.length === 0) end({ task, scheduler: other })
    claimed.push(ids)
    return undefined
  }
  await clock.advance(1000)
  expect(claimed).toEqual([['first']])
  const stopped = other.stop()
  await clock.advance(20_000)
  await stopped
})

// A batch that was spoilt by one damaged row is asked again, one by one.
test('a task that is left while a batch fails is not claimed alone', async () => {
  const faulty = new FaultyStore(store)
  const other = new Scheduler({ store: faulty.proxy, clock, logger: SILENT, drainMs: 0 })
  other.every(1000, { id: 'first' }, () => {})
  const second = other.every(1000, { id: 'second' }, () => {})
  await other.start()
  const claimed: unknown[] = []
  faulty.fault = (method, _call, [ids]) => {
    if (method === 'claimDueMany') {
      second.leave()
      return 'damaged'
    }
    if (method === 'claimDue') claimed.push(ids)
    return undefined
  }
  await clock.advance(1000)
  expect(claimed).toEqual(['first'])
  const stopped = other.stop()
  await clock.advance(20_000)
  await stopped
})

interface Ending {
  readonly task: { leave: () => void; cancel: () => Promise<void> }
  readonly scheduler: Scheduler
}
