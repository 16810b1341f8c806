// What the host asks of one expression. Its instants may have fractions of a ms; runs have none, so
// an instant is first brought to the whole ms next to it on the side of the search.

import { above, first } from './bits'
import { dayOf } from './match'
import { HAS_SECONDS, flagsOf, minutesOf, secondsOf, zoneOf } from './record'
import { MISSING, cyclesTo, nextRun, nextRunBefore, prevRun } from './search'
import { offsetOf, plainFrom, plainUntil, segmentAt } from './zone'
import { DAY_MS } from './calendar'

/** The first run after `from`, up to `years` ahead; NaN for none, Infinity for a missing chunk. */
export function next(record: usize, from: f64, years: i32): f64 {
  const whole = floor<f64>(from)
  return nextRun(record, whole + 1, whole, years)
}

/** The last run before `from`, up to `years` back; NaN for none, Infinity for a missing chunk. */
export function prev(record: usize, from: f64, years: i32): f64 {
  return prevRun(record, ceil<f64>(from) - 1, floor<f64>(from), years)
}

/**
 * 1 when a run began at `instant` or less than a minute before it (less than a second when the
 * text has a field for seconds), 0 when none did, -1 for a missing chunk.
 */
export function matches(record: usize, instant: f64): i32 {
  const span: f64 = flagsOf(record) & HAS_SECONDS ? 1000 : 60000
  const run = nextRunBefore(record, floor<f64>(instant - span) + 1, floor<f64>(instant) + 1)
  return run == MISSING ? -1 : i32(run == run)
}

/** Where the last `enumerate` stopped: the instant to go on from. */
export let resumeAt: f64 = 0

/**
 * Writes the runs in `from <= run < until` to `out`, at most `limit` of them, and returns how many
 * there were; with `out` 0 it only counts. Sets `resumeAt`, which is `until` when there are no
 * more. Returns early, with `resumeAt` before `until`, when a chunk is missing, and then says so by
 * the complement of the number.
 */
export function enumerate(record: usize, from: f64, until: f64, out: usize, limit: i32): i32 {
  const end = ceil<f64>(until)
  let at = ceil<f64>(from)
  let count: i32 = 0
  while (count < limit) {
    const run = nextRunBefore(record, at, end)
    if (run == MISSING) {
      resumeAt = at
      return ~count
    }
    if (run != run) {
      resumeAt = until
      return count
    }
    if (out) store<f64>(out + (<usize>count << 3), run)
    count++
    at = run + 1
    // Behind a run, where no transition is felt, the rest of its hour (or of its minute, when
    // there are seconds) follows from a mask alone.
    const away = cyclesTo(run)
    const segment = segmentAt(zoneOf(record), run - away)
    if (!segment || run - away < plainFrom(segment)) continue
    const wall = run - away + offsetOf(segment)
    const ofDay = <u32>(wall - <f64>dayOf(wall) * DAY_MS) / 1000
    const seconds = secondsOf(record)
    const bySecond = seconds & (seconds - 1)
    const index = bySecond ? ofDay % 60 : (ofDay / 60) % 60
    const step: f64 = bySecond ? 1000 : 60000
    const base = run - <f64>index * step
    const stop = min<f64>(plainUntil(segment) + away, end)
    let rest = above(bySecond ? seconds : minutesOf(record), index)
    while (rest && count < limit) {
      const follower = base + <f64>first(rest) * step
      if (follower >= stop) break
      if (out) store<f64>(out + (<usize>count << 3), follower)
      count++
      at = follower + 1
      rest &= rest - 1
    }
  }
  resumeAt = at
  return count
}
