// What the laws and the fuzzer are tried on: expressions of every form, in every zone, at instants
// of which half lie around a transition.
import fc from 'fast-check'
import type { Dialect } from '../../bindings/index.ts'
import type { FoldPolicy, GapPolicy } from './reference.ts'
import { readExpression } from './reference-expression.ts'
import { allZones, hotZones, transitionsOf } from './zone-samples.ts'

const DAY_MS = 86_400_000

/** One question to the engine: an expression with its options, and where to ask from. */
export interface Sample {
  readonly expression: string
  /** Undefined is the default, `standard`. */
  readonly dialect?: Dialect
  readonly timeZone: string
  /** Undefined leaves the policy to the engine's default. */
  readonly gap: GapPolicy | undefined
  readonly fold: FoldPolicy | undefined
  readonly horizonYears: number | undefined
  readonly at: number
  /** The length of the window that is enumerated. */
  readonly spanMs: number
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 2, arbitrary: fc.integer({ min: 13, max: 70 }) },
  { weight: 1, arbitrary: fc.constantFrom(255, 256, 65_536, 2 ** 31, 2 ** 32, 2 ** 53) },
)

const stepSuffix = fc.option(step, { freq: 3, nil: undefined }).map((n) => (n ? `/${n}` : ''))

function number(min: number, max: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer({ min, max }), fc.nat({ max: 19 }))
    .map(([value, zeros]) => (zeros === 0 ? `0${value}` : String(value)))
}

function range(min: number, max: number): fc.Arbitrary<string> {
  return fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }), stepSuffix)
    .map(([a, b, suffix]) => `${Math.min(a, b)}-${Math.max(a, b)}${suffix}`)
}

const starred = fc.tuple(fc.constant('*'), stepSuffix).map((parts) => parts.join(''))

/** A field of any form: stars, numbers, ranges, steps and lists of them. */
function field(min: number, max: number, starWeight: number): fc.Arbitrary<string> {
  const item = fc.oneof(
    { weight: 1, arbitrary: starred },
    { weight: 5, arbitrary: number(min, max) },
    { weight: 4, arbitrary: range(min, max) },
  )
  return fc.oneof(
    { weight: starWeight, arbitrary: fc.constant('*') },
    { weight: 2, arbitrary: starred },
    { weight: 5, arbitrary: number(min, max) },
    { weight: 3, arbitrary: range(min, max) },
    {
      weight: 2,
      arbitrary: fc.array(item, { minLength: 2, maxLength: 4 }).map((a) => a.join(',')),
    },
  )
}

const minute = field(0, 59, 2)

/** Most transitions happen between 23:00 and 04:00, so most fixed hours lie there. */
const hour = fc.oneof(
  { weight: 5, arbitrary: field(0, 23, 3) },
  { weight: 3, arbitrary: number(0, 4) },
  { weight: 1, arbitrary: fc.constantFrom('0-3', '*/2', '1,2', '23', '0,23', '2-3', '*,1', '1,*') },
)

const dates = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(field(1, 31, 9), field(1, 12, 9), field(0, 7, 9)) },
  { weight: 2, arbitrary: fc.constant(['*', '*', '*'] as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ['29', '2', '*'] as const,
      ['29', '2', '*/7'] as const,
      ['*/31', '1', '0'] as const,
      ['31', '*', '7'] as const,
      ['31', '*', '*/3'] as const,
      ['30,31', '2-4', '*'] as const,
      ['30', '2', '5-7'] as const,
      ['1-7', '*', '*/7'] as const,
    ),
  },
)

const blank = fc.oneof(
  { weight: 9, arbitrary: fc.constant(' ') },
  { weight: 1, arbitrary: fc.constantFrom('\t', '  ', ' \t ') },
)

/** The text of an expression the `standard` dialect accepts. */
export const expressions: fc.Arbitrary<string> = fc
  .tuple(minute, hour, dates, blank)
  .map(([minuteText, hourText, dateTexts, separator]) =>
    [minuteText, hourText, ...dateTexts].join(separator),
  )
  .filter((text) => readExpression(text) !== null)

/** A text near the grammar: an accepted expression with a few characters changed. */
export const nearExpressions: fc.Arbitrary<string> = fc
  .tuple(
    expressions,
    fc.array(
      fc.record({
        at: fc.nat({ max: 40 }),
        removed: fc.nat({ max: 2 }),
        inserted: fc.oneof(
          { weight: 9, arbitrary: fc.constantFrom(...'0123456789*/-,', ' ', '\t', '') },
          {
            weight: 1,
            arbitrary: fc.constantFrom('\n', '\u00a0', '\u0000', 'L', '#', '+', '٣', '.'),
          },
        ),
      }),
      { minLength: 0, maxLength: 3 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce(
      (now, { at, removed, inserted }) =>
        now.slice(0, at % (now.length + 1)) +
        inserted +
        now.slice((at % (now.length + 1)) + removed),
      text,
    ),
  )

const timeZones = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(hotZones)) },
  { weight: 1, arbitrary: fc.constantFrom(...allZones) },
)

const anywhere = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2100, 0, 1) })

const finePart = fc.oneof(
  fc.constantFrom(0, 1, -1, 500, 59_999),
  fc.integer({ min: 0, max: 59_999 }),
)

/** Where to ask, either anywhere or around a transition of the zone if it has one. */
const places = fc.record({
  anywhere,
  transition: fc.option(fc.nat({ max: 100_000 }), { freq: 2, nil: undefined }),
  minutes: fc.oneof(
    fc.integer({ min: -2 * 1440, max: 2 * 1440 }),
    fc.integer({ min: -180, max: 180 }),
  ),
  finePart,
})

/** Most windows are short: a dense expression has many runs, and the reference is slow. */
const spans = fc.oneof(
  fc.integer({ min: 0, max: 6 * 3_600_000 }),
  fc.integer({ min: 0, max: 3 * DAY_MS }),
  fc.integer({ min: 0, max: 500 * DAY_MS }),
)

/** Expression, zone, policies, instant and window. */
export const samples: fc.Arbitrary<Sample> = fc
  .record({
    expression: expressions,
    timeZone: timeZones,
    gap: fc.constantFrom(undefined, 'shift', 'skip'),
    fold: fc.constantFrom(undefined, 'first', 'second', 'both'),
    horizonYears: fc.option(fc.constantFrom(1, 2, 8, 12, 40), { freq: 8, nil: undefined }),
    place: places,
    spanMs: spans,
  })
  .map(({ place, ...sample }) => ({ ...sample, at: instantOf(place, sample.timeZone) }))

interface Place {
  readonly anywhere: number
  readonly transition: number | undefined
  readonly minutes: number
  readonly finePart: number
}

function instantOf(place: Place, timeZone: string): number {
  const around = place.transition === undefined ? [] : transitionsOf(timeZone)
  if (around.length === 0) return Math.floor(place.anywhere / 60_000) * 60_000 + place.finePart
  return around[place.transition! % around.length]! + place.minutes * 60_000 + place.finePart
}
