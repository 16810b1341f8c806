// Triggers and the end of a registration, where nothing is stored, on virtual time. As all backends
// share the chain, what it promises about them is proven here once.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RegistrationSpec, Tick, TickRun } from '../../src/backend/contract.ts'
import { inProcess } from '../../src/backend/in-process.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { SPEC, steeredTick, unhandledRejections } from './ticks.ts'

const BOOM = new Error('boom')

let clock: VirtualClock
let rejections: ReturnType<typeof unhandledRejections>

beforeEach(() => {
  clock = new VirtualClock('2026-01-01T00:00:00Z')
  rejections = unhandledRejections()
})

afterEach(async () => {
  await clock.settle()
  rejections.stop()
  expect(rejections.found).toEqual([])
})

const register = (spec: Partial<RegistrationSpec>, tick: Tick) =>
  inProcess({ clock }).register({ ...SPEC, ...spec }, tick)

describe('trigger', () => {
  test('runs now, under a key of its own', async () => {
    const runs: TickRun[] = []
    const registration = register({}, async (run) => {
      runs.push(run)
    })
    await registration.trigger()
    await registration.trigger()
    expect(runs.map(({ scheduledAt }) => scheduledAt.getTime())).toEqual([clock.now(), clock.now()])
    expect(new Set(runs.map(({ key }) => key)).size).toBe(2)
  })

  test('rejects its own caller, with or without onError', async () => {
    for (const onError of [undefined, vi.fn()]) {
      const registration = register({ onError }, () => Promise.reject(BOOM))
      await expect(registration.trigger()).rejects.toBe(BOOM)
    }
  })

  test('may be left alone when it fails', async () => {
    const registration = register({}, () => Promise.reject(BOOM))
    void registration.trigger()
    await clock.settle()
  })

  test('skip: joins the tick that runs, and shares its end', async () => {
    const { tick, seen, fail } = steeredTick()
    const registration = register({}, tick)
    await clock.advance(1000)
    const [first, second] = [registration.trigger(), registration.trigger('key')]
    expect(first).toBe(second)
    fail(BOOM)
    await expect(first).rejects.toBe(BOOM)
    expect(seen).toHaveLength(1)
  })

  test('skip: two in one turn are one tick', async () => {
    const { tick, seen, end } = steeredTick()
    const registration = register({}, tick)
    const both = [registration.trigger(), registration.trigger()]
    end()
    await Promise.all(both)
    expect(seen).toHaveLength(1)
  })

  test('queue: each runs, and each caller gets its own end', async () => {
    const { tick, end, fail } = steeredTick()
    const registration = register({ overlap: 'queue' }, tick)
    const [first, second] = [registration.trigger(), registration.trigger()]
    fail(BOOM)
    await expect(first).rejects.toBe(BOOM)
    end()
    await expect(second).resolves.toBeUndefined()
  })

  test('a dedup key is ignored: there is only this process', async () => {
    const { tick, seen, end } = steeredTick()
    const registration = register({}, tick)
    for (let i = 0; i < 2; i++) {
      const done = registration.trigger('same')
      await clock.settle()
      end()
      await done
    }
    expect(seen).toHaveLength(2)
  })

  test.each([[''], [7], [null], ['\ud800']])('refuses the dedup key %j', async (key) => {
    const registration = register({}, async () => {})
    await expect(registration.trigger(key as string)).rejects.toThrow(/^dedupKey: must/)
  })
})

describe('stop', () => {
  test('starts no new tick, and there is no next one', async () => {
    const { tick, seen } = steeredTick()
    const registration = register({}, tick)
    await registration.stop()
    await clock.advance(10_000)
    expect(seen).toEqual([])
    expect(registration.next()).toBeUndefined()
    expect(clock.pendingTimers).toBe(0)
  })

  test('waits for the tick that runs', async () => {
    const { tick, end } = steeredTick()
    const registration = register({}, tick)
    await clock.advance(1000)
    let isStopped = false
    const stopped = registration.stop().then(() => {
      isStopped = true
    })
    await clock.advance(60_000)
    expect(isStopped).toBe(false)
    end()
    await stopped
  })

  test('waits for queued ticks, also when one of them fails', async () => {
    const { tick, seen, end, fail } = steeredTick()
    const registration = register({ overlap: 'queue' }, tick)
    await clock.advance(3000)
    const stopped = registration.stop()
    fail(BOOM)
    await clock.settle()
    end()
    await clock.settle()
    end()
    await stopped
    expect(seen).toHaveLength(3)
  })

  test('may be called again, and at any time', async () => {
    const { tick, end } = steeredTick()
    const registration = register({}, tick)
    await clock.advance(1000)
    const both = [registration.stop(), registration.stop()]
    end()
    await Promise.all(both)
    await registration.stop()
  })

  test('a trigger is refused afterwards', async () => {
    const registration = register({}, async () => {})
    await registration.stop()
    await expect(registration.trigger()).rejects.toThrow('trigger: "report" was stopped')
  })

  test('a tick may stop its own registration', async () => {
    const seen: number[] = []
    const registration = register({}, async () => {
      seen.push(seen.length)
      void registration.stop()
    })
    await clock.advance(5000)
    expect(seen).toEqual([0])
    await registration.stop()
  })

  test('the name may be registered again', async () => {
    const backend = inProcess({ clock })
    const { tick, seen } = steeredTick()
    await backend.register(SPEC, tick).stop()
    backend.register(SPEC, tick)
    await clock.advance(1000)
    expect(seen).toHaveLength(1)
  })
})
