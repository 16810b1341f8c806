// The contract over schedulers and a store, on virtual time: policies, replicas, triggers, and what
// a stopped registration leaves behind.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Backend, RegistrationSpec, Tick } from '../../src/backend/contract.ts'
import { durable } from '../../src/backend/durable.ts'
import { Scheduler } from '../../src/scheduler/scheduler.ts'
import { MemoryScheduleStore } from '../../src/store/memory/memory-schedule-store.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { SPEC, steeredTick, unhandledRejections } from './ticks.ts'

const BOOM = new Error('boom')
const SILENT = { warn: () => {}, error: () => {} }
const MINUTELY = { cron: '* * * * *' }

let clock: VirtualClock
let store: MemoryScheduleStore
let rejections: ReturnType<typeof unhandledRejections>
const schedulers: Scheduler[] = []

beforeEach(() => {
  clock = new VirtualClock('2026-01-01T00:00:00Z')
  store = new MemoryScheduleStore()
  rejections = unhandledRejections()
})

afterEach(async () => {
  for (const scheduler of schedulers.splice(0)) await stop(scheduler)
  rejections.stop()
  expect(rejections.found).toEqual([])
})

/** A replica on the test's store, and its backend. */
async function replica(): Promise<{ scheduler: Scheduler; backend: Backend }> {
  const scheduler = new Scheduler({ store, clock, logger: SILENT, drainMs: 0 })
  schedulers.push(scheduler)
  await scheduler.start()
  return { scheduler, backend: durable(scheduler, { clock }) }
}

async function stop(scheduler: Scheduler): Promise<void> {
  const stopped = scheduler.stop()
  await clock.advance(20_000)
  await stopped
}

const spec = (change: Partial<RegistrationSpec> = {}): RegistrationSpec => ({
  ...SPEC,
  cadence: MINUTELY,
  ...change,
})

/** A tick that ends at once, and the minutes of its slots. */
function quickTick() {
  const minutes: number[] = []
  const keys: string[] = []
  const tick: Tick = async ({ key, scheduledAt }) => {
    minutes.push(scheduledAt.getTime() / 60_000 - Date.parse('2026-01-01') / 60_000)
    keys.push(key)
  }
  return { tick, minutes, keys }
}

describe('a registration', () => {
  test('runs at its slots, once among the replicas', async () => {
    const { tick, minutes, keys } = quickTick()
    for (const { backend } of [await replica(), await replica(), await replica()]) {
      backend.register(spec(), tick)
    }
    await clock.advance(180_000)
    expect(minutes).toEqual([1, 2, 3])
    expect(keys[0]).toBe('run.report.2026-01-01T00-01-00.000Z')
  })

  test('of an interval counts from when it was first stored', async () => {
    const { tick, minutes } = quickTick()
    const cadence = { every: '60000' }
    const { backend } = await replica()
    backend.register(spec({ cadence }), tick)
    await clock.advance(30_000)
    const late = (await replica()).backend.register(spec({ cadence }), tick)
    await clock.settle()
    expect(late.next()).toEqual(new Date('2026-01-01T00:01:00Z'))
    await clock.advance(90_000)
    expect(minutes).toEqual([1, 2])
  })

  test('knows its next slot before it is stored', () => {
    const scheduler = new Scheduler({ store, clock, logger: SILENT })
    const registration = durable(scheduler, { clock }).register(spec(), async () => {})
    expect(registration.next()).toEqual(new Date('2026-01-01T00:01:00Z'))
  })

  test('is refused twice under one name', async () => {
    const { backend } = await replica()
    backend.register(spec(), async () => {})
    expect(() => backend.register(spec(), async () => {})).toThrow(TypeError)
  })

  test('tells failures once to onError, and to the scheduler', async () => {
    const onError = vi.fn()
    const heard = vi.fn()
    const { scheduler, backend } = await replica()
    scheduler.on('error', heard)
    backend.register(spec({ onError }), () => Promise.reject(BOOM))
    await clock.advance(60_000)
    expect(onError).toHaveBeenCalledExactlyOnceWith(BOOM, {
      key: 'run.report.2026-01-01T00-01-00.000Z',
      scheduledAt: new Date('2026-01-01T00:01:00Z'),
    })
    expect(heard).toHaveBeenCalledOnce()
    await clock.advance(60_000)
    expect(onError).toHaveBeenCalledTimes(2)
  })
})

describe('slots that fall due during a run', () => {
  test.each([
    ['skip', 'skip', [1, 6]],
    ['skip', 'last', [1, 6]],
    ['skip', 'all', [1, 6]],
    ['queue', 'skip', [1, 2, 3, 4, 5, 6]],
    ['queue', 'last', [1, 2, 3, 4, 5, 6]],
    ['queue', 'all', [1, 2, 3, 4, 5, 6]],
  ] as const)('%s, catchUp %s', async (overlap, catchUp, expected) => {
    const { tick, minutes } = quickTick()
    const { backend } = await replica()
    backend.register(spec({ overlap, catchUp }), async (run) => {
      await tick(run)
      if (minutes.length > 1) return
      await new Promise<void>((resolve) => clock.setTimer(resolve, 270_000))
    })
    await clock.advance(360_000)
    expect(minutes).toEqual(expected)
  })
})

describe('slots that nobody ran', () => {
  test.each([
    ['skip', 'skip', [6]],
    ['skip', 'last', [5, 6]],
    ['skip', 'all', [1, 2, 3, 4, 5, 6]],
    ['queue', 'skip', [6]],
    ['queue', 'last', [5, 6]],
    ['queue', 'all', [1, 2, 3, 4, 5, 6]],
  ] as const)('%s, catchUp %s', async (overlap, catchUp, expected) => {
    for (const cadence of [MINUTELY, { every: '60000' }]) {
      store = new MemoryScheduleStore()
      clock = new VirtualClock('2026-01-01T00:00:00Z')
      const first = await replica()
      first.backend.register(spec({ overlap, catchUp, cadence }), async () => {})
      await clock.settle()
      await stop(first.scheduler)
      await clock.advanceTo('2026-01-01T00:05:30Z')
      const { tick, minutes } = quickTick()
      const { backend } = await replica()
      backend.register(spec({ overlap, catchUp, cadence }), tick)
      await clock.advance(60_000)
      expect(minutes).toEqual(expected)
    }
  })
})

describe('trigger', () => {
  test('without a key runs here and now', async () => {
    const { tick, keys } = quickTick()
    const scheduler = new Scheduler({ store, clock, logger: SILENT })
    const registration = durable(scheduler, { clock }).register(spec(), tick)
    await registration.trigger()
    await registration.trigger()
    expect(keys).toEqual([
      expect.stringMatching(/^run\.report\.manual\./),
      expect.stringMatching(/^run\.report\.manual\./),
    ])
  })

  test('with a key runs once among the replicas, and for ever', async () => {
    const { tick, keys } = quickTick()
    const [one, other] = [await replica(), await replica()]
    const first = one.backend.register(spec(), tick)
    const second = other.backend.register(spec(), tick)
    const both = Promise.all([first.trigger('order 7'), second.trigger('order 7')])
    await clock.advance(6000)
    await both
    await first.trigger('order 7')
    await stop(other.scheduler)
    const third = (await replica()).backend.register(spec(), tick)
    const again = third.trigger('order 7')
    await clock.settle()
    await again
    expect(keys.filter((key) => key.includes('manual'))).toEqual(['run.report.manual.order=207'])
  })

  test('with a key that another replica is running resolves at once', async () => {
    const { tick, seen, end } = steeredTick()
    const [one, other] = [await replica(), await replica()]
    const winner = one.backend.register(spec(), tick).trigger('a')
    await clock.settle()
    const registration = other.backend.register(spec(), tick)
    const lost = registration.trigger('a')
    await clock.settle()
    await lost
    expect(seen).toHaveLength(1)
    end()
    await winner
    await clock.advance(5000)
    await registration.trigger('a')
    expect(seen).toHaveLength(1)
  })

  test('with a key whose runner dies is run by another that was asked', async () => {
    const { tick, keys } = quickTick()
    const [one, other] = [await replica(), await replica()]
    const dead = one.backend.register(spec(), () => new Promise(() => {})).trigger('a')
    await clock.settle()
    const lost = other.backend.register(spec(), tick).trigger('a')
    await clock.settle()
    await lost
    await stop(one.scheduler)
    await clock.advance(1000)
    expect(keys).toContain('run.report.manual.a')
    expect(await Promise.race([dead, 'pending'])).toBe('pending')
  })

  test('with a key rejects its caller with what the tick threw', async () => {
    const onError = vi.fn()
    const { backend } = await replica()
    const registration = backend.register(spec({ onError }), () => Promise.reject(BOOM))
    const triggered = registration.trigger('a')
    await clock.settle()
    await expect(triggered).rejects.toBe(BOOM)
    expect(onError).toHaveBeenCalledOnce()
    await expect(registration.trigger('a')).resolves.toBeUndefined()
  })

  test('with a key rejects with what the tick threw, also when its scheduler has stopped', async () => {
    const { tick, fail } = steeredTick()
    const { scheduler, backend } = await replica()
    const triggered = backend.register(spec(), tick).trigger('a')
    await clock.settle()
    await stop(scheduler)
    fail(BOOM)
    await expect(triggered).rejects.toBe(BOOM)
  })

  test('skip: joins the tick that runs, with or without a key', async () => {
    const { tick, seen, end } = steeredTick()
    const { backend } = await replica()
    const registration = backend.register(spec(), tick)
    await clock.advance(60_000)
    const joined = [registration.trigger('a'), registration.trigger()]
    end()
    await Promise.all(joined)
    expect(seen).toHaveLength(1)
  })

  test('queue: waits for the slot that runs', async () => {
    const { tick, seen, end } = steeredTick()
    const { backend } = await replica()
    const registration = backend.register(spec({ overlap: 'queue' }), tick)
    await clock.advance(60_000)
    const triggered = registration.trigger('a')
    await clock.settle()
    expect(seen).toHaveLength(1)
    end()
    await clock.settle()
    expect(seen).toHaveLength(2)
    end()
    await triggered
  })

  test('with a key that waits is rejected when the registration stops', async () => {
    const scheduler = new Scheduler({ store, clock, logger: SILENT })
    const registration = durable(scheduler, { clock }).register(spec(), async () => {})
    const triggered = registration.trigger('a')
    await registration.stop()
    await expect(triggered).rejects.toThrow('stopped before it ran here')
  })
})

describe('stop', () => {
  test('starts no new tick and waits for the one that runs', async () => {
    const { tick, seen, end } = steeredTick()
    const { backend } = await replica()
    const registration = backend.register(spec(), tick)
    await clock.advance(60_000)
    let isStopped = false
    const stopped = registration.stop().then(() => {
      isStopped = true
    })
    await clock.advance(120_000)
    expect([isStopped, registration.next()]).toEqual([false, undefined])
    end()
    await stopped
    await clock.advance(120_000)
    expect(seen).toHaveLength(1)
  })

  test('leaves later slots to the other replicas, at their time', async () => {
    const { tick, minutes } = quickTick()
    const [one, other] = [await replica(), await replica()]
    const stopped: number[] = []
    const registration = one.backend.register(spec(), async () => void stopped.push(clock.now()))
    await clock.advance(60_000)
    await registration.stop()
    other.backend.register(spec(), tick)
    await clock.advance(120_000)
    expect(stopped).toHaveLength(1)
    expect(minutes).toEqual([2, 3])
    expect((await store.get('report'))?.leaseUntil).toBeUndefined()
  })

  test('hands back what is being claimed', async () => {
    const { tick, minutes } = quickTick()
    const [one, other] = [await replica(), await replica()]
    other.backend.register(spec(), tick)
    const registration = one.backend.register(spec(), tick)
    const claimDue = store.claimDue.bind(store)
    let stopping: Promise<void> | undefined
    vi.spyOn(store, 'claimDue').mockImplementation(async (...request) => {
      stopping ??= registration.stop()
      return claimDue(...request)
    })
    await clock.advance(65_000)
    await stopping
    expect(minutes).toEqual([1])
  })

  test('hands back the slots of a catch-up that have not begun', async () => {
    const first = await replica()
    first.backend.register(spec({ catchUp: 'all' }), async () => {})
    await clock.settle()
    await stop(first.scheduler)
    await clock.advanceTo('2026-01-01T00:03:30Z')
    const [one, other] = [await replica(), await replica()]
    const { tick, seen, end } = steeredTick()
    const registration = one.backend.register(spec({ catchUp: 'all' }), tick)
    await clock.settle()
    const stopping = registration.stop()
    end()
    await stopping
    const rest = quickTick()
    other.backend.register(spec({ catchUp: 'all' }), rest.tick)
    await clock.advance(5000)
    expect([seen, rest.minutes]).toEqual([['00:01:00.000'], [2, 3]])
  })

  test('the name can be registered again at once', async () => {
    const { tick, minutes } = quickTick()
    const { backend } = await replica()
    const held = steeredTick()
    const registration = backend.register(spec(), held.tick)
    await clock.advance(60_000)
    const stopping = registration.stop()
    backend.register(spec(), tick)
    await clock.advance(60_000)
    expect(minutes).toEqual([])
    held.end()
    await stopping
    await clock.advance(60_000)
    expect(minutes).toEqual([3])
  })

  test('a registration of the same name and plan goes on where the last one stopped', async () => {
    const { tick, minutes } = quickTick()
    const { backend } = await replica()
    const registration = backend.register(spec({ catchUp: 'all' }), tick)
    await clock.settle()
    await registration.stop()
    await clock.advance(150_000)
    backend.register(spec({ catchUp: 'all' }), tick)
    await clock.advance(60_000)
    expect(minutes).toEqual([1, 2, 3])
  })

  test('a registration of the same name and another plan begins anew', async () => {
    const { tick, minutes } = quickTick()
    const { backend } = await replica()
    await backend.register(spec(), tick).stop()
    await clock.advance(30_000)
    backend.register(spec({ cadence: { cron: '*/2 * * * *' } }), tick)
    await clock.advance(240_000)
    expect(minutes).toEqual([2, 4])
  })
})
