// What the shared chain does beyond what the backends' own tests show: replays, claims that fail,
// and what long queues cost.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import type { RegistrationSpec, Tick } from '../../src/backend/contract.ts'
import { checkedSpec } from '../../src/backend/registration-spec.ts'
import { TickChain, type TickChainOptions } from '../../src/backend/tick-chain.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { SPEC, steeredTick } from './ticks.ts'

const BOOM = new Error('boom')
const COUNT = 10_000

function chainOf(
  tick: Tick,
  change: Partial<RegistrationSpec> = {},
  options: Partial<TickChainOptions> = {},
) {
  const spec = checkedSpec({ ...SPEC, ...change }, tick, 0)
  return new TickChain({ spec, clock: new VirtualClock(), ...options })
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Bytes in use once all garbage is gone. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

describe('ten thousand runs in one chain', () => {
  test('that are queued keep their order', async () => {
    const slots: number[] = []
    const { tick, end } = steeredTick()
    const chain = chainOf(
      (run) => {
        slots.push(run.scheduledAt.getTime())
        return slots.length === 1 ? tick(run) : Promise.resolve()
      },
      { overlap: 'queue' },
    )
    for (let slot = 1; slot <= COUNT; slot++) chain.offer(slot)
    const stopped = chain.stop()
    await settle()
    expect(slots).toEqual([1])
    end()
    await stopped
    expect(slots).toEqual(Array.from({ length: COUNT }, (_, i) => i + 1))
  })

  test('that are replayed are asked for one by one', async () => {
    let asked = 0
    let ahead = 0
    let ran = 0
    const chain = chainOf(async () => {
      ran++
      ahead = Math.max(ahead, asked - ran)
    })
    chain.replay(
      (function* () {
        while (asked < COUNT) yield ++asked
      })(),
    )
    while (ran < COUNT) await settle()
    expect(ahead).toBe(0)
  })

  test.each(['queued', 'replayed'] as const)('that are %s leave nothing behind', async (how) => {
    let ran = 0
    const chain = chainOf(
      async () => {
        ran++
      },
      { overlap: 'queue' },
    )
    const runAll = async (from: number) => {
      const until = ran + COUNT
      if (how === 'queued') for (let i = 0; i < COUNT; i++) chain.offer(from + i)
      else chain.replay(Array.from({ length: COUNT }, (_, i) => from + i))
      while (ran < until) await settle()
    }
    await runAll(0)
    const before = heapBytes()
    for (let round = 1; round <= 5; round++) await runAll(round * COUNT)
    // Five bytes a run would be kept by a single number for each.
    expect(heapBytes() - before).toBeLessThan(5 * COUNT * 5)
  })
})

describe('a replay', () => {
  test('comes before what is queued', async () => {
    const slots: number[] = []
    const { tick, end } = steeredTick()
    const chain = chainOf(
      (run) => {
        slots.push(run.scheduledAt.getTime())
        return slots.length === 1 ? tick(run) : Promise.resolve()
      },
      { overlap: 'queue' },
    )
    chain.offer(100)
    chain.offer(101)
    chain.replay([1, 2, 3])
    end()
    while (slots.length < 5) await settle()
    expect(slots).toEqual([100, 1, 2, 3, 101])
  })

  test('is dropped by a stop, and what was queued runs', async () => {
    const slots: number[] = []
    const chain = chainOf(async (run) => {
      slots.push(run.scheduledAt.getTime())
    })
    chain.replay([1, 2, 3])
    chain.add({ scheduledAt: 100 })
    await chain.stop()
    expect(slots).toEqual([1, 100])
  })
})

describe('a claim that fails', () => {
  const failing = (overlap: 'skip' | 'queue') => {
    const onError = vi.fn()
    const claims: { fail(): void; refuse(): void }[] = []
    const claim = () =>
      new Promise<undefined>((resolve, reject) => {
        claims.push({ fail: () => reject(BOOM), refuse: () => resolve(undefined) })
      })
    const chain = chainOf(async () => {}, { overlap, onError }, { claim })
    const keys = () => onError.mock.calls.map(([, run]) => run.scheduledAt.getTime())
    return { chain, claims, keys }
  }

  test('skip: takes with it what fell due in the meantime', async () => {
    const { chain, claims, keys } = failing('skip')
    for (const slot of [1, 2, 3]) chain.offer(slot)
    claims[0]?.fail()
    await chain.stop()
    expect(keys()).toEqual([1, 2, 3])
    expect(claims).toHaveLength(1)
  })

  test('queue: the next one is claimed all the same', async () => {
    const { chain, claims, keys } = failing('queue')
    for (const slot of [1, 2]) chain.offer(slot)
    claims[0]?.fail()
    await settle()
    claims[1]?.refuse()
    await chain.stop()
    expect(keys()).toEqual([1])
  })

  test.each(['skip', 'queue'] as const)(
    '%s: a stop does not wait for more of them',
    async (overlap) => {
      const { chain, claims, keys } = failing(overlap)
      for (const slot of [1, 2, 3]) chain.offer(slot)
      const stopped = chain.stop()
      claims[0]?.fail()
      await stopped
      expect(keys()).toEqual([1, 2, 3])
    },
  )

  test('skip: a trigger during a claim that is refused runs afterwards', async () => {
    const seen: string[] = []
    const claims: ((held: { settle(): Promise<void> } | undefined) => void)[] = []
    const chain = chainOf(
      async ({ key }) => void seen.push(key),
      {},
      { claim: () => new Promise((resolve) => claims.push(resolve)) },
    )
    chain.offer(1)
    const triggered = chain.trigger('a')
    claims[0]?.(undefined)
    await settle()
    claims[1]?.({ settle: async () => {} })
    await triggered
    expect(seen).toEqual(['run.report.manual.a'])
  })
})

describe('the end of a run that cannot be recorded', () => {
  const held = { settle: () => Promise.reject(new Error('not recorded')) }

  test.each([
    ['of a tick that worked is a failure', async () => {}, 'not recorded'],
    ['of a tick that failed is told by its own error', () => Promise.reject(BOOM), 'boom'],
  ])('%s', async (_, tick, message) => {
    const onError = vi.fn()
    const chain = chainOf(tick, { onError }, { claim: async () => held })
    await expect(chain.trigger(undefined)).rejects.toThrow(message)
    expect(onError).toHaveBeenCalledOnce()
  })
})
