// The contract over schedulers and a store, on virtual time: slots, policies, replicas, and what a
// stopped registration leaves behind.

import { describe, expect, test, vi } from 'vitest'
import { durableStage, MINUTELY, quickTick, spec } from './durable-stage.ts'
import { steeredTick } from './ticks.ts'

const BOOM = new Error('boom')

const stage = durableStage()

describe('a registration', () => {
  test('runs at its slots, once among the replicas', async () => {
    const { tick, minutes, keys } = quickTick()
    for (const { backend } of [
      await stage.replica(),
      await stage.replica(),
      await stage.replica(),
    ]) {
      backend.register(spec(), tick)
    }
    await stage.clock.advance(180_000)
    expect(minutes).toEqual([1, 2, 3])
    expect(keys[0]).toBe('run.report.2026-01-01T00-01-00.000Z')
  })

  test('of an interval counts from when it was first stored', async () => {
    const { tick, minutes } = quickTick()
    const cadence = { every: '60000' }
    const { backend } = await stage.replica()
    backend.register(spec({ cadence }), tick)
    await stage.clock.advance(30_000)
    const late = (await stage.replica()).backend.register(spec({ cadence }), tick)
    await stage.clock.settle()
    expect(late.next()).toEqual(new Date('2026-01-01T00:01:00Z'))
    await stage.clock.advance(90_000)
    expect(minutes).toEqual([1, 2])
  })

  test('knows its next slot before it is stored', () => {
    const registration = stage.idle().backend.register(spec(), async () => {})
    expect(registration.next()).toEqual(new Date('2026-01-01T00:01:00Z'))
  })

  test('is refused twice under one name', async () => {
    const { backend } = await stage.replica()
    backend.register(spec(), async () => {})
    expect(() => backend.register(spec(), async () => {})).toThrow(TypeError)
  })

  test('tells failures once to onError, and to the scheduler', async () => {
    const onError = vi.fn()
    const heard = vi.fn()
    const { scheduler, backend } = await stage.replica()
    scheduler.on('error', heard)
    backend.register(spec({ onError }), () => Promise.reject(BOOM))
    await stage.clock.advance(60_000)
    expect(onError).toHaveBeenCalledExactlyOnceWith(BOOM, {
      key: 'run.report.2026-01-01T00-01-00.000Z',
      scheduledAt: new Date('2026-01-01T00:01:00Z'),
    })
    expect(heard).toHaveBeenCalledOnce()
    await stage.clock.advance(60_000)
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
    const { backend } = await stage.replica()
    backend.register(spec({ overlap, catchUp }), async (run) => {
      await tick(run)
      if (minutes.length > 1) return
      await new Promise<void>((resolve) => stage.clock.setTimer(resolve, 270_000))
    })
    await stage.clock.advance(360_000)
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
      stage.reset()
      const first = await stage.replica()
      first.backend.register(spec({ overlap, catchUp, cadence }), async () => {})
      await stage.clock.settle()
      await stage.stop(first.scheduler)
      await stage.clock.advanceTo('2026-01-01T00:05:30Z')
      const { tick, minutes } = quickTick()
      const { backend } = await stage.replica()
      backend.register(spec({ overlap, catchUp, cadence }), tick)
      await stage.clock.advance(60_000)
      expect(minutes).toEqual(expected)
    }
  })
})

describe('stop', () => {
  test('starts no new tick and waits for the one that runs', async () => {
    const { tick, seen, end } = steeredTick()
    const { backend } = await stage.replica()
    const registration = backend.register(spec(), tick)
    await stage.clock.advance(60_000)
    let isStopped = false
    const stopped = registration.stop().then(() => {
      isStopped = true
    })
    await stage.clock.advance(120_000)
    expect([isStopped, registration.next()]).toEqual([false, undefined])
    end()
    await stopped
    await stage.clock.advance(120_000)
    expect(seen).toHaveLength(1)
  })

  test('leaves later slots to the other replicas, at their time', async () => {
    const { tick, minutes } = quickTick()
    const [one, other] = [await stage.replica(), await stage.replica()]
    const stopped: number[] = []
    const registration = one.backend.register(
      spec(),
      async () => void stopped.push(stage.clock.now()),
    )
    await stage.clock.advance(60_000)
    await registration.stop()
    other.backend.register(spec(), tick)
    await stage.clock.advance(120_000)
    expect(stopped).toHaveLength(1)
    expect(minutes).toEqual([2, 3])
    expect((await stage.store.get('report'))?.leaseUntil).toBeUndefined()
  })

  test('hands back what is being claimed', async () => {
    const { tick, minutes } = quickTick()
    const [one, other] = [await stage.replica(), await stage.replica()]
    const handedBack = vi.fn()
    one.scheduler.on('hand-back', handedBack)
    const registration = one.backend.register(spec(), () => expect.unreachable())
    const claim = stage.store.claimDueMany.bind(stage.store)
    vi.spyOn(stage.store, 'claimDueMany').mockImplementationOnce(async (...request) => {
      void registration.stop()
      return claim(...request)
    })
    await stage.clock.settle()
    other.backend.register(spec(), tick)
    await stage.clock.advance(65_000)
    expect(handedBack).toHaveBeenCalledOnce()
    expect(minutes).toEqual([1])
  })

  test('hands back the slots of a catch-up that have not begun', async () => {
    const first = await stage.replica()
    first.backend.register(spec({ catchUp: 'all' }), async () => {})
    await stage.clock.settle()
    await stage.stop(first.scheduler)
    await stage.clock.advanceTo('2026-01-01T00:03:30Z')
    const [one, other] = [await stage.replica(), await stage.replica()]
    const { tick, seen, end } = steeredTick()
    const registration = one.backend.register(spec({ catchUp: 'all' }), tick)
    await stage.clock.settle()
    const stopping = registration.stop()
    end()
    await stopping
    const rest = quickTick()
    other.backend.register(spec({ catchUp: 'all' }), rest.tick)
    await stage.clock.advance(5000)
    expect([seen, rest.minutes]).toEqual([['00:01:00.000'], [2, 3]])
  })

  test('the name can be registered again at once', async () => {
    const { tick, minutes } = quickTick()
    const { backend } = await stage.replica()
    const held = steeredTick()
    const registration = backend.register(spec(), held.tick)
    await stage.clock.advance(60_000)
    const stopping = registration.stop()
    backend.register(spec(), tick)
    await stage.clock.advance(60_000)
    expect(minutes).toEqual([])
    held.end()
    await stopping
    await stage.clock.advance(60_000)
    expect(minutes).toEqual([3])
  })

  test('a registration of the same name and plan goes on where the last one stopped', async () => {
    const { tick, minutes } = quickTick()
    const { backend } = await stage.replica()
    const registration = backend.register(spec({ catchUp: 'all' }), tick)
    await stage.clock.settle()
    await registration.stop()
    await stage.clock.advance(150_000)
    backend.register(spec({ catchUp: 'all' }), tick)
    await stage.clock.advance(60_000)
    expect(minutes).toEqual([1, 2, 3])
  })

  test('a registration of the same name and another plan begins anew', async () => {
    const { tick, minutes } = quickTick()
    const { backend } = await stage.replica()
    await backend.register(spec(), tick).stop()
    await stage.clock.advance(30_000)
    backend.register(spec({ cadence: { cron: '*/2 * * * *' } }), tick)
    await stage.clock.advance(240_000)
    expect(minutes).toEqual([2, 4])
  })
})
