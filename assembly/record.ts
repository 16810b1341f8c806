// A compiled expression: one mask a field, the day rule already applied, 64 bytes.
//
//   0 minutes u64   8 seconds u64   16 hours u32   20 months u32   24 flags u32   28 zone u32
//  32 days 7 × u32: for each weekday of a month's first day, the days of that month that match
//  60 first ms of a matching day u32
//
// With HAS_TAIL the word at 32 is the address of a tail instead, and the six behind it are 0:
//   0 days 4 × 7 × u32: for each length from 28 and each weekday of the first day, the days
// 112 years 4 × u64: bit y for year 1970 + y

import { TAIL_SIZE } from './abi'
import { first } from './bits'

/** A wall time in a gap gives the instant moved by the gap's length, else none. */
export const GAP_SHIFT: u32 = 1
/** A wall time in a fold gives its first pass, its second pass, or both. */
export const FOLD_FIRST: u32 = 2
export const FOLD_SECOND: u32 = 4
/** The text has a field for seconds. */
export const HAS_SECONDS: u32 = 8
/** The days are in a tail. */
export const HAS_TAIL: u32 = 16
/** Only the years of the tail have runs; also where none has, so that no search sets out. */
export const HAS_YEARS: u32 = 32

/** Where a tail's years lie. */
const YEARS: usize = 112

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
// @ts-ignore: decorator
@inline
export function tailOf(record: usize): usize {
  return load<u32>(record, 32)
}
/**
 * Bit d for day d + 1 of a month of `length` days whose first is `weekday`; may name days it does
 * not have.
 */
// @ts-ignore: decorator
@inline
export function daysOf(record: usize, weekday: u32, length: i32): u32 {
  return flagsOf(record) & HAS_TAIL
    ? load<u32>(tailOf(record) + (<usize>((length - 28) * 7 + weekday) << 2))
    : load<u32>(record + (<usize>weekday << 2), 32)
}
/** Word `index` of the years. */
// @ts-ignore: decorator
@inline
export function yearWord(record: usize, index: i32): u64 {
  return load<u64>(tailOf(record) + (<usize>index << 3), YEARS)
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
// @ts-ignore: decorator
@inline
export function setTime(record: usize, seconds: u64, minutes: u64, hours: u32, months: u32): void {
  store<u64>(record, minutes)
  store<u64>(record, seconds, 8)
  store<u32>(record, hours, 16)
  store<u32>(record, months | (months << 12), 20)
  store<u32>(record, msOf(first(hours), first(minutes), first(seconds)), 60)
}

/** Writes what the search needs to know of zone and policy. */
// @ts-ignore: decorator
@inline
export function setPlace(record: usize, flags: u32, zone: u32): void {
  store<u32>(record, flags, 24)
  store<u32>(record, zone, 28)
}

/** Writes the days of months that start on `weekday`. */
// @ts-ignore: decorator
@inline
export function setDays(record: usize, weekday: u32, days: u32): void {
  store<u32>(record + (<usize>weekday << 2), days, 32)
}

/** Points a record to its tail, emptied. */
export function setTail(record: usize, tail: usize): void {
  memory.fill(tail, 0, TAIL_SIZE)
  memory.fill(record + 32, 0, 28)
  setTailAddress(record, tail)
  store<u32>(record, flagsOf(record) | HAS_TAIL, 24)
}

/** Points a record that has a tail to an equal one. */
export function setTailAddress(record: usize, tail: usize): void {
  store<u32>(record, <u32>tail, 32)
}

/** Writes a tail's days of months of `length` that start on `weekday`. */
export function setTailDays(tail: usize, weekday: u32, length: u32, days: u32): void {
  store<u32>(tail + (<usize>((length - 28) * 7 + weekday) << 2), days)
}

/** Allows a record with a tail the years of the four words at `years` alone. */
export function setYears(record: usize, years: usize): void {
  memory.copy(tailOf(record) + YEARS, years, 32)
  store<u32>(record, flagsOf(record) | HAS_YEARS, 24)
}

/** Leaves a record no year, and so no run; the rest selects all, so that a search sees it soon. */
export function setNever(record: usize, tail: usize): void {
  setTail(record, tail)
  memory.fill(tail, 0xff, YEARS)
  setTime(record, 1, 1, 1, 0xfff)
  store<u32>(record, flagsOf(record) | HAS_YEARS, 24)
}
