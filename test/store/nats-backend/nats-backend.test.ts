// The NATS backend on a real bucket: what it stores, who runs what, and what it makes of the rest.
// Slots come on virtual time; what happens in the bucket is waited for. Several processes: see
// `replicas.test.ts`.

import { hostname } from 'node:os'
import { Kvm } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RegistrationSpec } from '../../../src/backend/contract.ts'
import { nats } from '../../../src/backend/nats.ts'
import { slotKey } from '../../../src/backend/run-key.ts'
import { SPEC, steeredTick, unhandledRejections } from '../../backend/ticks.ts'
import { bucketStage, HOUR_MS, HOURLY, iso } from './bucket-stage.ts'
import { countedTick } from './counted-tick.ts'

const BOOM = new Error('boom')

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

describe('a run', () => {
  test('is a key of its slot, with a marker that says how it went', async () => {
    const slot = stage.hour(1)
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
    const slot = stage.hour(1)
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
    await stage.clock.advanceTo(stage.hour(1))
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
    await kv.create('last.report', iso(stage.hour(5)))
    const { tick, times } = countedTick()
    const registration = stage.backend().register(spec(), tick)
    await stage.clock.advanceTo(stage.hour(1))
    await times(1)
    await registration.stop()
    expect((await kv.get('last.report'))?.string()).toBe(iso(stage.hour(4)))
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
      const slot = stage.hour(1)
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
    const slot = stage.hour(1)
    await stage.clock.advanceTo(slot)
    await stage.entry('last.report', (entry) => entry.string() === iso(slot))
    await registration.stop()
  })

  test('that is deleted fails the next tick, and is there again for the one after it', async () => {
    const onError = vi.fn()
    const { tick, runs } = countedTick()
    const registration = stage.backend().register(spec({ onError }), tick)
    await registration.trigger()
    await (await stage.kv()).destroy()
    await expect(registration.trigger()).rejects.toThrow()
    await registration.trigger()
    await registration.stop()
    expect([runs.length, onError.mock.calls.length]).toEqual([2, 1])
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
      await stage.clock.advanceTo(stage.hour(1))
      await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(2))
      await registration.stop()
      expect(registration.next()).toBeUndefined()
      expect(runs).toEqual([])
    })
  })

  const GONE = [
    ['whose connection is closed', (connection: NatsConnection) => connection.close()],
    ['whose connection is drained', (connection: NatsConnection) => connection.drain()],
    ['that is deleted', async () => (await stage.kv()).destroy()],
  ] as const

  test.each(GONE)('%s under a run: stop resolves, and the run tells it', async (_, leave) => {
    const onError = vi.fn()
    const steered = steeredTick()
    const connection = await stage.connect()
    const slot = stage.hour(1)
    const registration = stage.backend({ connection }).register(spec({ onError }), steered.tick)
    await stage.clock.advanceTo(slot)
    await stage.marker(slotKey('report', slot))
    await leave(connection)
    steered.end()
    // Without waits on the clock, which stands still.
    await registration.stop()
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
