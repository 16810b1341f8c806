// The next and the previous run from an instant, segment by segment, up to the horizon.
//
// Instants are whole ms here. Answers: an instant, NaN for no run, Infinity when a zone's chunk is
// missing and named in the output area.

import { CYCLE_DAYS, DAY_MS, addYears } from './calendar'
import { dayOf, nextWall, prevWall } from './match'
import { firstRunIn, lastRunIn } from './resolve'
import { nearFloor } from './round'
import { HAS_YEARS, flagsOf, zoneOf } from './record'
import { endOf, offsetOf, plainFrom, plainUntil, segmentAt, startOf } from './zone'

/** The answer when a chunk is missing. */
export const MISSING: f64 = Infinity

/** The largest absolute instant that a Date can hold. */
export const INSTANT_MAX: f64 = 8.64e15

/** More than two offsets of a zone can differ by, ms. */
const SPREAD: f64 = 2 * DAY_MS

/**
 * Zones follow yearly rules from 2100 on and mean time before 1600, and the calendar repeats every
 * 400 years; so an instant from far away is asked as one whole cycles nearer.
 */
const CYCLE: f64 = <f64>CYCLE_DAYS * DAY_MS
const NEAR_FROM: f64 = -11676096000000
const NEAR_UNTIL: f64 = 16725225600000

/** What to take off an instant to bring it near, a multiple of CYCLE. */
// @ts-ignore: decorator
@inline
export function cyclesTo(instant: f64): f64 {
  if (instant >= NEAR_FROM && instant < NEAR_UNTIL) return 0
  // Behind the near end, the last 400 near years (2100 on) serve; before its start, the 400
  // years before it.
  const edge = instant < NEAR_FROM ? NEAR_FROM - CYCLE : NEAR_UNTIL - CYCLE
  return floor<f64>((instant - edge) / CYCLE) * CYCLE
}

/** Whether the years of a record, all near, forbid to ask as from another cycle. */
// @ts-ignore: decorator
@inline
function isTiedToYears(record: usize): bool {
  return (flagsOf(record) & HAS_YEARS) != 0
}

/** The last day (first, for negative years) that a search from `origin` considers; or MISSING. */
function horizonDay(record: usize, origin: f64, years: i32): f64 {
  const away = cyclesTo(origin)
  const home = segmentAt(zoneOf(record), origin - away)
  if (!home) return MISSING
  return <f64>addYears(dayOf(origin - away + offsetOf(home)), years) + away / DAY_MS
}

/** The first run at or after `from`, no later than the horizon of `years` from `origin`. */
export function nextRun(record: usize, from: f64, origin: f64, years: i32): f64 {
  const away = cyclesTo(from)
  if (away != 0 && isTiedToYears(record)) {
    const lastDay = horizonDay(record, origin, years)
    if (lastDay == MISSING) return MISSING
    return away > 0 ? NaN : nextRunUntil(record, NEAR_FROM, <i32>lastDay)
  }
  const near = from - away
  const segment = segmentAt(zoneOf(record), near)
  if (!segment) return MISSING
  const offset = offsetOf(segment)
  // No year is shorter than 365 days: some days short of that, the horizon needs no calendar.
  const wall = nextWall(record, near + offset, nearFloor(near * (1 / DAY_MS)) + years * 365 - 3)
  const run = wall - offset
  if (run < plainUntil(segment) && near >= plainFrom(segment)) {
    return near == from ? run : inRange(run + away)
  }

  const home = segmentAt(zoneOf(record), origin - away)
  if (!home) return MISSING
  const lastDay = addYears(dayOf(origin - away + offsetOf(home)), years)
  return inRange(nextRunUntil(record, near, lastDay) + away)
}

/** The last run at or before `to`, no earlier than the horizon of `years` back from `origin`. */
export function prevRun(record: usize, to: f64, origin: f64, years: i32): f64 {
  const away = cyclesTo(to)
  if (away != 0 && isTiedToYears(record)) {
    const firstDay = horizonDay(record, origin, -years)
    if (firstDay == MISSING) return MISSING
    return away < 0 ? NaN : prevRunSince(record, NEAR_UNTIL - 1, <i32>firstDay)
  }
  const home = segmentAt(zoneOf(record), origin - away)
  if (!home) return MISSING
  const firstDay = addYears(dayOf(origin - away + offsetOf(home)), -years)
  return inRange(prevRunSince(record, to - away, firstDay) + away)
}

/** The first run in `from <= run < until`, however far that is. */
export function nextRunBefore(record: usize, from: f64, until: f64): f64 {
  if (isTiedToYears(record)) {
    from = max<f64>(from, NEAR_FROM)
    until = min<f64>(until, NEAR_UNTIL)
  }
  while (from < until) {
    const away = cyclesTo(from)
    const near = from - away
    const reach = <f64>dayOf(near) + CYCLE_DAYS
    // A wall date is at most a day from the date in UTC.
    const lastDay = min<f64>(reach, <f64>dayOf(until - away) + 2)
    const run = nextRunUntil(record, near, <i32>lastDay)
    if (run == MISSING) return MISSING
    if (run == run) return run + away < until ? run + away : NaN
    if (lastDay < reach) return NaN
    from += CYCLE
  }
  return NaN
}

/** The first run at or after `from`, a near instant, on matching dates up to `lastDay`. */
export function nextRunUntil(record: usize, from: f64, lastDay: i32): f64 {
  const over = <f64>(lastDay + 1) * DAY_MS
  while (from < over + SPREAD) {
    const segment = segmentAt(zoneOf(record), from)
    if (!segment) return MISSING
    const offset = offsetOf(segment)
    const end = endOf(segment)
    const wall = nextWall(record, from + offset, lastDay)
    // No wall time from here to `target` matches.
    const target = (wall == wall ? wall : over) - offset
    const fromPlain = from >= plainFrom(segment)
    if (fromPlain && wall == wall && target < plainUntil(segment)) return target
    if (!fromPlain || target < end) {
      const run = firstRunIn(segment, record, from, lastDay)
      if (run == run) return run
    }
    // Segments that lie whole between here and the target show only wall times that were looked
    // at, provided that no fold right behind this segment turns the clock back before `from`.
    from = end - from > SPREAD ? max<f64>(end, target - SPREAD) : end
  }
  return NaN
}

/** The last run at or before `to`, a near instant, on matching dates from `firstDay` on. */
export function prevRunSince(record: usize, to: f64, firstDay: i32): f64 {
  const over = <f64>firstDay * DAY_MS - 1
  while (to > over - SPREAD) {
    const segment = segmentAt(zoneOf(record), to)
    if (!segment) return MISSING
    const offset = offsetOf(segment)
    const start = startOf(segment)
    const wall = prevWall(record, to + offset, firstDay)
    const target = (wall == wall ? wall : over) - offset
    const toPlain = to < plainUntil(segment)
    if (toPlain && wall == wall && target >= plainFrom(segment)) return target
    if (!toPlain || target < plainFrom(segment)) {
      const run = lastRunIn(segment, record, to, firstDay)
      if (run == run) return run
    }
    to = to - start > SPREAD ? min<f64>(start - 1, target + SPREAD) : start - 1
  }
  return NaN
}

/** NaN for an instant that no Date can hold. */
function inRange(instant: f64): f64 {
  return instant == MISSING || abs<f64>(instant) <= INSTANT_MAX ? instant : NaN
}
