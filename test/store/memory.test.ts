// The reference store against the contract.

import { describe, expect, it } from 'vitest'
import { MemoryScheduleStore } from '../../src/store/memory/memory-schedule-store.ts'
import { declareCases, leaseProviderCases, scheduleStoreCases } from '../../src/testing/index.ts'
import { memoryLeases, memorySuite } from './subjects.ts'

declareCases(scheduleStoreCases(memorySuite), { describe, it })
declareCases(leaseProviderCases(memoryLeases), { describe, it })

describe('memory', () => {
  it('starts with the rows of another store', async () => {
    const first = new MemoryScheduleStore()
    await first.register({ id: 'a', kind: 'every', spec: '1', nextRunAt: 0 }, 0)
    await first.claimDue('a', 'owner', 0, 10)
    const second = new MemoryScheduleStore(await first.list())
    expect(await second.list()).toEqual(await first.list())
    expect((await second.claimDue('a', 'owner', 10, 10))?.fencingToken).toBe(2)
    expect((await first.get('a'))?.fencingToken).toBe(1)
  })

  const row = { id: 'a', kind: 'every', spec: '1', nextRunAt: 0 } as const
  const store = new MemoryScheduleStore([{ ...row, fencingToken: 0, updatedAt: 0 }])
  const misuse: Record<string, [() => Promise<unknown>, string]> = {
    'a kind of its own': [
      () => store.register({ ...row, kind: 'daily' as 'cron' }, 0),
      "kind: must be 'cron', 'every' or 'delay', got daily",
    ],
    'an empty spec': [() => store.register({ ...row, spec: '' }, 0), 'spec: must not be empty'],
    'a slot with a fraction': [
      () => store.register({ ...row, nextRunAt: 0.5 }, 0),
      'nextRunAt: must be whole ms since the epoch, within ±(2^53 - 1), got 0.5',
    ],
    'now that is no number': [
      () => store.claimDue('a', 'o', Number.NaN, 1),
      'now: must be whole ms since the epoch, within ±(2^53 - 1), got NaN',
    ],
    'a lease of no time': [
      () => store.claimDue('a', 'o', 0, 0),
      'leaseMs: must be a positive whole number of ms, got 0',
    ],
    'an empty owner': [() => store.claimDue('a', '', 0, 1), 'owner: must not be empty'],
    'a deadline beyond 2^53': [
      () => store.claimDue('a', 'o', 1, Number.MAX_SAFE_INTEGER),
      'now + leaseMs: must be whole ms since the epoch, within ±(2^53 - 1), got 9007199254740992',
    ],
    'a negative token': [
      () => store.renew('a', -1, 0),
      'fencingToken: must be an integer from 0 to 2^53 - 1, got -1',
    ],
    'a token with a fraction': [
      () => store.delete('a', 0.5),
      'fencingToken: must be an integer from 0 to 2^53 - 1, got 0.5',
    ],
  }
  for (const [what, [call, message]] of Object.entries(misuse)) {
    it(`refuses ${what}`, async () => {
      await expect(call()).rejects.toThrow(new (rangeOrType(message))(message))
    })
  }
})

const rangeOrType = (message: string) =>
  /^(kind|spec|owner)/.test(message) ? TypeError : RangeError
