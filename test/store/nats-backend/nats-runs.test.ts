// Claims on a real bucket between which replies get lost: what was written counts, not what was
// heard.

import { describe, expect, test } from 'vitest'
import type { RegistrationSpec, TickRun } from '../../../src/backend/contract.ts'
import { type Bucket, isConflict, openBucket } from '../../../src/backend/nats-client.ts'
import { advanceLast, readLast } from '../../../src/backend/nats-last.ts'
import { NatsRegistration } from '../../../src/backend/nats-registration.ts'
import { type Claimed, NatsRuns } from '../../../src/backend/nats-runs.ts'
import { checkedSpec } from '../../../src/backend/registration-spec.ts'
import { slotKey } from '../../../src/backend/run-key.ts'
import { SlotTimers } from '../../../src/backend/slot-timer.ts'
import { systemClock } from '../../../src/clock.ts'
import { SPEC } from '../../backend/ticks.ts'
import { bucketStage, HOURLY, iso } from './bucket-stage.ts'

const KEY = 'run.report.2026-01-01T00-00-00.000Z'
const LOCK_TTL_MS = 60_000
const LOST = new Error('the reply was lost')
const OK = { ok: true } as const

const stage = bucketStage()

/** What goes wrong with the next writes, one after the other. */
type Fault = 'none' | 'request lost' | 'reply lost'

async function opened(faults: Fault[] = []): Promise<Bucket> {
  const { connection, bucket } = stage
  const real = await openBucket(connection, { bucket, ttlMs: undefined })
  const faulty = async (write: () => Promise<number>) => {
    const fault = faults.shift() ?? 'none'
    if (fault === 'request lost') throw LOST
    const revision = await write()
    if (fault === 'reply lost') throw LOST
    return revision
  }
  return {
    create: (key, text) => faulty(() => real.create(key, text)),
    update: (key, text, revision) => faulty(() => real.update(key, text, revision)),
    get: (key) => real.get(key),
    history: (options) => real.history(options),
  }
}

async function runs(faults: Fault[] = [], renewAfterMs = LOCK_TTL_MS / 3): Promise<NatsRuns> {
  const bucket = await opened(faults)
  return new NatsRuns({
    bucket,
    clock: systemClock,
    host: 'here',
    lockTtlMs: LOCK_TTL_MS,
    renewAfterMs,
  })
}

const NO_LAST = { mustExist: false, onCompleted: async () => {} }

function held(claimed: Claimed) {
  if (!claimed || !('held' in claimed)) throw new Error(`not held: ${JSON.stringify(claimed)}`)
  return claimed.held
}

/** A tick that ends at once, and the keys it ran under. */
function keptTick() {
  const keys: string[] = []
  return { keys, tick: async ({ key }: TickRun) => void keys.push(key) }
}

const hasEnded = ({ completedAt }: { completedAt?: string }) => completedAt !== undefined
const staleMarker = () => JSON.stringify({ startedAt: iso(Date.now() - LOCK_TTL_MS - 1000) })

/** A registration on a bucket of ours, and the keys it ran under. */
async function registered(change: Partial<Bucket>, spec: Partial<RegistrationSpec> = {}) {
  const { options } = await runs()
  const open = async () => new NatsRuns({ ...options, bucket: { ...options.bucket, ...change } })
  const { tick, keys } = keptTick()
  const timers = new SlotTimers(systemClock)
  const checked = checkedSpec({ ...SPEC, cadence: HOURLY, ...spec }, tick, 0)
  const needs = { spec: checked, timers, lockTtlMs: 400, open, forget: () => {} }
  return { keys, live: new NatsRegistration(needs) }
}

describe('a catch-up', () => {
  test('that fails starts again before what is queued behind it', async () => {
    await (await stage.kv()).create('last.report', iso(stage.hour(-3)))
    const { create } = await opened(['none', 'request lost'])
    const { keys, live } = await registered({ create }, { overlap: 'queue', catchUp: 'all' })
    await live.trigger('after')
    await live.stop()
    const slots = [-2, -1, 0].map((n) => slotKey('report', stage.hour(n)))
    expect(keys).toEqual([...slots, 'run.report.manual.after'])
  })
})

describe('the history of a name', () => {
  test('is read beside the ticks, however long it takes', async () => {
    const { keys, live } = await registered({ history: () => new Promise(() => {}) })
    await live.trigger('a')
    await live.stop()
    expect(keys).toEqual(['run.report.manual.a'])
  })

  test('that cannot be read is read later', async () => {
    await (await stage.kv()).create('run.report.manual.left', staleMarker())
    const real = await opened()
    let failures = 2
    const { keys, live } = await registered({
      async history(options) {
        if (failures-- > 0) throw LOST
        return real.history(options)
      },
    })
    await stage.marker('run.report.manual.left', hasEnded)
    await live.stop()
    expect(keys).toEqual(['run.report.manual.left'])
  })
})

describe('a claim', () => {
  test('whose reply was lost was made', async () => {
    const run = held(await (await runs(['reply lost'])).claim(KEY, NO_LAST))
    await run.settle(OK)
    expect(await stage.marker(KEY)).toMatchObject({ host: 'here', completedAt: expect.any(String) })
  })

  test('that did not arrive fails, and another one can be made', async () => {
    const both = await runs(['request lost'])
    await expect(both.claim(KEY, NO_LAST)).rejects.toBe(LOST)
    await held(await both.claim(KEY, NO_LAST)).settle(OK)
  })

  test('of a stale run whose reply was lost was made', async () => {
    await (await stage.kv()).create(KEY, staleMarker())
    const run = held(await (await runs(['none', 'reply lost'])).claim(KEY, NO_LAST))
    await run.settle(OK)
    await stage.marker(KEY, hasEnded)
  })

  test('of a stale run that did not arrive fails, and leaves it as it was', async () => {
    const kv = await stage.kv()
    const marker = staleMarker()
    await kv.create(KEY, marker)
    await expect((await runs(['none', 'request lost'])).claim(KEY, NO_LAST)).rejects.toBe(LOST)
    expect((await kv.get(KEY))?.string()).toBe(marker)
  })

  test('of a key that was deleted is made', async () => {
    const kv = await stage.kv()
    await kv.create(KEY, '{"completedAt":"once"}')
    await kv.delete(KEY)
    await held(await (await runs()).claim(KEY, NO_LAST)).settle(OK)
  })

  test('that may only take over makes nothing new', async () => {
    expect(await (await runs()).claim(KEY, { ...NO_LAST, mustExist: true })).toBeUndefined()
    expect(await stage.keys()).toEqual([])
  })

  test('of a run that goes on tells when that would be stale', async () => {
    const all = await runs()
    const run = held(await all.claim(KEY, NO_LAST))
    const other = await all.claim(KEY, NO_LAST)
    expect(other).toEqual({ staleAt: await all.look(KEY) })
    await run.settle(OK)
    expect([await all.claim(KEY, NO_LAST), await all.look(KEY)]).toEqual([undefined, undefined])
  })

  test('of 32 for one stale run is won by one, a hundred times', async () => {
    const kv = await stage.kv()
    const all = await runs()
    for (let round = 0; round < 100; round++) {
      const key = `${KEY}.${round}`
      await kv.create(key, staleMarker())
      const claims = await Promise.all(Array.from({ length: 32 }, () => all.claim(key, NO_LAST)))
      const winners = claims.filter((claimed) => claimed && 'held' in claimed)
      expect(winners).toHaveLength(1)
      await held(winners[0]).settle(OK)
    }
  })
})

describe('a held run', () => {
  test.each([
    ['reply', ['none', 'reply lost']],
    ['request', ['none', 'request lost']],
    ['reply, twice', ['none', 'reply lost', 'reply lost']],
  ] as const)('whose end loses its %s is recorded once', async (_, faults) => {
    const completed: number[] = []
    const all = await runs([...faults])
    const onCompleted = async () => void completed.push(1)
    await held(await all.claim(KEY, { mustExist: false, onCompleted })).settle(OK)
    await stage.marker(KEY, hasEnded)
    expect(completed).toHaveLength(1)
  })

  test.each(['reply lost', 'request lost'] as const)(
    'goes on when a renewal has its %s',
    async (fault) => {
      const all = await runs(['none', fault], 20)
      const run = held(await all.claim(KEY, NO_LAST))
      const renewals = new Set<number>()
      await stage.entry(KEY, ({ revision }) => renewals.add(revision).size === 4)
      await run.settle(OK)
      await stage.marker(KEY, hasEnded)
    },
  )

  test('whose last slot cannot be recorded tries again', async () => {
    let failures = 2
    const onCompleted = async () => {
      if (failures-- > 0) throw LOST
    }
    await held(await (await runs()).claim(KEY, { mustExist: false, onCompleted })).settle(OK)
    expect(failures).toBe(-1)
  })

  test('whose key is gone cannot be recorded', async () => {
    const run = held(await (await runs()).claim(KEY, NO_LAST))
    await (await stage.kv()).purge(KEY)
    await expect(run.settle(OK)).rejects.toThrow('or its key is gone')
  })
})

describe('last.<name>', () => {
  test('ends at the newest slot, whoever writes when', async () => {
    const buckets = await Promise.all(Array.from({ length: 8 }, () => opened()))
    const slots = Array.from({ length: 64 }, (_, i) => ((i * 37) % 64) * 1000)
    await Promise.all(slots.map((slot, i) => advanceLast(buckets[i % 8] as Bucket, 'report', slot)))
    expect(await readLast(buckets[0] as Bucket, 'report')).toBe(63_000)
  })

  test('does not go back, nor write what is there', async () => {
    const bucket = await opened()
    for (const slot of [2000, 1000, 2000]) await advanceLast(bucket, 'report', slot)
    const entry = await stage.entry('last.report')
    expect([entry.string(), entry.revision]).toEqual([iso(2000), 1])
  })

  test('is created anew after a deletion', async () => {
    const bucket = await opened()
    await advanceLast(bucket, 'report', 2000)
    await (await stage.kv()).delete('last.report')
    expect(await readLast(bucket, 'report')).toBeUndefined()
    await advanceLast(bucket, 'report', 1000)
    expect(await readLast(bucket, 'report')).toBe(1000)
  })
})

test.each([
  [undefined, false],
  [new Error('any'), false],
  [Object.assign(new Error('wrong last sequence'), { code: 10071 }), true],
  ['text', false],
])('%s is a conflict: %s', (error, expected) => {
  expect(isConflict(error)).toBe(expected)
})
