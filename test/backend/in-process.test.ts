// The contract where nothing is stored: cadence, overlap, errors, triggers and the end, on virtual
// time. What the shared chain promises is proven here once, for all backends.

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

describe('cadence', () => {
  test('an interval counts from the registration and does not drift', async () => {
    await clock.advance(137)
    const { tick, seen, end } = steeredTick()
    const registration = register({}, tick)
    expect(registration.next()?.toISOString()).toBe('2026-01-01T00:00:01.137Z')
    for (let i = 0; i < 3; i++) {
      await clock.advance(1000)
      end()
    }
    expect(seen).toEqual(['00:00:01.137', '00:00:02.137', '00:00:03.137'])
  })

  test('an interval longer than a host timer takes is waited for', async () => {
    const { tick, seen } = steeredTick()
    register({ cadence: { every: String(2 ** 31) } }, tick)
    await clock.advance(2 ** 31 - 1)
    expect(seen).toEqual([])
    await clock.advance(1)
    expect(seen).toHaveLength(1)
  })

  test('a cron runs at its slots, and names them', async () => {
    const runs: TickRun[] = []
    const registration = register({ cadence: { cron: '*/5 * * * *' } }, async (run) => {
      runs.push(run)
    })
    expect(registration.next()?.toISOString()).toBe('2026-01-01T00:05:00.000Z')
    await clock.advance(600_000)
    expect(runs).toEqual([
      { key: 'run.report.2026-01-01T00-05-00.000Z', scheduledAt: new Date('2026-01-01T00:05Z') },
      { key: 'run.report.2026-01-01T00-10-00.000Z', scheduledAt: new Date('2026-01-01T00:10Z') },
    ])
  })

  test('a clock that is set back does not hold up an interval', async () => {
    const { tick, seen, end } = steeredTick()
    register({}, tick)
    await clock.advance(1000)
    end()
    clock.stepWall(-3_600_000)
    await clock.advance(31_000)
    expect(seen.length).toBeGreaterThan(1)
  })

  test('slots of a short stall all run, those of a long sleep do not', async () => {
    const seen: number[] = []
    register({}, async ({ scheduledAt }) => {
      seen.push(scheduledAt.getTime() - Date.parse('2026-01-01'))
    })
    await clock.stall(3500)
    expect(seen).toEqual([1000, 2000, 3000])
    clock.suspend(3_600_250)
    await clock.advance(1000)
    expect([seen[3], seen.at(-1), seen.length]).toEqual([3_595_000, 3_604_000, 13])
  })
})

describe('overlap', () => {
  test('skip drops what falls due while a tick runs', async () => {
    const { tick, seen, end } = steeredTick()
    register({}, tick)
    await clock.advance(3500)
    end()
    await clock.advance(1000)
    expect(seen).toEqual(['00:00:01.000', '00:00:04.000'])
  })

  test('skip drops what fell due while a tick kept the process from noticing', async () => {
    const seen: number[] = []
    register({}, async ({ scheduledAt }) => {
      seen.push(scheduledAt.getSeconds())
      if (seen.length === 1) clock.suspend(2500)
    })
    await clock.advance(2000)
    expect(seen).toEqual([1, 4])
  })

  test('queue runs it afterwards, in order', async () => {
    const { tick, seen, end } = steeredTick()
    register({ overlap: 'queue' }, tick)
    await clock.advance(3500)
    expect(seen).toEqual(['00:00:01.000'])
    for (let i = 0; i < 3; i++) {
      end()
      await clock.settle()
    }
    expect(seen).toEqual(['00:00:01.000', '00:00:02.000', '00:00:03.000'])
  })

  test('queue goes on after a tick that failed', async () => {
    const { tick, seen, fail } = steeredTick()
    register({ overlap: 'queue' }, tick)
    await clock.advance(2500)
    fail(BOOM)
    await clock.settle()
    expect(seen).toEqual(['00:00:01.000', '00:00:02.000'])
  })

  test('a tick never runs beside itself', async () => {
    const steered = steeredTick()
    const registration = register({ overlap: 'queue' }, steered.tick)
    void registration.trigger()
    void registration.trigger()
    await clock.advance(5000)
    expect(steered.running).toBe(1)
  })

  test('ten thousand queued ticks keep their order', async () => {
    const order: number[] = []
    const registration = register({ overlap: 'queue' }, async ({ key }) => {
      order.push(Number(key.split('.').at(-1)))
    })
    const all = Array.from({ length: 10_000 }, (_, i) => registration.trigger(String(i)))
    await Promise.all(all)
    expect(order).toEqual(Array.from({ length: 10_000 }, (_, i) => i))
  })
})

describe('errors', () => {
  test.each(['skip', 'queue'] as const)(
    '%s: onError hears once of each failed tick',
    async (overlap) => {
      const onError = vi.fn()
      register({ overlap, onError }, async () => {
        throw BOOM
      })
      await clock.advance(2000)
      expect(onError.mock.calls.map(([error, run]) => [error, run.key])).toEqual([
        [BOOM, 'run.report.2026-01-01T00-00-01.000Z'],
        [BOOM, 'run.report.2026-01-01T00-00-02.000Z'],
      ])
    },
  )

  test.each([
    ['an error', BOOM],
    ['a string', 'boom'],
    ['undefined', undefined],
  ])('%s arrives as it was thrown', async (_, thrown) => {
    const onError = vi.fn()
    const registration = register({ onError }, () => Promise.reject(thrown))
    const heard = await registration.trigger().then(
      () => 'resolved',
      (error) => [error],
    )
    expect(heard).toEqual([thrown])
    expect(onError).toHaveBeenCalledExactlyOnceWith(thrown, expect.anything())
  })

  test('a tick that throws instead of returning a promise has failed, too', async () => {
    const onError = vi.fn()
    register({ onError }, () => {
      throw BOOM
    })
    await clock.advance(1000)
    expect(onError).toHaveBeenCalledOnce()
  })

  test('without onError the next slot runs all the same', async () => {
    let calls = 0
    register({}, async () => {
      calls++
      throw BOOM
    })
    await clock.advance(3000)
    expect(calls).toBe(3)
  })

  test.each([
    [
      'throws',
      () => {
        throw BOOM
      },
    ],
    ['rejects', () => Promise.reject(BOOM)],
  ])('an onError that %s is logged, and nothing else happens', async (_, onError) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    let calls = 0
    register({ onError }, async () => {
      calls++
      throw new Error('first')
    })
    await clock.advance(2000)
    expect(calls).toBe(2)
    expect(log.mock.calls.map(([line]) => String(line))).toEqual([
      expect.stringContaining('onError of "report" failed: Error: boom'),
      expect.stringContaining('onError of "report" failed: Error: boom'),
    ])
    log.mockRestore()
  })
})
