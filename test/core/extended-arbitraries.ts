// Texts of the `extended` dialect for its properties: six and seven fields, names, and days told
// from a month's end or by its weeks, in zones and at instants of the standard samples.
import fc from 'fast-check'
import { type Sample, samples } from './arbitraries.ts'
import { readExtended } from './reference-extended.ts'

const MONTHS = ['JAN', 'feb', 'Mar', 'APR', 'may', 'JUN', 'jul', 'AUG', 'sep', 'OCT', 'NOV', 'deC']
const WEEKDAYS = ['SUN', 'mon', 'Tue', 'WED', 'thu', 'FRI', 'sAt']

const step = fc.integer({ min: 1, max: 40 }).map((n) => `/${n}`)
const maybeStep = fc.option(step, { freq: 2, nil: '' })

function items(value: fc.Arbitrary<string>, stars: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: value },
    { weight: 1, arbitrary: fc.tuple(value, step).map((parts) => parts.join('')) },
    { weight: 3, arbitrary: fc.tuple(value, fc.constant('-'), value, maybeStep).map(joined) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...stars), maybeStep).map(joined) },
  )
}

function joined(parts: readonly string[]): string {
  return parts.join('')
}

function lists(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 1, maxLength: 3 }).map((all) => all.join(','))
}

function numbers(min: number, max: number): fc.Arbitrary<string> {
  return fc.integer({ min, max }).map(String)
}

/** Few values, since the reference asks Temporal for each of a day's wall times. */
const second = fc.oneof(numbers(0, 59), fc.constantFrom('*/30', '50-10/15', '7,59', '58/1'))
const minute = fc.oneof(numbers(0, 59), fc.constantFrom('*/20', '0,30', '55-5/5', '45/10'))
const hour = fc.oneof(
  { weight: 2, arbitrary: numbers(0, 23) },
  { weight: 2, arbitrary: fc.constantFrom('*', '*/3', '22-3', '1-3', '2,*', '20/2', '23-1/2') },
)

const plainDays = items(numbers(1, 31), ['*', '?'])
const dayOfMonth = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('*', '?') },
  { weight: 3, arbitrary: lists(plainDays) },
  {
    weight: 4,
    arbitrary: lists(
      fc.oneof(
        plainDays,
        fc.constant('L'),
        fc.nat(30).map((before) => `L-${before}`),
      ),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.oneof(
      fc.constant('LW'),
      numbers(1, 31).map((day) => `${day}W`),
    ),
  },
)

const weekday = fc.oneof(numbers(0, 7), fc.constantFrom(...WEEKDAYS))
const nth = fc.constantFrom('#1', '#2', '#3', '#4', '#5', '#L', 'L')
const nthWeekday = fc.tuple(weekday, nth).map(joined)
const plainWeekdays = items(weekday, ['*', '?'])
const dayOfWeek = fc
  .tuple(
    fc.constantFrom('', '', '+'),
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('*', '?') },
      { weight: 3, arbitrary: lists(plainWeekdays) },
      { weight: 4, arbitrary: lists(fc.oneof(plainWeekdays, nthWeekday, nthWeekday)) },
    ),
  )
  .map(joined)

const month = fc.oneof(
  fc.constant('*'),
  lists(items(fc.oneof(numbers(1, 12), fc.constantFrom(...MONTHS)), ['*'])),
)

const year = fc.oneof(
  numbers(1970, 2099),
  fc.constantFrom('*', '*/3', '2000-2040/4', '1970-2199', '2024,2028,2030', '2020/1'),
)

const dates = fc.tuple(dayOfMonth, month, dayOfWeek)

/** The text of an expression the `extended` dialect accepts. */
export const extendedExpressions: fc.Arbitrary<string> = fc
  .oneof(
    { weight: 2, arbitrary: fc.tuple(minute, hour, dates) },
    { weight: 2, arbitrary: fc.tuple(second, minute, hour, dates) },
    { weight: 2, arbitrary: fc.tuple(second, minute, hour, dates, year) },
  )
  .map((parts) => parts.flat().join(' '))
  .filter((text) => readExtended(text) !== null)

/** A text near the grammar: an accepted expression with up to three places changed. */
export const nearExtended: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: extendedExpressions },
      { weight: 1, arbitrary: fc.constantFrom('@daily', '@annually', '@weekly', '@hourly') },
    ),
    fc.array(
      fc.record({
        at: fc.nat({ max: 50 }),
        removed: fc.nat({ max: 2 }),
        inserted: fc.constantFrom(...'0123456789*/-,LW#?+@lwMONa', ' ', '\t', '', '\u00a0', '٣'),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((now, { at, removed, inserted }) => {
      const place = at % (now.length + 1)
      return now.slice(0, place) + inserted + now.slice(place + removed)
    }, text),
  )

/** An expression, where it is asked, and the window that is enumerated. */
export const extendedSamples: fc.Arbitrary<Sample> = fc.tuple(samples, extendedExpressions).map(
  ([sample, expression]): Sample => ({
    ...sample,
    expression,
    dialect: 'extended',
    horizonYears: sample.horizonYears === 40 ? 12 : sample.horizonYears,
    spanMs: Math.min(sample.spanMs, 20 * 86_400_000),
  }),
)
