// Runs that others began, and slots that nobody ran, on a real bucket: who takes over what and
// when, what a catch-up replays. Slots come on virtual time; what happens in the bucket is waited
// for.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RegistrationSpec, Tick } from '../../../src/backend/contract.ts'
import { slotKey } from '../../../src/backend/run-key.ts'
import { systemClock } from '../../../src/clock.ts'
import { SPEC, steeredTick, unhandledRejections } from '../../backend/ticks.ts'
import { bucketStage, HOUR_MS, HOURLY, iso } from './bucket-stage.ts'
import { countedTick } from './counted-tick.ts'

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

  // One contender only: the server's clock does not follow the virtual one, so to a second one the
  // marker of the first would look as old. That one of many wins is shown in real time, in
  // nats-runs.test.ts and replicas.test.ts.
  test('that died is taken over after lockTtlMs, and not before', async () => {
    const slot = stage.hour(1)
    const key = slotKey('report', slot)
    const kv = await stage.kv()
    const { tick, runs, times } = countedTick()
    const other = stage.backend().register(spec(), tick)
    await kv.create(key, JSON.stringify({ startedAt: iso(slot), host: 'gone' }))
    await stage.clock.advanceTo(slot)
    await stage.clock.advance(LOCK_TTL_MS - 1)
    expect(runs).toEqual([])
    await stage.clock.advance(2)
    await times(1)
    await stage.marker(key, ({ completedAt }) => completedAt !== undefined)
    await other.stop()
    expect(runs.map((run) => run.key)).toEqual([key])
  })

  test.each([
    ['says so itself', (startedAt: string) => ({ startedAt, host: 'gone' })],
    [
      'counts in numbers',
      (startedAt: string) => ({ startedAt: Date.parse(startedAt), host: 'gone' }),
    ],
  ])('whose marker is stale at the start is taken over at once: it %s', async (_, marker) => {
    const key = slotKey('report', stage.hour(0))
    const kv = await stage.kv()
    await kv.create(key, JSON.stringify(marker(iso(stage.clock.now() - LOCK_TTL_MS - 1000))))
    const { tick, runs, times } = countedTick()
    const registration = stage.backend().register(spec(), tick)
    const ended = stage.marker(key, ({ completedAt }) => completedAt !== undefined)
    const started = times(1)
    while (runs.length === 0) await Promise.race([started, stage.clock.advance(1)])
    await ended
    await registration.stop()
    expect(runs).toEqual([{ key, scheduledAt: new Date(stage.hour(0)) }])
  })

  test('that lost its run to another is told, and leaves the marker alone', async () => {
    const onError = vi.fn()
    const steered = steeredTick()
    const slot = stage.hour(1)
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
    await (await stage.kv()).create('last.report', iso(stage.hour(-50)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all' }, tick)
    await times(50)
    await stage.entry('last.report', (entry) => entry.string() === iso(stage.hour(0)))
    await registration.stop()
    expect(slots()).toEqual(Array.from({ length: 50 }, (_, i) => stage.hour(i - 49)))
  })

  test('all streams ten thousand slots, in order', async () => {
    const count = 10_000
    await (await stage.kv()).create('last.report', iso(stage.hour(-count)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all', overlap: 'queue' }, tick)
    await times(count)
    await registration.stop()
    expect(slots()).toEqual(Array.from({ length: count }, (_, i) => stage.hour(i + 1 - count)))
  }, 120_000)

  test('last replays the newest slot alone', async () => {
    await (await stage.kv()).create('last.report', iso(stage.hour(-50)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'last' }, tick)
    await times(1)
    await registration.stop()
    expect(slots()).toEqual([stage.hour(0)])
  })

  test.each([
    ['skip replays nothing', 'skip', -50],
    ['last has nothing to replay after the newest slot', 'last', 0],
    ['all has nothing to replay after the newest slot', 'all', 0],
    ['all has nowhere to start from', 'all', undefined],
    ['last has nowhere to start from', 'last', undefined],
  ] as const)('%s', async (_, catchUp, last) => {
    const kv = await stage.kv()
    if (last !== undefined) await kv.create('last.report', iso(stage.hour(last)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp }, tick)
    await stage.clock.advanceTo(stage.hour(1))
    await times(1)
    await registration.stop()
    expect(slots()).toEqual([stage.hour(0)])
  })

  test('all passes over what others have run or are running', async () => {
    const kv = await stage.kv()
    await kv.create('last.report', iso(stage.hour(-4)))
    await kv.create(
      slotKey('report', stage.hour(-3)),
      JSON.stringify({ failedAt: iso(stage.hour(-3)) }),
    )
    const startedAt = iso(stage.clock.now())
    await kv.create(slotKey('report', stage.hour(-2)), JSON.stringify({ startedAt }))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all' }, tick)
    await times(2)
    await registration.stop()
    expect(slots()).toEqual([stage.hour(-1), stage.hour(0)])
  })

  test('slots that were missed while the process slept are replayed when it wakes', async () => {
    await (await stage.kv()).create('last.report', iso(stage.hour(0)))
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all' }, tick)
    const first = stage.hour(1)
    stage.clock.suspend(3 * HOUR_MS)
    await stage.clock.advance(30_000)
    await times(3)
    await registration.stop()
    expect(slots()).toEqual([0, 1, 2].map((n) => first + n * HOUR_MS))
  })

  test('what could not be claimed while the bucket was away is replayed later', async () => {
    const onError = vi.fn()
    const last = iso(stage.hour(0))
    const [first, second] = [stage.hour(1), stage.hour(2)]
    const kv = await stage.kv()
    await kv.create('last.report', last)
    const { tick, slots, times } = countedTick()
    const registration = register({ catchUp: 'all', onError }, tick)
    await registration.trigger()
    await kv.destroy()
    await stage.clock.advanceTo(first)
    await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce(), 10_000)
    await (await stage.kv()).create('last.report', last)
    await stage.clock.advanceTo(second)
    await times(3)
    await registration.stop()
    expect(slots().slice(1)).toEqual([first, second])
    expect(onError).toHaveBeenCalledOnce()
  })

  test('a stop ends it between two slots', async () => {
    await (await stage.kv()).create('last.report', iso(stage.hour(-50)))
    let stopped: Promise<void> | undefined
    const { tick, runs } = countedTick(async () => {
      stopped ??= registration.stop()
    })
    const registration = register({ catchUp: 'all' }, tick)
    await stage.entry('last.report', (entry) => entry.string() === iso(stage.hour(-49)))
    await stopped
    expect(runs).toHaveLength(1)
  })
})
