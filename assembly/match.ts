// Wall times that match: the first at or after a wall time, the last at or before one. No zone
// here.
//
// A wall time is the instant (ms) at which a clock of UTC would show it, a whole number here.

import { above, below, first, last } from './bits'
import {
  CYCLE_DAYS,
  CYCLE_MONTHS,
  DAY_MS,
  DAY_WHOLE_MS,
  cycleOf,
  firstDayOf,
  lengthOf,
  monthAt,
  monthOfDay,
  monthOfYear,
  startWeekdayOf,
} from './calendar'
import {
  HAS_YEARS,
  daysOf,
  firstMsOf,
  flagsOf,
  hoursOf,
  minutesOf,
  monthsOf,
  msOf,
  secondsOf,
} from './record'
import { nearFloor, whole } from './round'
import { NO_DAY, nextDayInYears, prevDayInYears } from './years'

/** The day number of a wall time. */
// @ts-ignore: decorator
@inline
export function dayOf(wall: f64): i32 {
  // Can be one day off, which the remainder shows.
  const day = nearFloor(wall * (1 / DAY_MS))
  const rest = wall - <f64>day * DAY_MS
  return day - i32(rest < 0) + i32(rest >= DAY_MS)
}

/** The ms of a whole wall time since its day began. */
// @ts-ignore: decorator
@inline
function msOfDay(wall: f64, day: i32): i32 {
  return <i32>(whole(wall) - <i64>day * DAY_WHOLE_MS)
}

/** The wall time at a ms of a day. */
// @ts-ignore: decorator
@inline
function wallAt(day: i32, ms: i32): f64 {
  return <f64>(<i64>day * DAY_WHOLE_MS + <i64>ms)
}

/** The first matching wall time at or after `wall`, no later than `lastDay`, or NaN. */
export function nextWall(record: usize, wall: f64, lastDay: i32): f64 {
  while (true) {
    const day = dayOf(wall)
    const cycle = cycleOf(day)
    let firstDay = cycle * CYCLE_DAYS
    let index = monthOfDay(day - firstDay)
    let month = monthAt(index)
    const today = nextMs(record, msOfDay(wall, day))
    // The days left in this month, today at bit 0 unless its times are over. Whether today matches
    // is a coin toss to the processor, so nothing branches on it alone.
    const rest = (daysIn(record, month) >> (day - firstDay - firstDayOf(month))) & ~u32(today < 0)
    const ahead = <i32>ctz(rest)
    let found = day + ahead
    let ms = select<i32>(firstMsOf(record), today, ahead)
    if (!rest) {
      let days: u32 = 0
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
      found = firstDay + firstDayOf(month) + <i32>ctz(days)
      ms = firstMsOf(record)
    }
    if (found > lastDay) return NaN
    if (flagsOf(record) & HAS_YEARS) {
      const allowed = nextDayInYears(record, found)
      if (allowed == NO_DAY) return NaN
      if (allowed != found) {
        wall = <f64>allowed * DAY_MS
        continue
      }
    }
    return wallAt(found, ms)
  }
}

/** The last matching wall time at or before `wall`, no earlier than `firstDay`, or NaN. */
export function prevWall(record: usize, wall: f64, firstDay: i32): f64 {
  while (true) {
    const day = dayOf(wall)
    if (day < firstDay) return NaN
    const cycle = cycleOf(day)
    let cycleStart = cycle * CYCLE_DAYS
    let index = monthOfDay(day - cycleStart)
    let month = monthAt(index)
    const dayOfMonth = day - cycleStart - firstDayOf(month)
    let days = daysIn(record, month)
    let ms: i32 = -1
    if ((days >> dayOfMonth) & 1) ms = prevMs(record, msOfDay(wall, day))
    let found = day
    if (ms < 0) {
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
      found = cycleStart + firstDayOf(month) + last(days)
      ms = lastMs(record)
    }
    if (found < firstDay) return NaN
    if (flagsOf(record) & HAS_YEARS) {
      const allowed = prevDayInYears(record, found)
      if (allowed == NO_DAY) return NaN
      if (allowed != found) {
        wall = <f64>(allowed + 1) * DAY_MS - 1
        continue
      }
    }
    return wallAt(found, ms)
  }
}

/** The matching days of a month, bit 0 for its first. */
// @ts-ignore: decorator
@inline
function daysIn(record: usize, month: u32): u32 {
  const selected = 0 - ((monthsOf(record) >> monthOfYear(month)) & 1)
  const length = lengthOf(month)
  return selected & daysOf(record, startWeekdayOf(month), length) & (<u32>-1 >> (32 - length))
}

// @ts-ignore: decorator
@inline
function lastMs(record: usize): i32 {
  return msOf(last(hoursOf(record)), last(minutesOf(record)), last(secondsOf(record)))
}

/** The first matching ms of a day at or after `ms`, or -1. */
// @ts-ignore: decorator
@inline
function nextMs(record: usize, ms: i32): i32 {
  const hours = <u64>hoursOf(record)
  const minutes = minutesOf(record)
  const seconds = secondsOf(record)
  if (seconds != 1) {
    const ofDay = <u32>(ms + 999) / 1000
    const hour = ofDay / 3600
    const minute = ofDay / 60 - hour * 60
    if (((hours >> hour) & 1) && ((minutes >> minute) & 1)) {
      const rest = seconds >> (ofDay % 60)
      if (rest) return (ofDay + first(rest)) * 1000
    }
  }
  // With second 0 alone, the minute that is going on counts only at its very start.
  const ofDay = seconds == 1 ? <u32>(ms + 59999) / 60000 : <u32>(ms + 999) / 60000 + 1
  const hour = ofDay / 60
  const minute = ofDay - hour * 60
  const thisHour = (0 - ((hours >> hour) & 1)) & minutes & (<u64>-1 << minute)
  const later = above(hours, hour)
  // Which of the two it is cannot be foreseen, so both are worked out and one is masked away.
  const goesOn = 0 - u64(thisHour == 0)
  const nextHour = (hour & <u32>~goesOn) | (<u32>ctz(later) & <u32>goesOn)
  const found = msOf(nextHour, first(thisHour | (minutes & goesOn)), first(seconds))
  return found | (0 - i32((thisHour | later) == 0))
}

/** The last matching ms of a day at or before `ms`, or -1. */
// @ts-ignore: decorator
@inline
function prevMs(record: usize, ms: i32): i32 {
  const hours = <u64>hoursOf(record)
  const minutes = minutesOf(record)
  const seconds = secondsOf(record)
  const ofDay = <u32>ms / 1000
  const hour = ofDay / 3600
  const minute = ofDay / 60 - hour * 60
  if ((hours >> hour) & 1) {
    if ((minutes >> minute) & 1) {
      const rest = seconds & (<u64>-1 >> (63 - (ofDay % 60)))
      if (rest) return msOf(hour, minute, last(rest))
    }
    const earlier = below(minutes, minute)
    if (earlier) return msOf(hour, last(earlier), last(seconds))
  }
  const earlier = below(hours, hour)
  return earlier ? msOf(last(earlier), last(minutes), last(seconds)) : -1
}
