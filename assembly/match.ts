// Wall times that match: the first at or after a wall time, the last at or before one. No zone here.
//
// A wall time is a count of seconds that a clock showing UTC would need to show it.

import { above, below, first, last } from './bits'
import {
  CYCLE_DAYS,
  CYCLE_MONTHS,
  DAY,
  cycleOf,
  firstDayOf,
  lengthOf,
  monthAt,
  monthOfDay,
  monthOfYear,
  startWeekdayOf,
} from './calendar'
import { daysOf, hoursOf, minutesOf, monthsOf, secondsOf } from './record'

/** The day number of a wall time. */
// @ts-ignore: decorator
@inline
export function dayOf(wall: f64): i32 {
  // Multiplying can be one day off at midnight, which the remainder shows.
  const day = <i32>floor<f64>(wall * (1 / <f64>DAY))
  const second = wall - <f64>day * DAY
  return second < 0 ? day - 1 : second >= DAY ? day + 1 : day
}

/** The first matching wall time at or after `wall`, no later than `lastDay`, or NaN. */
export function nextWall(record: usize, wall: f64, lastDay: i32): f64 {
  const day = dayOf(wall)
  if (day > lastDay) return NaN
  const cycle = cycleOf(day)
  let firstDay = cycle * CYCLE_DAYS
  let index = monthOfDay(day - firstDay)
  let month = monthAt(index)
  const dayOfMonth = day - firstDay - firstDayOf(month)
  let days = daysIn(record, month)
  if ((days >> dayOfMonth) & 1) {
    const second = nextSecond(record, <i32>(wall - <f64>day * DAY))
    if (second >= 0) return <f64>day * DAY + <f64>second
  }
  days = <u32>above(days, dayOfMonth)
  while (!days) {
    const step = first(<u64>(monthsOf(record) >> (monthOfYear(month) + 1))) + 1
    index += step
    if (index >= CYCLE_MONTHS) {
      index -= CYCLE_MONTHS
      firstDay += CYCLE_DAYS
    }
    month = monthAt(index)
    if (firstDay + firstDayOf(month) > lastDay) return NaN
    days = daysIn(record, month)
  }
  const found = firstDay + firstDayOf(month) + first(days)
  return found > lastDay ? NaN : <f64>found * DAY + <f64>firstSecond(record)
}

/** The last matching wall time at or before `wall`, no earlier than `firstDay`, or NaN. */
export function prevWall(record: usize, wall: f64, firstDay: i32): f64 {
  const day = dayOf(wall)
  if (day < firstDay) return NaN
  const cycle = cycleOf(day)
  let cycleStart = cycle * CYCLE_DAYS
  let index = monthOfDay(day - cycleStart)
  let month = monthAt(index)
  const dayOfMonth = day - cycleStart - firstDayOf(month)
  let days = daysIn(record, month)
  if ((days >> dayOfMonth) & 1) {
    const second = prevSecond(record, <i32>(wall - <f64>day * DAY))
    if (second >= 0) return <f64>day * DAY + <f64>second
  }
  days = <u32>below(days, dayOfMonth)
  while (!days) {
    // The twelve bits below bit m + 12 are the months before month m.
    const nearest = last(below(monthsOf(record), monthOfYear(month) + 12))
    index -= <i32>monthOfYear(month) + 12 - nearest
    if (index < 0) {
      index += CYCLE_MONTHS
      cycleStart -= CYCLE_DAYS
    }
    month = monthAt(index)
    if (cycleStart + firstDayOf(month) + lengthOf(month) <= firstDay) return NaN
    days = daysIn(record, month)
  }
  const found = cycleStart + firstDayOf(month) + last(days)
  return found < firstDay ? NaN : <f64>found * DAY + <f64>lastSecond(record)
}

/** The matching days of a month, bit 0 for its first. */
// @ts-ignore: decorator
@inline
function daysIn(record: usize, month: u32): u32 {
  if (!((monthsOf(record) >> monthOfYear(month)) & 1)) return 0
  return daysOf(record, startWeekdayOf(month)) & (<u32>-1 >> (32 - lengthOf(month)))
}

// @ts-ignore: decorator
@inline
function firstSecond(record: usize): i32 {
  return (
    first(hoursOf(record)) * 3600 + first(minutesOf(record)) * 60 + first(secondsOf(record))
  )
}

// @ts-ignore: decorator
@inline
function lastSecond(record: usize): i32 {
  return last(hoursOf(record)) * 3600 + last(minutesOf(record)) * 60 + last(secondsOf(record))
}

/** The first matching second of a day at or after `second`, or -1. */
// @ts-ignore: decorator
@inline
function nextSecond(record: usize, second: i32): i32 {
  const hours = <u64>hoursOf(record)
  const minutes = minutesOf(record)
  const seconds = secondsOf(record)
  const hour = <u32>second / 3600
  const ofHour = <u32>second - hour * 3600
  const minute = ofHour / 60
  if ((hours >> hour) & 1) {
    if ((minutes >> minute) & 1) {
      const rest = seconds >> (ofHour - minute * 60)
      if (rest) return second + first(rest)
    }
    const later = above(minutes, minute)
    if (later) return <i32>hour * 3600 + first(later) * 60 + first(seconds)
  }
  const later = above(hours, hour)
  return later ? first(later) * 3600 + first(minutes) * 60 + first(seconds) : -1
}

/** The last matching second of a day at or before `second`, or -1. */
// @ts-ignore: decorator
@inline
function prevSecond(record: usize, second: i32): i32 {
  const hours = <u64>hoursOf(record)
  const minutes = minutesOf(record)
  const seconds = secondsOf(record)
  const hour = <u32>second / 3600
  const ofHour = <u32>second - hour * 3600
  const minute = ofHour / 60
  if ((hours >> hour) & 1) {
    if ((minutes >> minute) & 1) {
      const ofMinute = ofHour - minute * 60
      const rest = seconds & (<u64>-1 >> (63 - ofMinute))
      if (rest) return second - ofMinute + last(rest)
    }
    const earlier = below(minutes, minute)
    if (earlier) return <i32>hour * 3600 + last(earlier) * 60 + last(seconds)
  }
  const earlier = below(hours, hour)
  return earlier ? last(earlier) * 3600 + last(minutes) * 60 + last(seconds) : -1
}
