// What is taken as an instant, what is refused, and that the ends of time neither hang nor break
// the engine: after every bad or extreme question a plain one is still answered.
import { Temporal } from '@js-temporal/polyfill'
import { afterEach, describe, expect, test } from 'vitest'
import { type CronExpression, parseCron } from '../../bindings/index.ts'

const MAX = 8.64e15
const hourly = parseCron('0 * * * *', { timeZone: 'UTC' })
const daily = parseCron('30 2 * * *', { timeZone: 'Europe/Madrid' })

afterEach(() => {
  expect(hourly.next(Date.UTC(2026, 0, 1))).toEqual(new Date('2026-01-01T01:00Z'))
  expect(daily.next(Date.UTC(2026, 2, 28, 12))).toEqual(new Date('2026-03-29T01:30Z'))
})

type Ask = (cron: CronExpression, instant: never) => unknown

const questions: [name: string, ask: Ask][] = [
  ['next', (cron, at) => cron.next(at)],
  ['prev', (cron, at) => cron.prev(at)],
  ['matches', (cron, at) => cron.matches(at)],
  ['occurrences from', (cron, at) => [...cron.occurrences({ from: at, limit: 1 })]],
  ['occurrences until', (cron, at) => [...cron.occurrences({ from: 0, until: at, limit: 1 })]],
  ['between a', (cron, at) => cron.between(at, 0)],
  ['between b', (cron, at) => cron.between(0, at)],
  ['count a', (cron, at) => cron.count(at, 0)],
  ['count b', (cron, at) => cron.count(0, at)],
]

describe.each(questions)('%s', (_name, ask) => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, MAX + 1, -MAX - 1])(
    '%d is a RangeError, however it is written',
    (ms) => {
      expect(() => ask(hourly, ms as never)).toThrow(RangeError)
      expect(() => ask(hourly, new Date(ms) as never)).toThrow(RangeError)
      expect(() => ask(hourly, { epochMilliseconds: ms } as never)).toThrow(RangeError)
    },
  )

  test.each([null, '2026-01-01', '0', 5n, true, Symbol('now'), {}, [], [0], () => 0])(
    '%o is a TypeError',
    (value) => {
      expect(() => ask(hourly, value as never)).toThrow(TypeError)
    },
  )

  test.each(['0', 5n, null, undefined, {}])('epochMilliseconds of %o is a TypeError', (value) => {
    expect(() => ask(hourly, { epochMilliseconds: value } as never)).toThrow(TypeError)
  })

  test.each([0, -0, 1, -1, 0.5, -0.5, MAX, -MAX, Number.MIN_VALUE])('%d is an instant', (ms) => {
    expect(() => ask(parseCron('0 0 1 1 *', { timeZone: 'UTC' }), ms as never)).not.toThrow()
  })
})

describe('the forms of an instant', () => {
  const ms = Date.UTC(2026, 5, 1, 12, 30)
  const forms: [name: string, instant: Date | number | { epochMilliseconds: number }][] = [
    ['a number', ms],
    ['a Date', new Date(ms)],
    ['a Temporal.Instant', Temporal.Instant.fromEpochMilliseconds(ms)],
    [
      'a ZonedDateTime',
      Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO('Asia/Tokyo'),
    ],
    ['an object of its own', { epochMilliseconds: ms }],
  ]

  test.each(forms)('%s', (_name, instant) => {
    expect(hourly.next(instant)).toEqual(new Date('2026-06-01T13:00Z'))
    expect(hourly.prev(instant)).toEqual(new Date('2026-06-01T12:00Z'))
    expect(hourly.matches(instant)).toBe(false)
    expect(hourly.count(instant, new Date('2026-06-01T14:00Z'))).toBe(1)
  })

  test('a Date that was given is not changed, and each answer is a Date of its own', () => {
    const from = new Date(ms)
    const first = hourly.next(from)!
    first.setFullYear(1999)
    expect(from.getTime()).toBe(ms)
    expect(hourly.next(from)).toEqual(new Date('2026-06-01T13:00Z'))
  })

  test('without an instant, the current one is meant', () => {
    const before = Date.now()
    const next = hourly.next()!.getTime()
    const prev = hourly.prev()!.getTime()
    const [first] = hourly.occurrences({ limit: 1 })
    expect(next).toBeGreaterThan(before)
    expect(prev).toBeLessThan(Date.now())
    expect(next - prev).toBeLessThanOrEqual(2 * 3_600_000)
    expect(first!.getTime()).toBeGreaterThanOrEqual(before)
  })
})

describe('parts of a second and of a millisecond', () => {
  const nine = Date.UTC(2026, 0, 1, 9)
  const hour = 3_600_000

  test.each<[offsetMs: number, next: number, prev: number, matches: boolean]>([
    [-60_000, nine, nine - hour, false],
    [-1, nine, nine - hour, false],
    [-0.25, nine, nine - hour, false],
    [0, nine + hour, nine - hour, true],
    [0.25, nine + hour, nine, true],
    [1, nine + hour, nine, true],
    [59_999, nine + hour, nine, true],
    [59_999.75, nine + hour, nine, true],
    [60_000, nine + hour, nine, false],
  ])('%d ms from a run', (offsetMs, next, prev, matches) => {
    const at = nine + offsetMs
    expect({ next: hourly.next(at), prev: hourly.prev(at), matches: hourly.matches(at) }).toEqual({
      next: new Date(next),
      prev: new Date(prev),
      matches,
    })
    const isAfter = offsetMs > 0
    expect(hourly.between(at, at + 60_000.5)).toEqual(isAfter ? [] : [new Date(nine)])
    expect(hourly.count(nine - 60_000, at)).toBe(isAfter ? 1 : 0)
  })
})

describe('the ends of time', () => {
  const zones = ['UTC', 'Europe/Madrid', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Manila']

  test.each(zones)('the last instant has no next run, in %s', (timeZone) => {
    for (const text of ['* * * * *', '0 0 29 2 *', '0 0 1 1 */7', '*/5 */5 13 * 5']) {
      const cron = parseCron(text, { timeZone, horizonYears: 400 })
      expect(cron.next(MAX)).toBeNull()
      expect(cron.next(MAX - 1)?.getTime() ?? MAX).toBe(MAX)
      expect(cron.prev(MAX)!.getTime()).toBeLessThan(MAX)
    }
  })

  test.each(zones)('the first instant has no previous run, in %s', (timeZone) => {
    for (const text of ['* * * * *', '0 0 29 2 *', '0 0 1 1 */7', '*/5 */5 13 * 5']) {
      const cron = parseCron(text, { timeZone, horizonYears: 400 })
      expect(cron.prev(-MAX)).toBeNull()
      expect(cron.prev(-MAX + 1)?.getTime() ?? -MAX).toBe(-MAX)
      expect(cron.next(-MAX)!.getTime()).toBeGreaterThan(-MAX)
    }
  })

  test('the last and the first minute are runs', () => {
    const cron = parseCron('* * * * *', { timeZone: 'UTC' })
    expect(cron.next(MAX - 1)).toEqual(new Date(MAX))
    expect(cron.prev(-MAX + 1)).toEqual(new Date(-MAX))
    expect(cron.matches(MAX)).toBe(true)
    expect(cron.matches(-MAX)).toBe(true)
    expect(cron.between(MAX - 120_000, MAX)).toEqual([
      new Date(MAX - 120_000),
      new Date(MAX - 60_000),
    ])
    expect([...cron.occurrences({ from: MAX })]).toEqual([new Date(MAX)])
    expect([...cron.occurrences({ from: MAX - 60_000 })]).toHaveLength(2)
    expect([...cron.occurrences({ from: -MAX, limit: 2 })]).toEqual([
      new Date(-MAX),
      new Date(-MAX + 60_000),
    ])
  })

  test('all of time can be counted', () => {
    const leapDays = parseCron('0 12 29 2 *', { timeZone: 'UTC' })
    const years = (from: number, to: number) => to - from + 1
    // From -271820, a leap year as 2180 is, through 275760, whose 29 February is in reach.
    const leapYears = Array.from(
      { length: years(-271_820, 275_760) },
      (_, i) => i - 271_820,
    ).filter((year) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0)
    expect(leapDays.count(-MAX, MAX)).toBe(leapYears.length)
    expect(parseCron('0 0 * * *', { timeZone: 'UTC' }).count(MAX - 1e12, MAX)).toBe(11_574)
  })

  test('a window that ends before it starts is empty', () => {
    expect(hourly.between(1e12, 0)).toEqual([])
    expect(hourly.count(MAX, -MAX)).toBe(0)
    expect(hourly.between(0, 0)).toEqual([])
    expect([...hourly.occurrences({ from: 1e12, until: 0 })]).toEqual([])
  })
})
