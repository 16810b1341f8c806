// The years that a record allows, of 1970 to 2199, here counted from 0; others it never allows.

import { first, last } from './bits'
import { CYCLE_DAYS, firstDayOf, monthAt, monthOfDay } from './calendar'
import { yearWord } from './record'

/** The answer when no year is left; no day of any year. */
export const NO_DAY: i32 = i32.MIN_VALUE

/** One beyond the last year, and the words that hold a bit for each. */
const YEARS_END: i32 = 230
const WORDS: i32 = 4

/** `day` if its year is allowed, else the first day of the next year that is, else NO_DAY. */
export function nextDayInYears(record: usize, day: i32): i32 {
  const now = yearOfDay(day)
  if (now >= YEARS_END) return NO_DAY
  let year = max(now, 0)
  let index = year >> 6
  let years = yearWord(record, index) & (<u64>-1 << (year & 63))
  while (!years) {
    if (++index == WORDS) return NO_DAY
    years = yearWord(record, index)
  }
  year = (index << 6) + first(years)
  return year == now ? day : startOfYear(year)
}

/** `day` if its year is allowed, else the last day of the previous year that is, else NO_DAY. */
export function prevDayInYears(record: usize, day: i32): i32 {
  const now = yearOfDay(day)
  if (now < 0) return NO_DAY
  let year = min(now, YEARS_END - 1)
  let index = year >> 6
  let years = yearWord(record, index) & (<u64>-1 >> (63 - (year & 63)))
  while (!years) {
    if (--index < 0) return NO_DAY
    years = yearWord(record, index)
  }
  year = (index << 6) + last(years)
  return year == now ? day : startOfYear(year + 1) - 1
}

/** The year of a day: -1 for any before the first, YEARS_END or more for any behind the last. */
function yearOfDay(day: i32): i32 {
  return day < 0 ? -1 : monthOfDay(min(day, CYCLE_DAYS - 1)) / 12
}

/** The day number of January 1st of a year from 0 to YEARS_END. */
function startOfYear(year: i32): i32 {
  return firstDayOf(monthAt(year * 12))
}
