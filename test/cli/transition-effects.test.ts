// The effects of transitions against the engine itself: runs compared under opposite policies.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ParseOptions, parseCron } from '../../bindings/index.ts'
import { transitionEffects, transitionsOfYear } from '../../src/cli/transition-effects.ts'
import { WallClock } from '../../src/cli/wall-clock.ts'

const DAY_MS = 86_400_000
const YEAR_MS = 365.25 * DAY_MS

const questions = fc.record({
  expression: fc
    .tuple(
      fc.constantFrom('0', '30', '15,45', '*/10'),
      fc.constantFrom('0', '1', '2', '1-3', '0,2,23', '*', '*/2', '0-23'),
      fc.constantFrom('* * *', '*/2 * *', '* * 0', '* * 6,0', '25-31 * *', '1-7 * 0'),
    )
    .map((parts) => parts.join(' ')),
  timeZone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  from: fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2037, 0) }),
})

test('a moved run is there, and goes with its gap unless it is another slot too', () => {
  each((expression, timeZone, from) => {
    const slots = slotsOf(expression, { timeZone, gap: 'shift' }, from, 'moved')
    const runs = new Set(slots.flatMap((slot) => slot.runs))
    expect(missing(expression, timeZone, from, { more: 'shift', fewer: 'skip' })).toEqual(
      [...runs].filter((run) => !isRun(expression, { timeZone, gap: 'skip' }, run)),
    )
    for (const run of runs) expect(isRun(expression, { timeZone, gap: 'shift' }, run)).toBe(true)
  })
})

test('a doubled run is there in both passes, and only its first is left without them', () => {
  each((expression, timeZone, from) => {
    const slots = slotsOf(expression, { timeZone, fold: 'both' }, from, 'doubled')
    const seconds = slots.map((slot) => slot.runs[1]!)
    expect(seconds).toEqual(missing(expression, timeZone, from, { more: 'both', fewer: 'first' }))
    const once = slotsOf(expression, { timeZone, fold: 'second' }, from, 'once')
    expect(once.map((slot) => slot.runs)).toEqual(seconds.map((second) => [second]))
  })
})

test('a skipped slot is one that the other policy moves', () => {
  each((expression, timeZone, from) => {
    const skipped = slotsOf(expression, { timeZone, gap: 'skip' }, from, 'skipped')
    const moved = slotsOf(expression, { timeZone, gap: 'shift' }, from, 'moved')
    expect(skipped.map((slot) => slot.wall)).toEqual(moved.map((slot) => slot.wall))
  })
})

function each(check: (expression: string, timeZone: string, from: number) => void) {
  const law = fc.property(questions, ({ expression, timeZone, from }) => {
    fc.pre(isQuiet(timeZone, from) && isQuiet(timeZone, from + YEAR_MS))
    check(expression, timeZone, from)
  })
  fc.assert(law, { numRuns: 100 })
}

/** No transition is near, whose slots would lie on both sides of the instant. */
function isQuiet(timeZone: string, instant: number): boolean {
  const clock = new WallClock(timeZone)
  return clock.offset(instant - 2 * DAY_MS) === clock.offset(instant + 2 * DAY_MS)
}

function slotsOf(expression: string, options: ParseOptions, from: number, kind: string) {
  const found = transitionsOfYear(new WallClock(options.timeZone!), from)
  return transitionEffects(parseCron(expression, options), options, found)
    .filter((effect) => effect.kind === kind)
    .flatMap((effect) => effect.slots)
}

/** Runs of the year that one policy has and the other has not. */
function missing(
  expression: string,
  timeZone: string,
  from: number,
  { more, fewer }: { more: 'shift' | 'both'; fewer: 'skip' | 'first' },
): number[] {
  const runs = (policy: typeof more | typeof fewer) =>
    parseCron(expression, {
      timeZone,
      ...(policy === 'shift' || policy === 'skip' ? { gap: policy } : { fold: policy }),
    })
      .between(from, from + YEAR_MS)
      .map(Number)
  const without = new Set(runs(fewer))
  return runs(more).filter((run) => !without.has(run))
}

function isRun(expression: string, options: ParseOptions, instant: number): boolean {
  return parseCron(expression, options).count(instant, instant + 1) > 0
}
