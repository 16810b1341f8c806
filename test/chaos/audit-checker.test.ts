// The checker of the audit: it accepts a history as it should be, and none of these.

import { describe, expect, it } from 'vitest'
import { type AuditedRow, checkAudit, type Write } from './audit-checker.ts'
import type { Fact } from './facts.ts'
import type { ChaosTask } from './tasks.ts'

const TASK: ChaosTask = { id: 't', kind: 'every', stepMs: 1000, policy: 'catch-up', workMs: 0 }

const free = (token: number, nextRunAt: number, updatedAt: number): AuditedRow => {
  return { token, owner: null, leaseUntil: null, nextRunAt, updatedAt }
}
const held = (token: number, by: number, [nextRunAt, updatedAt, leaseUntil]: number[]) =>
  ({ token, owner: `${by}/x.0`, leaseUntil, nextRunAt, updatedAt }) as AuditedRow

/** Process 7 runs slot 1000, dies in slot 2000; process 8 takes it over and commits late. */
const ROWS: readonly AuditedRow[] = [
  free(0, 1000, 0),
  held(1, 7, [1000, 1010, 1610]),
  held(1, 7, [1000, 1010, 1800]),
  free(1, 2000, 1020),
  held(2, 7, [2000, 2005, 2605]),
  held(3, 8, [2000, 2605, 3205]),
  free(3, 3000, 9000),
]
const told = (by: number, what: Told, slot: number, token: number): Fact => {
  const about = { by: String(by), at: 0, id: 't', slot, token }
  if (what !== 'run' && what !== 'ran') return { ...about, what: 'event', event: what }
  return { ...about, what, missed: false }
}
const FACTS: readonly Fact[] = [
  told(7, 'run', 1000, 1),
  told(7, 'ran', 1000, 1),
  told(7, 'commit', 1000, 1),
  told(7, 'run', 2000, 2),
  told(8, 'run', 2000, 3),
  told(8, 'ran', 2000, 3),
  told(7, 'commit-rejected', 2000, 2),
  told(8, 'commit', 2000, 3),
]
type Told = 'run' | 'ran' | 'commit' | 'commit-rejected'

const writesOf = (rows: readonly AuditedRow[]): Write[] =>
  rows.slice(1).map((after, index) => ({ id: 't', before: rows[index] as AuditedRow, after }))

const verdict = (rows: readonly AuditedRow[], facts: readonly Fact[], task = TASK) =>
  checkAudit({ leaseMs: 600, tickMs: 200, tasks: [task] }, writesOf(rows), facts)

/** The rows with some of them replaced or, by `null`, left out. */
const rowsBut = (changes: Record<number, AuditedRow | null>): AuditedRow[] =>
  ROWS.flatMap((row, index) => {
    const change = changes[index]
    return change === null ? [] : [change ?? row]
  })
const without = (index: number): Fact[] => FACTS.filter((_, other) => other !== index)
const and = (...fact: Parameters<typeof told>): Fact[] => [...FACTS, told(...fact)]

describe('the checker of the audit', () => {
  it('accepts a history as it should be', () => {
    expect(verdict(ROWS, FACTS)).toEqual({
      violations: [],
      counts: { claims: 3, takeOvers: 1, commits: 2, slots: 2 },
    })
  })

  it('accepts that a missed slot runs once and the rest is dropped', () => {
    const rows = [free(0, 1000, 0), held(1, 7, [1000, 5500, 6100]), free(1, 6000, 5510)]
    const once = { ...TASK, policy: 'run-once' } as const
    expect(verdict(rows, FACTS.slice(0, 3), once).violations).toEqual([])
  })

  const onTime = [free(0, 1000, 0), held(1, 7, [1000, 1010, 1610]), free(1, 6000, 1020)]
  const broken: Record<string, [rows: readonly AuditedRow[], facts: readonly Fact[], RegExp]> = {
    'a claim under a live lease': [
      rowsBut({ 5: held(3, 8, [2000, 2604, 3204]) }),
      FACTS,
      /a claim at 2604 while a lease lived until 2605/,
    ],
    'a token that repeats': [
      rowsBut({ 5: held(2, 8, [2000, 2605, 3205]), 6: free(2, 3000, 9000) }),
      FACTS,
      /a renewal that changed more than the deadline/,
    ],
    'a token that jumps': [
      rowsBut({ 5: held(4, 8, [2000, 2605, 3205]), 6: free(4, 3000, 9000) }),
      FACTS,
      /token 4 after 2/,
    ],
    'a token that goes back': [
      rowsBut({ 5: held(1, 8, [2000, 2605, 3205]), 6: free(1, 3000, 9000) }),
      FACTS,
      /token 1 after 2/,
    ],
    'a claim before its slot': [
      rowsBut({ 1: held(1, 7, [1000, 999, 1599]), 2: held(1, 7, [1000, 999, 1800]) }),
      FACTS,
      /a claim at 999 of slot 1000/,
    ],
    'a claim that moves the slot': [
      rowsBut({ 5: held(3, 8, [3000, 2605, 3205]), 6: free(3, 4000, 9000) }),
      FACTS,
      /a claim that moved the slot/,
    ],
    'a renewal that takes the claim': [
      rowsBut({ 2: held(1, 8, [1000, 1010, 1800]) }),
      FACTS,
      /a renewal that changed more than the deadline/,
    ],
    'a lease out of nothing': [
      [...ROWS, held(3, 8, [3000, 9000, 9600])],
      FACTS,
      /a lease without a claim/,
    ],
    'a second commit': [[...ROWS, free(3, 4000, 9001)], FACTS, /which held nothing/],
    'a stale commit': [
      ROWS,
      and(7, 'commit', 1000, 2),
      /a commit under token 2 that the store never took/,
    ],
    'a commit of another': [ROWS, and(8, 'commit', 1000, 1), /commit by 8 under token 1/],
    'a run without a claim': [ROWS, and(7, 'run', 1000, 9), /run by 7 under token 9 of another/],
    'a run of an earlier slot': [ROWS, and(7, 'run', 0, 1), /slot 0 ran under token 1/],
    'a slot that never ran': [ROWS, without(5), /slot 2000 never ran/],
    'a slot that only began': [ROWS, without(1), /slot 1000 never ran/],
    'a slot that was passed over': [onTime, FACTS, /slot 2000 never ran|slot 3000 never ran/],
    'a cursor that goes back': [
      [...ROWS.slice(0, -1), free(3, 1000, 9000)],
      FACTS,
      /slot 1000 after/,
    ],
    'a cursor between the slots': [
      [...ROWS.slice(0, -1), free(3, 3001, 9000)],
      FACTS,
      /slot 3001 after/,
    ],
  }
  for (const [what, [rows, facts, text]] of Object.entries(broken)) {
    it(`refuses ${what}`, () => {
      expect(verdict(rows, facts).violations.join('\n')).toMatch(text)
    })
  }

  it('refuses a write that is not shown', () => {
    const writes = writesOf(ROWS).filter((_, index) => index !== 2)
    const plan = { leaseMs: 600, tickMs: 200, tasks: [TASK] }
    expect(checkAudit(plan, writes, FACTS).violations.join('\n')).toMatch(
      /a write that the audit does not show/,
    )
  })

  it('refuses slots dropped by a run-once task that was on time', () => {
    const once = { ...TASK, policy: 'run-once' } as const
    expect(verdict(onTime, FACTS.slice(0, 3), once).violations.join()).toMatch(
      /slots from 2000 to 6000 were dropped, though 1000 was on time/,
    )
  })

  it('refuses a delay that goes on', () => {
    const delay = { ...TASK, kind: 'delay' } as const
    expect(verdict(ROWS, FACTS, delay).violations.join()).toMatch(/a delay that goes on at 2000/)
  })
})
