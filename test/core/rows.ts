// Reads the rows of gap.test.ts and fold.test.ts: the runs of a window as a line of UTC times.
import { expect } from 'vitest'
import { type CronExpression, parseCron } from '../../bindings/index.ts'
import type { FoldPolicy, GapPolicy } from './reference.ts'

/** Where a drawing looks: a zone, and a half-open window of UTC times. */
export interface Window {
  readonly timeZone: string
  readonly from: string
  readonly until: string
}

/**
 * The runs in the window, in UTC: `HH:MM`, with `:SS` where it is not 0, and after the window's
 * first date with `+days`. Fails unless next and prev walk over the same runs.
 */
export function runsIn(
  { timeZone, from, until }: Window,
  expression: string,
  policies: { gap?: GapPolicy; fold?: FoldPolicy } = {},
): string {
  const cron = parseCron(expression, { timeZone, ...policies })
  const [start, end] = [Date.parse(from), Date.parse(until)]
  const runs = cron.between(start, end).map(Number)
  expect(walkForward(cron, start, end), 'next walks over the same runs').toEqual(runs)
  expect(walkBackward(cron, start, end), 'prev walks over the same runs').toEqual(runs)
  return runs.map((run) => clock(run, start)).join(' ')
}

function walkForward(cron: CronExpression, start: number, end: number): number[] {
  const runs: number[] = []
  let run = cron.next(start - 1)
  for (; run !== null && run.getTime() < end; run = cron.next(run)) runs.push(run.getTime())
  return runs
}

function walkBackward(cron: CronExpression, start: number, end: number): number[] {
  const runs: number[] = []
  let run = cron.prev(end)
  for (; run !== null && run.getTime() >= start; run = cron.prev(run)) runs.unshift(run.getTime())
  return runs
}

function clock(run: number, start: number): string {
  const days = Math.floor(run / 86_400_000) - Math.floor(start / 86_400_000)
  const time = new Date(run).toISOString().slice(11, 19).replace(/:00$/, '')
  return days === 0 ? time : `+${days}T${time}`
}
