// Rows that are deleted while the scheduler stops, is stopped, or cannot reach its store.

import { describe, expect, it } from 'vitest'
import { setUp, stopAndWatch, WRITES_MS_MAX } from './stopping.ts'

describe('stop() while a row is being deleted', () => {
  it('waits for it, when the store answers', async () => {
    const { world, scheduler } = setUp({ otherMs: 1000 })
    await world.within(5000, scheduler.start())
    const task = scheduler.every('10s', { id: 'task' }, world.handler())
    await world.clock.advance(100)
    const cancelled = task.cancel()
    // Waits for the row to be gone, and then for the next start.
    scheduler.every('10s', { id: 'task' }, world.handler())
    await world.within(WRITES_MS_MAX, scheduler.stop())
    await cancelled
    expect(await world.store.list()).toEqual([])
    await world.within(5000, scheduler.start())
    await world.clock.advance(22_000)
    expect(world.slots()).toHaveLength(2)
  })

  it('waits for a registration that comes first', async () => {
    const stage = setUp({ registerMs: 200 })
    const { world, scheduler } = stage
    await world.within(1000, scheduler.start())
    const task = scheduler.every('1h', { id: 'task' }, () => {})
    await world.clock.advance(10)
    const cancelled = task.cancel()
    await stopAndWatch(stage)
    await cancelled
    expect(await world.store.list()).toEqual([])
  })

  it.each(['register', 'get', 'delete'])('rejects when %s has no answer', async (silent) => {
    const stage = setUp()
    const { world, faulty, scheduler } = stage
    await scheduler.start()
    let isDeleting = false
    faulty.fault = (method, _, [subject]) => {
      isDeleting ||= method === 'delete'
      if (method === 'delete' && subject === 'other') return undefined
      return method.startsWith(silent) || isDeleting ? 'silent' : undefined
    }
    const tasks = ['task', 'other'].map((id) => scheduler.every('1h', { id }, () => {}))
    await world.clock.advance(10)
    const cancelled = Promise.allSettled(tasks.map((task) => task.cancel()))
    await stopAndWatch(stage)
    const [task, other] = await cancelled
    expect(task).toMatchObject({
      reason: { message: expect.stringMatching(/stopped before the store answered/) },
    })
    expect(other?.status).toBe('rejected')
  })

  it('does not wait for the next try of one that was refused', async () => {
    const stage = setUp({ tickMs: 60_000 })
    const { world, faulty, scheduler } = stage
    const tasks = ['a', 'b'].map((id) => scheduler.every('1h', { id }, () => {}))
    await scheduler.start()
    let looks = 0
    faulty.fault = (method, _, [id]) => {
      if (method === 'delete') return id === 'a' ? 'refused' : undefined
      return method === 'getMany' && ++looks > 1 ? 'silent' : undefined
    }
    const cancelled = Promise.allSettled(tasks.map((task) => task.cancel()))
    await world.clock.advance(10)
    await stopAndWatch(stage)
    expect((await cancelled).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('sends nothing for one that is asked for while the coordinator is stopped', async () => {
    const lease = { start: async () => {}, stop: () => new Promise<void>(() => {}) }
    const stage = setUp({ lease: { ...lease, isLeader: () => true } })
    const { world, faulty, scheduler } = stage
    await scheduler.start()
    const stopped = scheduler.stop()
    await world.clock.advance(2000)
    const looks = faulty.count('getMany')
    await expect(scheduler.forgetTask('other')).rejects.toThrow(/stopped before the store answered/)
    await world.within(10_000, stopped)
    expect([faulty.count('getMany'), world.clock.pendingTimers]).toEqual([looks, 0])
  })
})

describe('cancel()', () => {
  it.each(['during', 'after'])('%s a stop finds what was being registered', async (when) => {
    const { world, scheduler } = setUp({ registerMs: 200, otherMs: 5 })
    const task = scheduler.every('1h', { id: 'task' }, () => {})
    void scheduler.start()
    await world.clock.advance(50)
    const stopped = scheduler.stop()
    if (when === 'after') await world.within(WRITES_MS_MAX, stopped)
    await world.within(WRITES_MS_MAX, task.cancel())
    await world.within(WRITES_MS_MAX, stopped)
    await world.clock.advance(5000)
    expect(await world.store.list()).toEqual([])
  })

  it('that failed tries again when it is called again', async () => {
    const { world, faulty, scheduler } = setUp()
    const task = scheduler.every('1h', { id: 'task' }, () => {})
    await scheduler.start()
    faulty.fault = (method) => (method === 'getMany' ? 'silent' : undefined)
    const first = task.cancel().catch(() => 'not known')
    await world.within(WRITES_MS_MAX + 50, scheduler.stop())
    expect(await first).toBe('not known')
    faulty.fault = () => 'refused'
    await expect(task.cancel()).rejects.toThrow(/cannot be reached/)
    faulty.fault = () => undefined
    await task.cancel()
    expect(await world.store.list()).toEqual([])
    const looks = faulty.count('getMany')
    await task.cancel()
    expect(faulty.count('getMany')).toBe(looks)
  })

  it('that failed leaves a namesake alone that was registered since', async () => {
    const { world, faulty, scheduler } = setUp()
    const task = scheduler.every('1h', { id: 'task' }, () => {})
    faulty.fault = () => 'refused'
    await expect(task.cancel()).rejects.toThrow(/cannot be reached/)
    faulty.fault = () => undefined
    scheduler.every('1h', { id: 'task' }, () => {})
    await scheduler.start()
    await task.cancel()
    expect(await world.store.list()).toHaveLength(1)
  })
})

it('forgetTask() that nobody waits for is no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const hear = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', hear)
  const { world, faulty, scheduler } = setUp()
  await scheduler.start()
  faulty.fault = () => 'silent'
  void scheduler.forgetTask('task')
  await world.within(WRITES_MS_MAX + 50, scheduler.stop())
  await new Promise(setImmediate) // Node tells of them a turn later.
  process.off('unhandledRejection', hear)
  expect(unhandled).toEqual([])
  await expect(scheduler.forgetTask('')).rejects.toThrow(TypeError)
})
