// The rule for gaps and folds (SPEC §1.4), and nowhere else: which instants of a segment are runs.
//
// A segment owns the instants from its start to its end. Its wall times match there as they are,
// except where a fold makes them a second pass (at its start) or a first pass (before its end) that
// the policy leaves out. The wall times of the gap at its start give, by the policy, instants right
// behind the start: what the clock would have shown without the transition.

import { nextWall, prevWall } from './match'
import { FOLD_FIRST, FOLD_SECOND, GAP_SHIFT, flagsOf } from './record'
import { changeAfter, changeAt, endOf, offsetOf, startOf } from './zone'

/** The first run of the segment at or after `from`, an instant in it; NaN when it has none. */
export function firstRunIn(segment: usize, record: usize, from: f64, lastDay: i32): f64 {
  const flags = flagsOf(record)
  const offset = offsetOf(segment)
  const start = startOf(segment)
  const change = changeAt(segment)
  let earliest = from
  let moved = Infinity
  if (change > 0 && flags & GAP_SHIFT && from < start + change) {
    const before = offset - change
    const wall = nextWall(record, from + before, lastDay)
    if (wall < start + offset) moved = wall - before
  }
  if (change < 0 && !(flags & FOLD_SECOND)) earliest = max<f64>(from, start - change)
  let end = endOf(segment)
  if (!(flags & FOLD_FIRST)) end += min<f64>(changeAfter(segment), 0)
  const own = nextWall(record, earliest + offset, lastDay) - offset
  const run = own < end && own < moved ? own : moved
  return run == Infinity ? NaN : run
}

/** The last run of the segment at or before `to`, an instant in it; NaN when it has none. */
export function lastRunIn(segment: usize, record: usize, to: f64, firstDay: i32): f64 {
  const flags = flagsOf(record)
  const offset = offsetOf(segment)
  const start = startOf(segment)
  const change = changeAt(segment)
  let moved = -Infinity
  if (change > 0 && flags & GAP_SHIFT) {
    const before = offset - change
    const wall = prevWall(record, min<f64>(to + before, start + offset - 1), firstDay)
    if (wall >= start + before) moved = wall - before
  }
  let latest = to
  if (!(flags & FOLD_FIRST)) {
    latest = min<f64>(to, endOf(segment) + min<f64>(changeAfter(segment), 0) - 1)
  }
  const earliest = change < 0 && !(flags & FOLD_SECOND) ? start - change : start
  const own = prevWall(record, latest + offset, firstDay) - offset
  const run = own >= earliest && own > moved ? own : moved
  return run == -Infinity ? NaN : run
}
