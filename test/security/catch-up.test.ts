// Long absences and impossible pasts: what is done about them is bounded, whatever the row says.

import { describe, expect, test } from 'vitest'
import { MemoryScheduleStore, type ScheduledRun } from '../../src/index.ts'
import { CronPlan } from '../../src/scheduler/cron-plan.ts'
import type { SkippedEvent } from '../../src/scheduler/events.ts'
import { FaultyStore } from '../scheduler/faulty-store.ts'
import { World } from '../scheduler/harness.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const TEN_YEARS = 3652 * 86_400_000

/** A replica that boots at NOW and finds `row`, and what it did within ten seconds. */
async function boot(row: { kind: 'cron' | 'every'; spec: string; nextRunAt: number }) {
  const world = new World(NOW)
  const store = new MemoryScheduleStore([{ ...row, id: 'late', fencingToken: 7, updatedAt: 0 }])
  const { proxy, calls } = new FaultyStore(store)
  const replica = world.replica({ store: proxy })
  const runs: string[] = []
  const skips: SkippedEvent[] = []
  replica.on('skipped', (event) => skips.push(event))
  const options = { id: 'late', missed: 'catch-up', maxCatchUp: 100 } as const
  const handler = ({ scheduledAt, missed }: ScheduledRun) => {
    if (missed) runs.push(scheduledAt.toISOString())
  }
  if (row.kind === 'every') replica.every(Number(row.spec), options, handler)
  else {
    const dialect = row.spec.includes('DIALECT=extended ') ? 'extended' : undefined
    const text = row.spec.replace(/^(TZ=UTC )?(DIALECT=extended )?/, '')
    replica.schedule(text, { ...options, dialect, timeZone: 'UTC' }, handler)
  }
  await replica.start()
  await world.clock.advance(10_000)
  const requests = [...calls.values()].reduce((sum, count) => sum + count, 0)
  const stored = await store.get('late')
  await world.within(20_000, replica.stop())
  return { runs, skips, requests, stored, lines: world.lines }
}

describe('a task of every second that was away for ten years', () => {
  test.each([
    { kind: 'every', spec: '1000' },
    { kind: 'cron', spec: 'TZ=UTC DIALECT=extended * * * * * *' },
  ] as const)('runs its oldest hundred slots, and goes on at once: $kind', async (plan) => {
    const from = NOW - TEN_YEARS
    const { runs, skips, requests, stored } = await boot({ ...plan, nextRunAt: from })
    expect(runs).toHaveLength(100)
    expect(runs[0]).toBe(new Date(from).toISOString())
    expect(runs.at(-1)).toBe(new Date(from + 99_000).toISOString())
    expect(stored!.nextRunAt).toBeGreaterThan(NOW + 9000)
    // A claim and a commit for the ten years, as for each slot after them.
    expect(requests).toBeLessThan(60)
    expect(skips[0]).toMatchObject({ from: new Date(from + 100_000), reason: 'missed' })
  })

  test('is told how many slots it missed, when they can be computed', async () => {
    const { skips, lines } = await boot({ kind: 'every', spec: '1000', nextRunAt: NOW - TEN_YEARS })
    // All slots that were missed but the hundred: those within the grace of a second run.
    const missed = TEN_YEARS / 1000 - 1 - 100
    expect(skips[0]!.count).toBeGreaterThanOrEqual(missed)
    expect(skips[0]!.count).toBeLessThanOrEqual(missed + 1)
    expect(skips[0]).not.toHaveProperty('isLeast')
    expect(lines.join('\n')).toContain(`skipped ${skips[0]!.count} slots`)
  })

  test('is told a million, and that there are more, when they had to be counted', async () => {
    const spec = 'TZ=UTC DIALECT=extended * * * * * *'
    const { skips, lines } = await boot({ kind: 'cron', spec, nextRunAt: NOW - TEN_YEARS })
    expect(skips[0]).toMatchObject({ isLeast: true })
    expect(skips[0]!.count).toBeGreaterThanOrEqual(1_000_000)
    expect(skips[0]!.count).toBeLessThan(1_700_000)
    expect(lines.join('\n')).toContain(`skipped at least ${skips[0]!.count} slots`)
  })
})

test('a row from the first instant of time is counted for a century only', async () => {
  const spec = 'TZ=UTC 0 0 1 1 *'
  const { runs, skips, lines } = await boot({ kind: 'cron', spec, nextRunAt: -8.64e15 })
  expect(runs).toHaveLength(100)
  expect(skips[0]).toMatchObject({ count: 101, isLeast: true })
  expect(lines.join('\n')).toContain('skipped at least 101 slots of task "late"')
})

describe('the count of a cron plan', () => {
  const at = (text: string) => Date.parse(text)
  const century = at('2100-01-01') - at('2000-01-01')
  test.each([
    ['within a century', '0 0 1 1 *', at('2000-01-01'), at('2000-01-01') + century, 100, undefined],
    ['over more', '0 0 1 1 *', at('1900-01-01'), at('2026-01-01'), 101, true],
    ['of a million', '* * * * *', at('2000-01-01'), at('2001-11-25T10:40'), 1_000_000, undefined],
    ['of nothing', '0 0 1 1 *', at('2000-01-02'), at('2000-12-31'), 0, undefined],
  ])('%s is right, or says that it stopped', (_, text, from, until, count, isLeast) => {
    const counted = new CronPlan(text, { timeZone: 'UTC' }).count(from, until)
    expect(counted).toEqual({ count, ...(isLeast && { isLeast }) })
  })
})
