// SPEC §2.4 as a table: what is decided about a claimed slot, for every policy and situation.

import { describe, expect, test } from 'vitest'
import { CronPlan } from '../../src/scheduler/cron-plan.ts'
import { decide, type MissedPolicy } from '../../src/scheduler/decide.ts'
import { DelayPlan, IntervalPlan, type Plan } from '../../src/scheduler/plan.ts'

const GRACE_MS = 1000
const MINUTE = 60_000

interface Row {
  readonly plan: Plan
  readonly policy: MissedPolicy
  /** Ms after the slot. */
  readonly claimedAfterMs: number
  /** Ms after the claim; what the run takes. */
  readonly runMs?: number
  readonly takenOver?: boolean
  readonly maxCatchUp?: number
}

/** Slots that run and the next one, in ms after the claimed slot. */
function outcome(row: Row, slot: number) {
  const { plan, policy, claimedAfterMs, runMs = 0, takenOver = false, maxCatchUp = 10 } = row
  const claimedAt = slot + claimedAfterMs
  const graceMs = GRACE_MS
  const decision = decide({ plan, slot, claimedAt, takenOver, policy, maxCatchUp, graceMs })
  const runs = [...decision.slots].map((run) => run - slot)
  const next = decision.next(claimedAt + runMs)
  return { runs, missed: decision.missed, next: next === null ? null : next - slot }
}

const minute = new IntervalPlan(MINUTE)
const minutes = (...numbers: number[]) => numbers.map((number) => number * MINUTE)
const ten = minutes(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)

describe('a minute interval', () => {
  // situation | policy | claimed after, run takes, taken over | runs, missed, next
  const rows: [string, MissedPolicy, Omit<Row, 'plan' | 'policy'>, number[], boolean, number][] = [
    ['on time', 'skip', { claimedAfterMs: 0 }, [0], false, MINUTE],
    ['on time', 'run-once', { claimedAfterMs: 0 }, [0], false, MINUTE],
    ['on time', 'catch-up', { claimedAfterMs: 0 }, [0], false, MINUTE],

    ['late within the grace', 'skip', { claimedAfterMs: 1000 }, [0], false, MINUTE],
    ['late within the grace', 'run-once', { claimedAfterMs: 1000 }, [0], false, MINUTE],
    ['late within the grace', 'catch-up', { claimedAfterMs: 1000 }, [0], false, MINUTE],

    ['missed by one ms', 'skip', { claimedAfterMs: 1001 }, [], true, MINUTE],
    ['missed by one ms', 'run-once', { claimedAfterMs: 1001 }, [0], true, MINUTE],
    ['missed by one ms', 'catch-up', { claimedAfterMs: 1001 }, [0], true, MINUTE],

    ['1 slot missed', 'skip', { claimedAfterMs: 30_000 }, [], true, MINUTE],
    ['1 slot missed', 'run-once', { claimedAfterMs: 30_000 }, [0], true, MINUTE],
    ['1 slot missed', 'catch-up', { claimedAfterMs: 30_000 }, [0], true, MINUTE],

    ['5 slots missed', 'skip', { claimedAfterMs: 4.5 * MINUTE }, [], true, 5 * MINUTE],
    ['5 slots missed', 'run-once', { claimedAfterMs: 4.5 * MINUTE }, [0], true, 5 * MINUTE],
    [
      '5 slots missed',
      'catch-up',
      { claimedAfterMs: 4.5 * MINUTE },
      minutes(0, 1, 2, 3, 4),
      true,
      5 * MINUTE,
    ],

    ['100 slots missed', 'skip', { claimedAfterMs: 99.5 * MINUTE }, [], true, 100 * MINUTE],
    ['100 slots missed', 'run-once', { claimedAfterMs: 99.5 * MINUTE }, [0], true, 100 * MINUTE],
    ['100 slots missed', 'catch-up', { claimedAfterMs: 99.5 * MINUTE }, ten, true, 100 * MINUTE],

    [
      'a slot within the grace behind',
      'skip',
      { claimedAfterMs: MINUTE + 500 },
      [],
      true,
      2 * MINUTE,
    ],
    [
      'a slot within the grace behind',
      'run-once',
      { claimedAfterMs: MINUTE + 500 },
      [0],
      true,
      2 * MINUTE,
    ],
    [
      'a slot within the grace behind',
      'catch-up',
      { claimedAfterMs: MINUTE + 500 },
      [0],
      true,
      MINUTE,
    ],
    [
      'a slot at the edge of the grace',
      'catch-up',
      { claimedAfterMs: MINUTE + 1000 },
      [0],
      true,
      MINUTE,
    ],
    [
      'a slot just beyond the grace',
      'catch-up',
      { claimedAfterMs: MINUTE + 1001 },
      minutes(0, 1),
      true,
      2 * MINUTE,
    ],

    ['taken over in time', 'skip', { claimedAfterMs: 500, takenOver: true }, [0], false, MINUTE],
    [
      'taken over late',
      'skip',
      { claimedAfterMs: 4.5 * MINUTE, takenOver: true },
      [0],
      false,
      5 * MINUTE,
    ],
    [
      'taken over late',
      'run-once',
      { claimedAfterMs: 4.5 * MINUTE, takenOver: true },
      [0],
      false,
      MINUTE,
    ],
    [
      'taken over late',
      'catch-up',
      { claimedAfterMs: 4.5 * MINUTE, takenOver: true },
      [0],
      false,
      MINUTE,
    ],

    ['a slow handler', 'skip', { claimedAfterMs: 0, runMs: 2.5 * MINUTE }, [0], false, 3 * MINUTE],
    ['a slow handler', 'run-once', { claimedAfterMs: 0, runMs: 2.5 * MINUTE }, [0], false, MINUTE],
    ['a slow handler', 'catch-up', { claimedAfterMs: 0, runMs: 2.5 * MINUTE }, [0], false, MINUTE],
    [
      'slow after a miss',
      'run-once',
      { claimedAfterMs: 4.5 * MINUTE, runMs: 3 * MINUTE },
      [0],
      true,
      5 * MINUTE,
    ],
    [
      'slow after a miss',
      'catch-up',
      { claimedAfterMs: 90_000, runMs: 3 * MINUTE },
      minutes(0, 1),
      true,
      2 * MINUTE,
    ],

    [
      'the clock set back in a run',
      'skip',
      { claimedAfterMs: 0, runMs: -60 * MINUTE },
      [0],
      false,
      MINUTE,
    ],
    [
      'capped',
      'catch-up',
      { claimedAfterMs: 4.5 * MINUTE, maxCatchUp: 2 },
      minutes(0, 1),
      true,
      5 * MINUTE,
    ],
  ]
  test.each(rows)('%s, %s', (_, policy, situation, runs, missed, next) => {
    const slot = Date.parse('2026-03-02T10:00:00Z')
    expect(outcome({ plan: minute, policy, ...situation }, slot)).toEqual({ runs, missed, next })
  })
})

describe('a delay is one slot', () => {
  const rows: [string, MissedPolicy, number, boolean, number[], boolean][] = [
    ['on time', 'skip', 0, false, [0], false],
    ['missed', 'skip', 5000, false, [], true],
    ['missed', 'run-once', 5000, false, [0], true],
    ['missed', 'catch-up', 5000, false, [0], true],
    ['taken over', 'skip', 5000, true, [0], false],
  ]
  test.each(rows)('%s, %s', (_, policy, claimedAfterMs, takenOver, runs, missed) => {
    const plan = new DelayPlan(1000)
    const found = outcome({ plan, policy, claimedAfterMs, takenOver }, 0)
    expect(found).toEqual({ runs, missed, next: null })
  })
})

describe('cron on the days of a transition', () => {
  // Europe/Madrid, 2026-03-29: 01:59 +01:00 | gap 02:00-03:00 | 03:00 +02:00 is 01:00Z
  // Europe/Madrid, 2026-10-25: 02:59 +02:00 | fold 02:00-03:00 again | 02:00 +01:00 is 01:00Z
  const daily = '30 2 * * *'
  const rows: [string, string, MissedPolicy, string, string, string[], string][] = [
    // text | policy | slot | claimed at | runs | next
    [
      'gap',
      daily,
      'run-once',
      '2026-03-28T01:30:00Z',
      '2026-03-28T01:30:00Z',
      ['2026-03-28T01:30:00Z'],
      '2026-03-29T01:30:00Z',
    ],
    [
      'gap',
      daily,
      'catch-up',
      '2026-03-28T01:30:00Z',
      '2026-03-30T12:00:00Z',
      ['2026-03-28T01:30:00Z', '2026-03-29T01:30:00Z', '2026-03-30T00:30:00Z'],
      '2026-03-31T00:30:00Z',
    ],
    [
      'gap',
      '*/30 * * * *',
      'catch-up',
      '2026-03-29T00:30:00Z',
      '2026-03-29T01:10:00Z',
      ['2026-03-29T00:30:00Z', '2026-03-29T01:00:00Z'],
      '2026-03-29T01:30:00Z',
    ],
    [
      'fold',
      daily,
      'run-once',
      '2026-10-25T00:30:00Z',
      '2026-10-25T00:30:00Z',
      ['2026-10-25T00:30:00Z'],
      '2026-10-26T01:30:00Z',
    ],
    [
      'fold',
      daily,
      'catch-up',
      '2026-10-24T00:30:00Z',
      '2026-10-25T12:00:00Z',
      ['2026-10-24T00:30:00Z', '2026-10-25T00:30:00Z'],
      '2026-10-26T01:30:00Z',
    ],
    [
      'fold',
      '*/30 * * * *',
      'skip',
      '2026-10-25T00:30:00Z',
      '2026-10-25T00:30:00Z',
      ['2026-10-25T00:30:00Z'],
      '2026-10-25T01:00:00Z',
    ],
  ]
  test.each(rows)(
    '%s: %s, %s, due %s, claimed %s',
    (_, text, policy, slot, claimed, runs, next) => {
      const plan = new CronPlan(text, { timeZone: 'Europe/Madrid' })
      const decision = decide({
        plan,
        slot: Date.parse(slot),
        claimedAt: Date.parse(claimed),
        takenOver: false,
        policy,
        maxCatchUp: 10,
        graceMs: GRACE_MS,
      })
      expect([...decision.slots]).toEqual(runs.map((run) => Date.parse(run)))
      expect(decision.next(Date.parse(claimed))).toBe(Date.parse(next))
    },
  )
})

test('ten years of missed seconds are not listed to decide about them', () => {
  let asked = 0
  class CountingPlan extends IntervalPlan {
    override after(instant: number, slot: number) {
      asked++
      return super.after(instant, slot)
    }
  }
  const plan = new CountingPlan(1000)
  const claimedAt = 10 * 365 * 86_400_000
  const decision = decide({
    plan,
    slot: 0,
    claimedAt,
    takenOver: false,
    policy: 'catch-up',
    maxCatchUp: 1e9,
    graceMs: 1000,
  })
  const [first, second] = decision.slots
  expect([first, second, decision.next(claimedAt)]).toEqual([0, 1000, claimedAt - 1000])
  expect(asked).toBeLessThan(5)
})
