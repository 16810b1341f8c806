// Events and log lines: what is told, and that telling disturbs nothing.

import { beforeEach, describe, expect, test } from 'vitest'
import type { ScheduledTask, Scheduler } from '../../src/index.ts'
import { Events } from '../../src/scheduler/events.ts'
import { briefText, errorText, quoted } from '../../src/scheduler/logger.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})

describe('events', () => {
  test('reach every listener in order, until it is taken off', () => {
    const events = new Events(() => {})
    const heard: string[] = []
    const first = () => heard.push('first')
    events.on('removed', first)
    events.on('removed', () => heard.push('second'))
    events.emit('removed', { taskId: 'a' })
    events.off('removed', first)
    events.emit('removed', { taskId: 'a' })
    events.emit('dormant', { taskId: 'a' })
    expect(heard).toEqual(['first', 'second', 'second'])
  })

  test('report a listener that throws or rejects, and go on', async () => {
    const failures: unknown[] = []
    const events = new Events((error) => failures.push(error))
    const heard: string[] = []
    events.on('removed', () => {
      throw 'thrown'
    })
    events.on('removed', (async () => {
      throw 'rejected'
    }) as () => void)
    events.on('removed', () => heard.push('third'))
    events.emit('removed', { taskId: 'a' })
    await Promise.resolve()
    expect(failures).toEqual(['thrown', 'rejected'])
    expect(heard).toEqual(['third'])
  })

  test('of a run come in their order', async () => {
    const replica = world.replica()
    const heard: unknown[] = []
    for (const name of ['registered', 'run-start', 'run-end', 'commit'] as const) {
      replica.on(name, () => heard.push(name))
    }
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(60_000)
    expect(heard).toEqual(['registered', 'run-start', 'run-end', 'commit'])
  })

  test('count what a policy skips', async () => {
    const replica = world.replica()
    const skipped: unknown[] = []
    replica.on('skipped', ({ taskId, from, count, reason }) => {
      skipped.push([taskId, from.toISOString().slice(11, 19), count, reason])
    })
    replica.every('1m', { id: 'skip' }, world.handler())
    replica.every('1m', { id: 'once', missed: 'run-once' }, world.handler())
    replica.every('1m', { id: 'up', missed: 'catch-up', maxCatchUp: 3 }, world.handler())
    replica.schedule('* * * * *', { id: 'cron', missed: 'run-once' }, world.handler())
    replica.delay('1m', { id: 'delay' }, world.handler())
    await replica.start()
    await replica.stop()
    await world.clock.advance(10 * 60_000 + 30_000)
    await replica.start()
    await world.clock.settle()
    expect(skipped.sort()).toEqual([
      ['cron', '10:02:00', 9, 'missed'],
      ['delay', '10:01:00', 1, 'missed'],
      ['once', '10:02:00', 9, 'missed'],
      ['skip', '10:01:00', 10, 'missed'],
      ['up', '10:04:00', 7, 'missed'],
    ])
    expect(world.lines.filter((line) => line.includes('skipped'))).toHaveLength(5)
  })
})

describe('a listener that ends the task it is told of', () => {
  const ends = ['stop', 'cancel', 'leave'] as const
  const end = (how: (typeof ends)[number], task: ScheduledTask, scheduler: Scheduler) =>
    void (how === 'stop' ? scheduler.stop() : task[how]())

  for (const id of ['durable', undefined]) {
    test.each(ends)(`by %s when it is dormant ends it (id: ${id})`, async (how) => {
      const replica = world.replica()
      await replica.start()
      const told: unknown[] = []
      replica.on('dormant', (event) => {
        told.push(event)
        end(how, task, replica)
      })
      const [cron, plain] = ['0 0 11 2 3 * 2026', { dialect: 'extended' }] as const
      const task: ScheduledTask = id
        ? replica.schedule(cron, { ...plain, id }, () => {})
        : replica.schedule(cron, plain, () => {})
      await world.clock.advance(3_600_000 + 10)
      expect(told).toEqual([{ taskId: id }])
      if (how !== 'stop') await world.within(1000, replica.stop())
      expect(world.clock.pendingTimers).toBe(0)
    })
  }

  test.each(ends)('by %s when slots of a plain one were missed ends it', async (how) => {
    const replica = world.replica()
    let runs = 0
    const task = replica.every('1s', () => runs++)
    replica.on('skipped', () => end(how, task, replica))
    await world.clock.stall(10_000)
    await world.clock.advance(10_000)
    expect([runs, world.clock.pendingTimers]).toEqual([0, 0])
  })

  test('by its own handler ends it, also in its last run', async () => {
    const replica = world.replica()
    const told: unknown[] = []
    replica.on('dormant', (event) => told.push(event))
    const options = { dialect: 'extended' } as const
    const task: ScheduledTask = replica.schedule('0 0 11 2 3 * 2026', options, () => task.cancel())
    await world.clock.advance(3_600_000 + 10)
    expect([told, world.clock.pendingTimers]).toEqual([[], 0])
  })

  test.each(['cancel', 'leave'] as const)('by %s when its claim is found ends it', async (how) => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    faulty.fault = (method, call) =>
      method === 'claimDueMany' && call === 1 ? 'unanswered' : undefined
    const task = replica.every('10s', { id: 'a' }, world.handler())
    replica.on('claim-adopted', () => end(how, task, replica))
    await replica.start()
    await world.clock.advance(45_000)
    expect(world.slots()).toEqual([])
    const row = await world.store.get('a')
    if (how === 'cancel') expect(row).toBeNull()
    else expect(row?.leaseUntil).toBeLessThan(world.clock.now())
  })
})

describe('log lines', () => {
  test.each([
    ['a\nb', '"a\\u000ab"'],
    ['\u001b[31mred', '"\\u001b[31mred"'],
    ['a\u2028b\u202ec', '"a\\u2028b\\u202ec"'],
    ['näme 🎉', '"näme 🎉"'],
  ])('show %j escaped', (text, shown) => expect(quoted(text)).toBe(shown))

  test('show an error with its stack and its cause, and nothing that could forge a line', () => {
    const error = new Error('one\ntwo', { cause: new TypeError('why\r') })
    const text = errorText(error)
    expect(text).toMatch(/^Error: one\\u000atwo\n {4}at /)
    expect(text).toContain('(cause: TypeError: why\\u000d)')
    for (const line of text.split('\n').slice(1)) expect(line).toMatch(/^ {4}at /)
  })

  test('show whatever was thrown', () => {
    expect([briefText('text\n'), briefText(undefined), briefText(null)]).toEqual([
      'text\\u000a',
      'undefined',
      'null',
    ])
    expect(errorText(Object.create(null))).toBe('something that has no text')
  })

  test('a logger that throws stops nothing', async () => {
    const fail = () => {
      throw new Error('disk full')
    }
    const replica = world.replica({ logger: { warn: fail, error: fail } })
    let runs = 0
    replica.every('1m', { id: 'job' }, () => {
      runs++
      throw new Error('broken')
    })
    await replica.start()
    await world.clock.advance(180_000)
    expect(runs).toBe(3)
  })
})
