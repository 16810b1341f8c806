// How far next and prev look: through the end of the wall date `from` plus or minus the horizon,
// four years unless `horizonYears` says otherwise. Windows with an end of their own are not cut.
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'

/** New Year on a Sunday: 2012, 2017, 2023, 2034. */
const sundayNewYear = '0 0 1 1 */7'

/** The last minute of a Sunday New Year. */
const lastMinute = '59 23 1 1 */7'

/** A leap day on a Sunday: 2004, 2032, 2060, 2088, 2128. */
const sundayLeapDay = '0 0 29 2 */7'

type Row = [
  expression: string,
  timeZone: string,
  years: number | undefined,
  from: string,
  run: string | null,
]

function row([expression, timeZone, horizonYears, from]: Row) {
  const cron = parseCron(expression, { timeZone, ...(horizonYears && { horizonYears }) })
  return { cron, from: new Date(from) }
}

describe('next looks through the end of the wall date `from` plus the horizon', () => {
  test.each<Row>([
    [sundayNewYear, 'UTC', undefined, '2019-01-01T00:00Z', '2023-01-01T00:00Z'],
    [sundayNewYear, 'UTC', undefined, '2018-12-31T23:59:59.999Z', null],
    [lastMinute, 'UTC', undefined, '2019-01-01T00:00Z', '2023-01-01T23:59Z'],
    [lastMinute, 'UTC', undefined, '2018-12-31T23:59:59.999Z', null],
    [sundayNewYear, 'Asia/Tokyo', undefined, '2018-12-31T15:00Z', '2022-12-31T15:00Z'],
    [sundayNewYear, 'Asia/Tokyo', undefined, '2018-12-31T14:59:59.999Z', null],
    [lastMinute, 'America/Los_Angeles', undefined, '2019-01-01T08:00Z', '2023-01-02T07:59Z'],
    [lastMinute, 'America/Los_Angeles', undefined, '2019-01-01T07:59Z', null],
    [lastMinute, 'Pacific/Kiritimati', undefined, '2018-12-31T10:00Z', '2023-01-01T09:59Z'],
    [lastMinute, 'Pacific/Kiritimati', undefined, '2018-12-31T09:59Z', null],
    ['0 0 29 2 *', 'UTC', undefined, '2020-02-29T00:00Z', '2024-02-29T00:00Z'],
    ['0 0 29 2 *', 'UTC', undefined, '2096-02-29T00:00Z', null],
    ['0 0 29 2 *', 'UTC', undefined, '2100-02-28T00:00Z', null],
    ['0 0 29 2 *', 'UTC', undefined, '2100-03-01T00:00Z', '2104-02-29T00:00Z'],
    ['0 0 29 2 *', 'UTC', 7, '2096-02-29T00:00Z', null],
    ['0 0 29 2 *', 'UTC', 8, '2096-02-29T00:00Z', '2104-02-29T00:00Z'],
    // A year after a leap day is 28 February: Temporal constrains the day.
    ['0 12 1 3 *', 'UTC', 1, '2024-02-29T00:00Z', '2024-03-01T12:00Z'],
    ['0 12 1 3 */6', 'UTC', 1, '2024-02-29T00:00Z', null],
    ['0 12 1 3 */6', 'UTC', 1, '2024-03-01T00:00Z', '2025-03-01T12:00Z'],
    ['0 12 28 2 */5', 'UTC', 1, '2024-02-29T00:00Z', '2025-02-28T12:00Z'],
    [sundayNewYear, 'UTC', 1, '2022-01-01T00:00Z', '2023-01-01T00:00Z'],
    [sundayNewYear, 'UTC', 1, '2021-12-31T23:59Z', null],
    [sundayNewYear, 'UTC', 3, '2020-01-01T00:00Z', '2023-01-01T00:00Z'],
    [sundayNewYear, 'UTC', 3, '2019-12-31T00:00Z', null],
    [sundayLeapDay, 'UTC', 27, '2004-02-29T00:00Z', null],
    [sundayLeapDay, 'UTC', 28, '2004-02-29T00:00Z', '2032-02-29T00:00Z'],
    [sundayLeapDay, 'UTC', 39, '2088-02-29T00:00Z', null],
    [sundayLeapDay, 'UTC', 40, '2088-02-29T00:00Z', '2128-02-29T00:00Z'],
    [sundayLeapDay, 'Europe/Madrid', 400, '2088-02-29T00:00Z', '2128-02-28T23:00Z'],
    [sundayLeapDay, 'UTC', 400, '2088-02-29T00:00Z', '2128-02-29T00:00Z'],
  ])('%s in %s, %s years from %s: %s', (...values) => {
    const { cron, from } = row(values)
    expect(cron.next(from)).toEqual(values[4] === null ? null : new Date(values[4]))
  })
})

describe('prev looks back to the start of the wall date `from` minus the horizon', () => {
  test.each<Row>([
    [sundayNewYear, 'UTC', undefined, '2027-01-01T23:59:59.999Z', '2023-01-01T00:00Z'],
    [sundayNewYear, 'UTC', undefined, '2027-01-02T00:00Z', null],
    [sundayNewYear, 'Asia/Tokyo', undefined, '2027-01-01T14:59:59.999Z', '2022-12-31T15:00Z'],
    [sundayNewYear, 'Asia/Tokyo', undefined, '2027-01-01T15:00Z', null],
    [lastMinute, 'America/Los_Angeles', undefined, '2027-01-02T07:59Z', '2023-01-02T07:59Z'],
    [lastMinute, 'America/Los_Angeles', undefined, '2027-01-02T08:00Z', null],
    ['0 0 29 2 *', 'UTC', undefined, '2104-02-29T00:00Z', null],
    ['0 0 29 2 *', 'UTC', 8, '2104-02-29T00:00Z', '2096-02-29T00:00Z'],
    ['0 12 28 2 */2', 'UTC', 1, '2024-02-29T00:00Z', '2023-02-28T12:00Z'],
    ['0 12 28 2 */2', 'UTC', 1, '2024-03-01T00:00Z', null],
    ['0 12 28 2 */2', 'UTC', 1, '2024-02-28T00:00Z', '2023-02-28T12:00Z'],
    [sundayNewYear, 'UTC', 1, '2024-01-01T12:00Z', '2023-01-01T00:00Z'],
    [sundayNewYear, 'UTC', 1, '2024-01-02T00:00Z', null],
    [sundayLeapDay, 'UTC', 39, '2128-02-29T00:00Z', null],
    [sundayLeapDay, 'UTC', 40, '2128-02-29T00:00Z', '2088-02-29T00:00Z'],
    [sundayLeapDay, 'UTC', 400, '2128-02-29T00:00Z', '2088-02-29T00:00Z'],
  ])('%s in %s, %s years from %s: %s', (...values) => {
    const { cron, from } = row(values)
    expect(cron.prev(from)).toEqual(values[4] === null ? null : new Date(values[4]))
  })
})

describe('a window with an end is not cut', () => {
  const from = Date.UTC(2096, 1, 29, 0, 1)
  const until = Date.UTC(2112, 0, 1)
  const runs = [new Date('2104-02-29'), new Date('2108-02-29')]
  const cron = parseCron('0 0 29 2 *', { timeZone: 'UTC' })

  test('between goes past the horizon', () => {
    expect(cron.between(from, until)).toEqual(runs)
  })

  test('count goes past the horizon', () => {
    expect(cron.count(from, until)).toBe(2)
  })

  test('occurrences with an end go past the horizon', () => {
    expect([...cron.occurrences({ from, until })]).toEqual(runs)
  })

  test('occurrences without an end stop where next finds nothing', () => {
    const start = Date.UTC(2088, 0, 1)
    const found = [...cron.occurrences({ from: start })]
    expect(found).toEqual([new Date('2088-02-29'), new Date('2092-02-29'), new Date('2096-02-29')])
  })
})

describe('horizonYears', () => {
  test.each([1, 2, 4, 100, 399, 400])('%d is taken', (horizonYears) => {
    const cron = parseCron('0 0 1 1 *', { timeZone: 'UTC', horizonYears })
    expect(cron.next(Date.UTC(2024, 0, 1))).toEqual(new Date('2025-01-01'))
  })

  test.each([0, -1, 401, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32 + 1])(
    '%d is a RangeError',
    (horizonYears) => {
      expect(() => parseCron('* * * * *', { timeZone: 'UTC', horizonYears })).toThrow(RangeError)
    },
  )

  test.each(['4', null, 4n, {}, true])('%o is a TypeError', (horizonYears) => {
    const options = { timeZone: 'UTC', horizonYears } as unknown as { horizonYears: number }
    expect(() => parseCron('* * * * *', options)).toThrow(TypeError)
  })
})
