// Which dates two day fields select together: rows of expressions over one month whose dates and
// weekdays are all in the drawing. A field is starred when its text starts with a star.
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'

//   February 2026      Su Mo Tu We Th Fr Sa
//                       1  2  3  4  5  6  7
//                       8  9 10 11 12 13 14
//                      15 16 17 18 19 20 21
//                      22 23 24 25 26 27 28
const everyDay = Array.from({ length: 28 }, (_, i) => i + 1)
const sundays = [1, 8, 15, 22]
const tuesdaysEtc = everyDay.filter((day) => [0, 2, 4, 6].includes((day - 1) % 7))

function datesOf(dayOfMonth: string, dayOfWeek: string): number[] {
  const cron = parseCron(`30 12 ${dayOfMonth} 2 ${dayOfWeek}`, { timeZone: 'UTC' })
  const runs = cron.between(Date.UTC(2026, 1, 1), Date.UTC(2026, 2, 1))
  return runs.map((run) => run.getUTCDate())
}

describe('neither field starred: a date matches when either does', () => {
  test.each<[dayOfMonth: string, dayOfWeek: string, dates: number[]]>([
    ['13         ', '5     ', [6, 13, 20, 27]],
    ['14         ', '5     ', [6, 13, 14, 20, 27]],
    ['31         ', '0     ', sundays],
    ['30         ', '7     ', sundays],
    ['1-7        ', '1     ', [1, 2, 3, 4, 5, 6, 7, 9, 16, 23]],
    ['1,28       ', '3,4   ', [1, 4, 5, 11, 12, 18, 19, 25, 26, 28]],
    ['5          ', '5-7   ', [1, 5, 6, 7, 8, 13, 14, 15, 20, 21, 22, 27, 28]],
    ['1-31       ', '1     ', everyDay],
    ['13         ', '0-6   ', everyDay],
    ['13         ', '0-7   ', everyDay],
    ['13         ', '1,*   ', everyDay],
    ['13,*       ', '1     ', everyDay],
    ['13         ', '1,*/2 ', tuesdaysEtc.concat([2, 9, 13, 16, 23]).sort((a, b) => a - b)],
    ['1-31/14    ', '3     ', [1, 4, 11, 15, 18, 25]],
  ])('%s %s', (dayOfMonth, dayOfWeek, dates) => {
    expect(datesOf(dayOfMonth, dayOfWeek)).toEqual([...new Set(dates)])
  })
})

describe('either field starred: a date must match both', () => {
  test.each<[dayOfMonth: string, dayOfWeek: string, dates: number[]]>([
    ['*          ', '*     ', everyDay],
    ['13         ', '*     ', [13]],
    ['*          ', '1     ', [2, 9, 16, 23]],
    ['*          ', '7     ', sundays],
    ['*/2        ', '1     ', [9, 23]],
    ['*/10       ', '3     ', [11]],
    ['*,13       ', '1     ', [2, 9, 16, 23]],
    ['1-7        ', '*/7   ', [1]],
    ['1-8        ', '*/7   ', [1, 8]],
    ['13         ', '*/5   ', [13]],
    ['14         ', '*/5   ', []],
    ['8-14       ', '*,3   ', [8, 9, 10, 11, 12, 13, 14]],
    ['*/7        ', '*/7   ', sundays],
    ['*/8        ', '*/3   ', [1, 25]],
    ['*/40       ', '*     ', [1]],
  ])('%s %s', (dayOfMonth, dayOfWeek, dates) => {
    expect(datesOf(dayOfMonth, dayOfWeek)).toEqual(dates)
  })
})
