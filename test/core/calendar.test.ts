// The calendar behind the search: leap years, month ends and weekdays, from the year -271821 to
// 275760. Rows are an expression, where to ask, and the runs that follow, all in UTC.
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'

type Row = [expression: string, from: string, runs: string[]]

function nextRows(table: Row[], horizonYears = 4): void {
  test.each(table)('%s after %s', (expression, from, runs) => {
    const cron = parseCron(expression, { timeZone: 'UTC', horizonYears })
    let at = new Date(from)
    for (const run of runs) {
      const next = cron.next(at)
      expect(next?.toISOString()).toBe(new Date(run).toISOString())
      expect(cron.prev(next!.getTime() + 1)).toEqual(next)
      at = next!
    }
  })
}

describe('month ends', () => {
  nextRows([
    [
      '0 0 31 * *   ',
      '2023-01-31T00:00Z',
      ['2023-03-31', '2023-05-31', '2023-07-31', '2023-08-31'],
    ],
    ['0 0 31 * *   ', '2023-08-31T00:00Z', ['2023-10-31', '2023-12-31', '2024-01-31']],
    ['0 0 30 * *   ', '2023-01-30T00:00Z', ['2023-03-30', '2023-04-30', '2023-05-30']],
    ['0 0 29 * *   ', '2023-01-29T00:00Z', ['2023-03-29']],
    ['0 0 29 * *   ', '2024-01-29T00:00Z', ['2024-02-29', '2024-03-29']],
    ['0 0 29-31 2 *', '2023-01-01T00:00Z', ['2024-02-29']],
    ['59 23 31 12 *', '2023-12-31T23:58Z', ['2023-12-31T23:59Z', '2024-12-31T23:59Z']],
    ['0 0 1 1 *    ', '2023-12-31T23:59:59.999Z', ['2024-01-01', '2025-01-01']],
    [
      '0 0 1 */5 *  ',
      '2023-12-31T00:00Z',
      ['2024-01-01', '2024-06-01', '2024-11-01', '2025-01-01'],
    ],
  ])
})

describe('leap years', () => {
  nextRows([
    ['0 0 29 2 *', '2023-03-01T00:00Z', ['2024-02-29', '2028-02-29', '2032-02-29']],
    ['0 0 29 2 *', '1996-03-01T00:00Z', ['2000-02-29', '2004-02-29']],
    ['0 0 28 2 *', '2024-02-28T00:00Z', ['2025-02-28']],
    ['0 0 1 3 * ', '2024-02-28T00:00Z', ['2024-03-01', '2025-03-01']],
  ])
  nextRows(
    [
      ['0 0 29 2 *', '1896-02-29T00:00Z', ['1904-02-29']],
      ['0 0 29 2 *', '2096-02-29T00:00Z', ['2104-02-29']],
      ['0 0 29 2 *', '2396-02-29T00:00Z', ['2400-02-29', '2404-02-29']],
      ['0 0 29 2 *', '-000001-03-01T00:00Z', ['+000000-02-29', '0004-02-29']],
      ['0 0 29 2 *', '-000008-02-28T00:00Z', ['-000008-02-29', '-000004-02-29', '+000000-02-29']],
      ['0 0 29 2 *', '+275756-02-28T00:00Z', ['+275756-02-29', '+275760-02-29']],
    ],
    8,
  )
})

describe('weekdays', () => {
  nextRows(
    [
      [
        '0 0 29 2 */7',
        '2004-02-29T00:00Z',
        ['2032-02-29', '2060-02-29', '2088-02-29', '2128-02-29'],
      ],
      ['0 0 13 * */5', '2026-02-13T00:00Z', ['2026-03-13', '2026-09-13', '2026-11-13']],
      ['0 0 * 1 1   ', '1970-01-01T00:00Z', ['1970-01-05', '1970-01-12']],
      ['0 0 * * 4   ', '1969-12-31T00:00Z', ['1970-01-01', '1970-01-08']],
      ['0 0 * * 5   ', '1582-10-14T00:00Z', ['1582-10-15']],
      ['0 0 * * 1   ', '0000-12-31T00:00Z', ['0001-01-01']],
      ['0 0 1 1 */6 ', '-000002-06-01T00:00Z', ['+000000-01-01']],
    ],
    40,
  )
})

describe('the same question in another era of 400 years', () => {
  const eraMs = 146_097 * 86_400_000

  test.each([-600, -10, -5, -1, 1, 4, 100, 600])('%d eras on, the same answer', (eras) => {
    const cron = parseCron('17 5 29,30 2,4,11 1', { timeZone: 'UTC' })
    let at = Date.UTC(2023, 4, 1)
    for (let i = 0; i < 40; i++) {
      const next = cron.next(at)!.getTime()
      expect(cron.next(at + eras * eraMs)?.getTime()).toBe(next + eras * eraMs)
      expect(cron.prev(next + eras * eraMs)).toEqual(cron.prev(eras * eraMs + at + 1))
      at = next
    }
  })
})

describe('every day of a 400-year cycle', () => {
  test('is a run, by date and by weekday', () => {
    const [from, until] = [Date.UTC(1999, 11, 31), Date.UTC(2400, 0, 1)]
    const daily = parseCron('0 0 * * *', { timeZone: 'UTC' })
    expect(daily.count(from, until)).toBe((until - from) / 86_400_000)
    const byMonth = Array.from({ length: 12 }, (_, month) =>
      parseCron(`0 0 * ${month + 1} *`, { timeZone: 'UTC' }),
    )
    for (const run of daily.between(from, until)) {
      const own = byMonth[run.getUTCMonth()]!
      expect(own.matches(run)).toBe(true)
    }
  })

  test.each([0, 1, 2, 3, 4, 5, 6])('weekday %d comes every seventh day', (weekday) => {
    const cron = parseCron(`0 0 * * ${weekday}`, { timeZone: 'UTC' })
    const runs = cron.between(Date.UTC(2000, 0, 1), Date.UTC(2400, 0, 1))
    expect(runs.length).toBe(146_097 / 7)
    expect(runs.every((run) => run.getUTCDay() === weekday)).toBe(true)
  })
})
