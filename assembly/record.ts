// A compiled expression: one mask a field, the day rule already applied, 64 bytes.
//
//   0 minutes u64   8 seconds u64   16 hours u32   20 months u32   24 flags u32   28 zone u32
//  32 days 7 × u32: for each weekday of a month's first day, the days of that month that match
//  60 first ms of a matching day u32

import { first, rangeMask } from './bits'

/** A wall time in a gap gives the instant moved by the gap's length, else none. */
export const GAP_SHIFT: u32 = 1
/** A wall time in a fold gives its first pass, its second pass, or both. */
export const FOLD_FIRST: u32 = 2
export const FOLD_SECOND: u32 = 4

// @ts-ignore: decorator
@inline
export function minutesOf(record: usize): u64 {
  return load<u64>(record)
}
// @ts-ignore: decorator
@inline
export function secondsOf(record: usize): u64 {
  return load<u64>(record, 8)
}
// @ts-ignore: decorator
@inline
export function hoursOf(record: usize): u32 {
  return load<u32>(record, 16)
}
/** Bit m and bit m + 12 for month m (0 is January), so that a search can look past December. */
// @ts-ignore: decorator
@inline
export function monthsOf(record: usize): u32 {
  return load<u32>(record, 20)
}
// @ts-ignore: decorator
@inline
export function flagsOf(record: usize): u32 {
  return load<u32>(record, 24)
}
// @ts-ignore: decorator
@inline
export function zoneOf(record: usize): usize {
  return load<u32>(record, 28)
}
/** Bit d for day d + 1 of a month whose first day is `weekday`; may name days it does not have. */
// @ts-ignore: decorator
@inline
export function daysOf(record: usize, weekday: u32): u32 {
  return load<u32>(record + (<usize>weekday << 2), 32)
}

/** The first matching ms of every day that matches. */
// @ts-ignore: decorator
@inline
export function firstMsOf(record: usize): i32 {
  return load<i32>(record, 60)
}

/** The ms of the day at a time of day. */
// @ts-ignore: decorator
@inline
export function msOf(hour: i32, minute: i32, second: i32): i32 {
  return ((hour * 60 + minute) * 60 + second) * 1000
}

/** Writes the masks of the four plain fields. */
export function setTime(record: usize, seconds: u64, minutes: u64, hours: u32, months: u32): void {
  store<u64>(record, minutes)
  store<u64>(record, seconds, 8)
  store<u32>(record, hours, 16)
  store<u32>(record, months | (months << 12), 20)
  store<u32>(record, msOf(first(hours), first(minutes), first(seconds)), 60)
}

/** Writes what the search needs to know of zone and policy. */
export function setPlace(record: usize, flags: u32, zone: u32): void {
  store<u32>(record, flags, 24)
  store<u32>(record, zone, 28)
}

/**
 * Joins the day fields into one mask for each weekday a month can start on: a date must match
 * `both`, or either (SPEC §1.2). Days count from bit 0, Sunday is bit 0.
 */
export function setDays(record: usize, days: u32, weekdays: u32, both: bool): void {
  const all = <u32>rangeMask(0, 30)
  for (let start: u32 = 0; start < 7; start++) {
    const week = ((weekdays >> start) | (weekdays << (7 - start))) & 0x7f
    // Multiplying repeats the week five times, seven bits apart.
    const byWeekday = (week * 0x10204081) & all
    store<u32>(record + (<usize>start << 2), both ? days & byWeekday : days | byWeekday, 32)
  }
}
