// The NATS backend on a real bucket: what it stores, who runs what, and what it makes of the rest.
// Slots come on virtual time; what happens in the bucket is waited for. Several processes: see
// `replicas.test.ts`.

import { hostname } from 'node:os'
import { Kvm } from '@nats-io/kv'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RegistrationSpec, Tick, TickRun } from '../../../src/backend/contract.ts'
import { nats } from '../../../src/backend/nats.ts'
import { slotKey } from '../../../src/backend/run-key.ts'
import { systemClock } from '../../../src/clock.ts'
import { SPEC, steeredTick, unhandledRejections } from '../../backend/ticks.ts'
import { bucketStage, HOURLY } from './bucket-stage.ts'

const BOOM = new Error('boom')
const HOUR_MS = 3_600_000

const stage = bucketStage()
let rejections: ReturnType<typeof unhandledRejections>
beforeEach(() => {
  rejections = unhandledRejections()
})
afterEach(() => {
  rejections.stop()
  expect(rejections.found).toEqual([])
})

const spec = (change: Partial<RegistrationSpec> = {}): RegistrationSpec => ({
  ...SPEC,
  cadence: HOURLY,
  ...change,
})

const iso = (instant: number) => new Date(instant).toISOString()

/** The `n`-th full hour from now; 0 is the last one. */
const hour = (n: number) => (Math.floor(stage.clock.now() / HOUR_MS) + n) * HOUR_MS

/** A tick that tells when it ran as often as wanted. */
function countedTick(work: Tick = async () => {}) {
  const runs: TickRun[] = []
  const waiting: { count: number; resolve(): void }[] = []
  const tick = async (run: TickRun) => {
    try {
      await work(run)
    } finally {
      runs.push(run)
      for (const { count, resolve } of waiting) if (runs.length >= count) resolve()
    }
  }
  const times = (count: number) => {
    return new Promise<void>((resolve) => {
      if (runs.length >= count) resolve()
      else waiting.push({ count, resolve })
    })
  }
  return { tick, runs, times, slots: () => runs.map(({ scheduledAt }) => scheduledAt.getTime()) }
}

describe('a run', () => {
  test('is a key of its slot, with a marker that says how it went', async () => {
    const slot = hour(1)
    const registration = stage.backend().register(spec({ name: 'daily report' }), async () => {})
    expect(registration.next()?.getTime()).toBe(slot)
    await stage.clock.advanceTo(slot)
    const key = `run.daily=20report.${iso(slot).replaceAll(':', '-')}`
    const marker = await stage.marker(key, ({ completedAt }) => completedAt !== undefined)
    expect(marker).toEqual({
      startedAt: iso(slot),
      host: hostname(),
      claim: expect.any(String),
      completedAt: iso(slot),
    })
    expect((await stage.entry('last.daily=20report')).string()).toBe(iso(slot))
    await registration.stop()
  })

  test('that failed says so, and is not the last completed one', async () => {
    const onError = vi.fn()
    const slot = hour(1)
    const registration = stage.backend().register(spec({ onError }), () => Promise.reject(BOOM))
    await stage.clock.advanceTo(slot)
    const key = slotKey('report', slot)
    const marker = await stage.marker(key, ({ failedAt }) => failedAt !== undefined)
    expect(marker).toMatchObject({ failedAt: iso(slot), error: 'Error: boom' })
    await registration.stop()
    expect(onError).toHaveBeenCalledExactlyOnceWith(BOOM, { key, scheduledAt: new Date(slot) })
    expect(await stage.keys()).toEqual([key])
  })

  test('is of one backend, however many see its slot', async () => {
    const { tick, runs, times } = countedTick()
    const registrations = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const backend = stage.backend({ connection: await stage.connect() })
        return backend.register(spec(), tick)
      }),
    )
    await stage.clock.advanceTo(hour(1))
    await times(1)
    await Promise.all(registrations.map((registration) => registration.stop()))
    expect(runs).toHaveLength(1)
  })

  test('of an interval is due at a multiple of it since the epoch', async () => {
    const registration = stage
      .backend()
      .register({ ...SPEC, cadence: { every: '7000' } }, async () => {})
    const next = registration.next()?.getTime() ?? 0
    expect(next % 7000).toBe(0)
    expect(next - stage.clock.now()).toBeLessThanOrEqual(7000)
    await registration.stop()
  })

  test('keeps last.<name> when an older slot ends later', async () => {
    const kv = await stage.kv()
    await kv.create('last.report', iso(hour(5)))
    const { tick, times } = countedTick()
    const registration = stage.backend().register(spec(), tick)
    await stage.clock.advanceTo(hour(1))
    await times(1)
    await registration.stop()
    expect((await kv.get('last.report'))?.string()).toBe(iso(hour(4)))
  })
})

describe('a holder', () => {
  const LOCK_TTL_MS = 300_000

  test('that is alive is never taken over, however long it takes', async () => {
    // Markers are dated by the server, so this takes real time: three times lockTtlMs.
    const real = { clock: systemClock, lockTtlMs: 300 }
    const steered = steeredTick()
    const other = countedTick()
    const slow = stage.backend(real).register(spec(), steered.tick)
    const waiting = stage.backend({ ...real, connection: await stage.connect() })
    const idle = waiting.register(spec(), other.tick)
    const running = slow.trigger('slow')
    const key = 'run.report.manual.slow'
    await stage.marker(key)
    await idle.trigger('slow')
    const renewals = new Set<string>()
    await stage.marker(key, ({ renewedAt }) => {
      if (renewedAt) renewals.add(renewedAt)
      return renewals.size === 9
    })
    steered.end()
    await running
    await Promise.all([slow.stop(), idle.stop()])
    expect(other.runs).toEqual([])
  })

  test('that died is taken over after lockTtlMs, by one of the others', async () => {
    const slot = hour(1)
    const key = slotKey('report', slot)
    const kv = await stage.kv()
    const { tick, runs, times } = countedTick()
    const others = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const backend = stage.backend({ connection: await stage.connect() })
        return backend.register(spec(), tick)
      }),
    )
    await kv.create(key, JSON.stringify({ startedAt: iso(slot), host: 'gone' }))
    await stage.clock.advanceTo(slot)
    await stage.clock.advance(LOCK_TTL_MS - 1)
    expect(runs).toEqual([])
    await stage.clock.advance(2)
    await times(1)
    await stage.marker(key, ({ completedAt }) => completedAt !== undefined)
    await Promise.all(others.map((other) => other.stop()))
    expect(runs.map((run) => run.key)).toEqual([key])
  })

  test.each([
    ['says so itself', (startedAt: string) => ({ startedAt, host: 'gone' })],
    [
      'counts in numbers',
      (startedAt: string) => ({ startedAt: Date.parse(startedAt), host: 'gone' }),
    ],
  ])('whose marker is stale at the start is taken over at once: it %s', async (_, marker) => {
    const key = slotKey('report', hour(0))
    const kv = await stage.kv()
    await kv.create(key, JSON.stringify(marker(iso(stage.clock.now() - LOCK_TTL_MS - 1000))))
    const { tick, runs, times } = countedTick()
    const registration = stage.backend().register(spec(), tick)
    const ended = stage.marker(key, ({ completedAt }) => completedAt !== undefined)
    const started = times(1)
    while (runs.length === 0) await Promise.race([started, stage.clock.advance(1)])
    await ended
    await registration.stop()
    expect(runs).toEqual([{ key, scheduledAt: new Date(hour(0)) }])
  })

  test('that lost its run to another is told, and leaves the marker alone', async () => {
    const onError = vi.fn()
    const steered = steeredTick()
    const slot = hour(1)
    const key = slotKey('report', slot)
    const registration = stage.backend().register(spec({ onError }), steered.tick)
    await stage.clock.advanceTo(slot)
    await stage.marker(key)
    const kv = await stage.kv()
    await kv.put(key, '{"host":"thief"}')
    steered.end()
    await registration.stop()
    expect((await kv.get(key))?.string()).toBe('{"host":"thief"}')
    expect(onError).toHaveBeenCalledOnce()
    expect(String(onError.mock.calls[0]?.[0])).toContain('another process has taken this run over')
  })
})

describe('catch-up', () => {
  const register = (change: Partial<RegistrationSpec>, tick: Tick) =>
    stage.backend().register(spec(change), tick)

  test('all replays every slot since the last completed one, in order', async () => {
    await (await stage.kv()).create('last.report', iso(hour(-50)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all' }, tick)
    await times(50)
    await stage.entry('last.report', (entry) => entry.string() === iso(hour(0)))
    await registration.stop()
    expect(slots()).toEqual(Array.from({ length: 50 }, (_, i) => hour(i - 49)))
  })

  test('all streams ten thousand slots, in order', async () => {
    const count = 10_000
    await (await stage.kv()).create('last.report', iso(hour(-count)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all', overlap: 'queue' }, tick)
    await times(count)
    await registration.stop()
    expect(slots()).toEqual(Array.from({ length: count }, (_, i) => hour(i + 1 - count)))
  }, 120_000)

  test('last replays the newest slot alone', async () => {
    await (await stage.kv()).create('last.report', iso(hour(-50)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'last' }, tick)
    await times(1)
    await registration.stop()
    expect(slots()).toEqual([hour(0)])
  })

  test.each([
    ['skip replays nothing', 'skip', -50],
    ['last has nothing to replay after the newest slot', 'last', 0],
    ['all has nothing to replay after the newest slot', 'all', 0],
    ['all has nowhere to start from', 'all', undefined],
    ['last has nowhere to start from', 'last', undefined],
  ] as const)('%s', async (_, catchUp, last) => {
    const kv = await stage.kv()
    if (last !== undefined) await kv.create('last.report', iso(hour(last)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp }, tick)
    await stage.clock.advanceTo(hour(1))
    await times(1)
    await registration.stop()
    expect(slots()).toEqual([hour(0)])
  })

  test('all passes over what others have run or are running', async () => {
    const kv = await stage.kv()
    await kv.create('last.report', iso(hour(-4)))
    await kv.create(slotKey('report', hour(-3)), JSON.stringify({ failedAt: iso(hour(-3)) }))
    const startedAt = iso(stage.clock.now())
    await kv.create(slotKey('report', hour(-2)), JSON.stringify({ startedAt }))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all' }, tick)
    await times(2)
    await registration.stop()
    expect(slots()).toEqual([hour(-1), hour(0)])
  })

  test('slots that were missed while the process slept are replayed when it wakes', async () => {
    await (await stage.kv()).create('last.report', iso(hour(0)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all' }, tick)
    const first = hour(1)
    stage.clock.suspend(3 * HOUR_MS)
    await stage.clock.advance(30_000)
    await times(3)
    await registration.stop()
    expect(slots()).toEqual([0, 1, 2].map((n) => first + n * HOUR_MS))
  })

  test('a stop ends it between two slots', async () => {
    await (await stage.kv()).create('last.report', iso(hour(-50)))
    let stopped: Promise<void> | undefined
    const { tick, runs } = countedTick(async () => {
      stopped ??= registration.stop()
    })
    const registration = register({ catchUp: 'all' }, tick)
    await stage.entry('last.report', (entry) => entry.string() === iso(hour(-49)))
    await stopped
    expect(runs).toHaveLength(1)
  })
})

describe('trigger', () => {
  test('with a key runs once, whoever asks and whenever', async () => {
    const { tick, runs } = countedTick()
    const one = stage.backend().register(spec(), tick)
    const other = stage.backend({ connection: await stage.connect() }).register(spec(), tick)
    await Promise.all([one.trigger('order 7'), other.trigger('order 7')])
    await one.trigger('order 7')
    await other.trigger('order 7')
    await Promise.all([one.stop(), other.stop()])
    expect(runs.map(({ key }) => key)).toEqual(['run.report.manual.order=207'])
  })

  test('with another key is another run', async () => {
    const { tick, runs } = countedTick()
    const registration = stage.backend().register(spec(), tick)
    await registration.trigger('a')
    await registration.trigger('b')
    await Promise.all([registration.trigger('c'), registration.trigger('d')])
    await registration.stop()
    expect(runs).toHaveLength(4)
  })

  test('without a key always runs, and does not count as a slot', async () => {
    const { tick, runs } = countedTick()
    const registration = stage.backend().register(spec(), tick)
    await registration.trigger()
    await registration.trigger()
    await registration.stop()
    expect(runs).toHaveLength(2)
    expect(await stage.keys()).toEqual(runs.map(({ key }) => key).sort())
  })

  test('rejects with what the tick threw, and its key stays used', async () => {
    const registration = stage.backend().register(spec(), () => Promise.reject(BOOM))
    await expect(registration.trigger('a')).rejects.toBe(BOOM)
    await expect(registration.trigger('a')).resolves.toBeUndefined()
    await registration.stop()
  })
})

describe('a bucket', () => {
  test('that is created here keeps its entries for history.ttlMs', async () => {
    const registration = stage
      .backend({ history: { ttlMs: 60_000 } })
      .register(spec(), async () => {})
    await registration.trigger()
    await registration.stop()
    expect((await (await stage.kv()).status()).ttl).toBe(60_000)
  })

  test('that exists keeps its configuration', async () => {
    const kv = await new Kvm(stage.connection).create(stage.bucket, { history: 7, ttl: 120_000 })
    const registration = stage
      .backend({ history: { ttlMs: 60_000 } })
      .register(spec(), async () => {})
    await registration.trigger()
    await registration.stop()
    expect(await kv.status()).toMatchObject({ history: 7, ttl: 120_000 })
  })

  test.each(['not JSON', '', '[]', 'null', '7', '{"startedAt":"once"}'])(
    'with the marker %j: it is left alone for lockTtlMs, then taken over',
    async (text) => {
      const slot = hour(1)
      const key = slotKey('report', slot)
      const kv = await stage.kv()
      await kv.create(key, text)
      const onError = vi.fn()
      const { tick, runs } = countedTick()
      const registration = stage
        .backend({ lockTtlMs: 2 * HOUR_MS })
        .register(spec({ onError }), tick)
      await stage.clock.advanceTo(slot)
      await registration.trigger()
      expect(runs).toHaveLength(1)
      await stage.clock.advance(2 * HOUR_MS + 60_000)
      await stage.marker(key, ({ completedAt }) => completedAt !== undefined)
      await registration.stop()
      expect(runs.map((run) => run.key)).toContain(key)
      expect(onError).not.toHaveBeenCalled()
    },
  )

  test('with a last.<name> that is no instant: it is written anew', async () => {
    await (await stage.kv()).create('last.report', 'yesterday')
    const registration = stage.backend().register(spec({ catchUp: 'all' }), async () => {})
    const slot = hour(1)
    await stage.clock.advanceTo(slot)
    await stage.entry('last.report', (entry) => entry.string() === iso(slot))
    await registration.stop()
  })

  const UNOPENABLE = [
    ['a name that is none', () => ({ bucket: 'no bucket!' })],
    [
      'a connection that is closed',
      async () => {
        const connection = await stage.connect()
        await connection.close()
        return { connection }
      },
    ],
    ['a connection that is none', () => ({ connection: {} as never })],
  ] as const

  describe.each(UNOPENABLE)('that cannot be opened: %s', (_, options) => {
    test.each(['skip', 'queue'] as const)('%s: each tick tells it, once', async (overlap) => {
      const onError = vi.fn()
      const { tick, runs } = countedTick()
      const backend = stage.backend(await options())
      const registration = backend.register(spec({ overlap, catchUp: 'all', onError }), tick)
      await expect(registration.trigger()).rejects.toThrow()
      expect(onError).toHaveBeenCalledOnce()
      await stage.clock.advanceTo(hour(1))
      await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(2))
      await registration.stop()
      expect(registration.next()).toBeUndefined()
      expect(runs).toEqual([])
    })
  })

  test('whose connection closes under a run: stop resolves, and the run tells it', async () => {
    const onError = vi.fn()
    const steered = steeredTick()
    const connection = await stage.connect()
    const slot = hour(1)
    const registration = stage.backend({ connection }).register(spec({ onError }), steered.tick)
    await stage.clock.advanceTo(slot)
    await stage.marker(slotKey('report', slot))
    await connection.close()
    steered.end()
    let isStopped = false
    const stopped = registration.stop().then(() => {
      isStopped = true
    })
    // The end is written several times, with growing waits between.
    while (!isStopped) await stage.clock.advance(100)
    await stopped
    expect(onError).toHaveBeenCalledOnce()
  })
})

describe('options', () => {
  const connection = { isClosed: () => false }

  test.each([
    [{ connection: undefined }, /^connection: must be/],
    [{ connection: 'nats://here' }, /^connection: must be/],
    [{ connection, bucket: 7 }, /^bucket: must be the name/],
    [{ connection, lockTtlMs: 0 }, /^lockTtlMs: must be a positive whole number/],
    [{ connection, lockTtlMs: '5m' }, /^lockTtlMs: must be a number/],
    [{ connection, lockTtlMs: Number.NaN }, /^lockTtlMs: must be a positive/],
    [{ connection, history: { ttlMs: -1 } }, /^history\.ttlMs: must be a positive/],
    [{ connection, history: {} }, /^history\.ttlMs: must be a number, not undefined/],
  ])('%j is refused at once', (options, message) => {
    expect(() => nats(options as never)).toThrow(message)
  })
})
