// No answer, no time: before a question is timed, everyone must give our answers to it. Compared
// are the cases in which the policies cannot differ: those whose run is not on a transition's day.

import type { Found } from './contestants.ts'

/** One question to all: what is the first run after `from`? */
export interface AskedCase {
  readonly expression: string
  readonly timeZone: string | undefined
  readonly from: number
}

/** One contestant's answers, in the order of the cases. */
export interface Answers {
  readonly name: string
  readonly found: readonly (Found | null)[]
}

const HALF_WINDOW_MS = 26 * 3_600_000

/**
 * Throws with the first case in which a contestant differs from the first one.
 * @returns how many cases could be compared; too few of them is an error as well
 */
export function assertAgreement(cases: readonly AskedCase[], answers: readonly Answers[]): number {
  const [ours, ...peers] = answers
  if (ours === undefined || peers.length === 0) throw new TypeError('Nobody to compare with')
  let compared = 0
  for (const [at, asked] of cases.entries()) {
    const expected = ours.found[at]?.getTime() ?? null
    if (expected !== null && isNearTransition(asked.timeZone, expected)) continue
    compared += 1
    for (const { name, found } of peers) {
      const got = found[at]?.getTime() ?? null
      if (got !== expected) throw new Error(disagreement(asked, name, expected, got))
    }
  }
  if (compared * 2 < cases.length) {
    throw new Error(`Only ${compared} of ${cases.length} cases could be compared`)
  }
  return compared
}

function disagreement(asked: AskedCase, name: string, expected: number | null, got: number | null) {
  const iso = (instant: number | null) =>
    instant === null ? 'no run' : new Date(instant).toISOString()
  return (
    `"${asked.expression}" in ${asked.timeZone ?? 'the process zone'} after ${iso(asked.from)}: ` +
    `cronfence says ${iso(expected)}, ${name} says ${iso(got)}`
  )
}

function isNearTransition(timeZone: string | undefined, instant: number): boolean {
  return (
    offsetName(timeZone, instant - HALF_WINDOW_MS) !==
    offsetName(timeZone, instant + HALF_WINDOW_MS)
  )
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>()

function offsetName(timeZone: string | undefined, instant: number): string | undefined {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    formats.set(timeZone, format)
  }
  return format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value
}
