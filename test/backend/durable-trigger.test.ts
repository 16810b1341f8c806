// Triggers over schedulers and a store, on virtual time: here, once among the replicas, and what
// becomes of those that wait.

import { describe, expect, test, vi } from 'vitest'
import { durableStage, quickTick, spec } from './durable-stage.ts'
import { steeredTick } from './ticks.ts'

const BOOM = new Error('boom')

const stage = durableStage()

describe('trigger', () => {
  test('without a key runs here and now', async () => {
    const { tick, keys } = quickTick()
    const registration = stage.idle().backend.register(spec(), tick)
    await registration.trigger()
    await registration.trigger()
    expect(keys).toEqual([
      expect.stringMatching(/^run\.report\.manual\./),
      expect.stringMatching(/^run\.report\.manual\./),
    ])
  })

  test('with a key runs once among the replicas, and for ever', async () => {
    const { tick, keys } = quickTick()
    const [one, other] = [await stage.replica(), await stage.replica()]
    const first = one.backend.register(spec(), tick)
    const second = other.backend.register(spec(), tick)
    const both = Promise.all([first.trigger('order 7'), second.trigger('order 7')])
    await stage.clock.advance(6000)
    await both
    await first.trigger('order 7')
    await stage.stop(other.scheduler)
    const third = (await stage.replica()).backend.register(spec(), tick)
    const again = third.trigger('order 7')
    await stage.clock.settle()
    await again
    expect(keys.filter((key) => key.includes('manual'))).toEqual(['run.report.manual.order=207'])
  })

  test('with a key that another replica is running resolves at once', async () => {
    const { tick, seen, end } = steeredTick()
    const [one, other] = [await stage.replica(), await stage.replica()]
    const winner = one.backend.register(spec(), tick).trigger('a')
    await stage.clock.settle()
    const registration = other.backend.register(spec(), tick)
    const lost = registration.trigger('a')
    await stage.clock.settle()
    await lost
    expect(seen).toHaveLength(1)
    end()
    await winner
    await stage.clock.advance(5000)
    await registration.trigger('a')
    expect(seen).toHaveLength(1)
  })

  test('with a key whose runner dies is run by another that was asked', async () => {
    const { tick, keys } = quickTick()
    const [one, other] = [await stage.replica(), await stage.replica()]
    const dead = one.backend.register(spec(), () => new Promise(() => {})).trigger('a')
    await stage.clock.settle()
    const lost = other.backend.register(spec(), tick).trigger('a')
    await stage.clock.settle()
    await lost
    await stage.stop(one.scheduler)
    await stage.clock.advance(1000)
    expect(keys).toContain('run.report.manual.a')
    expect(await Promise.race([dead, 'pending'])).toBe('pending')
  })

  test('with a key rejects its caller with what the tick threw', async () => {
    const onError = vi.fn()
    const { backend } = await stage.replica()
    const registration = backend.register(spec({ onError }), () => Promise.reject(BOOM))
    const triggered = registration.trigger('a')
    await stage.clock.settle()
    await expect(triggered).rejects.toBe(BOOM)
    expect(onError).toHaveBeenCalledOnce()
    await expect(registration.trigger('a')).resolves.toBeUndefined()
  })

  test('with a key hears what the tick threw after the scheduler stopped', async () => {
    const { tick, fail } = steeredTick()
    const { scheduler, backend } = await stage.replica()
    const triggered = backend.register(spec(), tick).trigger('a')
    await stage.clock.settle()
    await stage.stop(scheduler)
    fail(BOOM)
    await expect(triggered).rejects.toBe(BOOM)
  })

  test('skip: joins the tick that runs, with or without a key', async () => {
    const { tick, seen, end } = steeredTick()
    const { backend } = await stage.replica()
    const registration = backend.register(spec(), tick)
    await stage.clock.advance(60_000)
    const joined = [registration.trigger('a'), registration.trigger()]
    end()
    await Promise.all(joined)
    expect(seen).toHaveLength(1)
  })

  test('queue: waits for the slot that runs', async () => {
    const { tick, seen, end } = steeredTick()
    const { backend } = await stage.replica()
    const registration = backend.register(spec({ overlap: 'queue' }), tick)
    await stage.clock.advance(60_000)
    const triggered = registration.trigger('a')
    await stage.clock.settle()
    expect(seen).toHaveLength(1)
    end()
    await stage.clock.settle()
    expect(seen).toHaveLength(2)
    end()
    await triggered
  })

  test('with a key that waits is rejected when the registration stops', async () => {
    const registration = stage.idle().backend.register(spec(), async () => {})
    const triggered = registration.trigger('a')
    await registration.stop()
    await expect(triggered).rejects.toThrow('stopped before it ran here')
  })
})
