// The Gregorian calendar as a table of months. It repeats every 400 years, which are a whole number
// of weeks, so the 4,800 months from January 1970 on stand for all others.

import { MONTHS } from './abi'

/** Ms of a day. */
export const DAY_MS: f64 = 86400000
export const DAY_WHOLE_MS: i64 = 86400000
/** Days and months of the cycle. */
export const CYCLE_DAYS: i32 = 146097
export const CYCLE_MONTHS: i32 = 4800

// A month is one word: bits 0-17 the day number of its first day (0 is 1970-01-01), 18-20 the
// weekday of that day, 21-22 its length less 28, 23-26 which month of the year (0 is January).

/** The word of month `index`, 0 <= index < CYCLE_MONTHS. */
// @ts-ignore: decorator
@inline
export function monthAt(index: i32): u32 {
  return load<u32>(MONTHS + (<usize>index << 2))
}
// @ts-ignore: decorator
@inline
export function firstDayOf(month: u32): i32 {
  return month & 0x3ffff
}
// @ts-ignore: decorator
@inline
export function startWeekdayOf(month: u32): u32 {
  return (month >> 18) & 7
}
/** 28 to 31. */
// @ts-ignore: decorator
@inline
export function lengthOf(month: u32): i32 {
  return 28 + ((month >> 21) & 3)
}
/** 0 to 11. */
// @ts-ignore: decorator
@inline
export function monthOfYear(month: u32): u32 {
  return month >> 23
}

/** The longest that month 0 to 11 can be. */
export function longestMonth(month: u32): i32 {
  // Two bits a month, length less 28, February in a leap year.
  return 28 + ((0xeefbb7 >> (month << 1)) & 3)
}

/** Which cycle a day lies in: 0 from 1970-01-01 to 2369-12-31. */
// @ts-ignore: decorator
@inline
export function cycleOf(day: i32): i32 {
  return <u32>day < <u32>CYCLE_DAYS ? 0 : day / CYCLE_DAYS - i32(day < 0 && day % CYCLE_DAYS != 0)
}

/** The month of day 0 <= day < CYCLE_DAYS of the cycle. */
// @ts-ignore: decorator
@inline
export function monthOfDay(day: i32): i32 {
  // 4800 / 146097 in 19 binary places; the guess is at most one month off, since 400 years drift
  // by less than two days from even months.
  let index = <i32>((<u32>day * 17225) >>> 19)
  if (index >= CYCLE_MONTHS) index = CYCLE_MONTHS - 1
  const month = monthAt(index)
  const into = day - firstDayOf(month)
  return index - i32(into < 0) + i32(into >= lengthOf(month))
}

/** `day` moved by a number of years, back to the month's last day where it has fewer (29 Feb). */
export function addYears(day: i32, years: i32): i32 {
  const cycle = cycleOf(day)
  const dayOfCycle = day - cycle * CYCLE_DAYS
  const index = monthOfDay(dayOfCycle)
  const dayOfMonth = dayOfCycle - firstDayOf(monthAt(index))
  const total = index + years * 12
  const moved = total < 0 ? -1 : total >= CYCLE_MONTHS ? 1 : 0
  const month = monthAt(total - moved * CYCLE_MONTHS)
  return (cycle + moved) * CYCLE_DAYS + firstDayOf(month) + min(dayOfMonth, lengthOf(month) - 1)
}

/** Fills the table; runs once, when the module starts. */
export function fillMonths(): void {
  let day: i32 = 0
  let index: i32 = 0
  for (let year = 1970; year < 2370; year++) {
    const leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
    for (let month: u32 = 0; month < 12; month++) {
      const length = longestMonth(month) - i32(month == 1 && !leap)
      // 1970-01-01 was a Thursday.
      const weekday = (day + 4) % 7
      const word = day | (weekday << 18) | ((length - 28) << 21) | (month << 23)
      store<u32>(MONTHS + (<usize>index << 2), word)
      day += length
      index++
    }
  }
}
