// From the two day fields to the days of a month, by the day rule (SPEC §1.2). Which days match
// depends on the month's first weekday and, where the text tells days from its end, on its length;
// so a record holds a mask of days for each weekday, or its tail for each length and weekday.
//
// Besides plain days and weekdays the text may hold (output words of abi.ts): OUT_FROM_END, bit
// 31 - n for L-n; OUT_NEAREST, the day n of nW, LAST_WEEKDAY for LW, 0 for none; OUT_NTH, seven
// bits of weekdays for each n of d#n from 1 on; OUT_LAST, the weekdays of dL.

import { OUT_FROM_END, OUT_LAST, OUT_NEAREST, OUT_NTH } from './abi'
import { rangeMask } from './bits'
import { longestMonth } from './calendar'
import { daysOf, monthsOf, setDays, setTailDays } from './record'

/** As OUT_NEAREST: the weekday nearest to the month's last day. */
export const LAST_WEEKDAY: i32 = 32

/** Multiplying by it repeats seven bits five times. */
const EACH_WEEK: u64 = 0x10204081
const WEEK: u64 = 0x7f
const SATURDAY: u32 = 6

/** Forgets the days of the last text. */
export function clearDays(): void {
  store<u64>(OUT_FROM_END, 0)
  store<u64>(OUT_NTH, 0)
  store<u32>(OUT_LAST, 0)
}

/** Whether the days depend on the length of the month. */
export function needLength(): bool {
  return (load<u64>(OUT_FROM_END) | load<u32>(OUT_LAST)) != 0
}

/** Writes a record's days, one mask for each first weekday; bit 0 is day 1, and Sunday. */
export function writeDays(record: usize, days: u32, weekdays: u32, both: bool): void {
  const nth = load<u64>(OUT_NTH)
  for (let start: u32 = 0; start < 7; start++) {
    let byWeekday = rotated(weekdays, start) * <u32>EACH_WEEK
    if (nth) byWeekday |= nthDays(nth, start)
    setDays(record, start, both ? days & byWeekday : days | byWeekday)
  }
}

/** Writes a tail's days, one mask for each length and first weekday. */
export function writeTailDays(tail: usize, days: u32, weekdays: u32, both: bool): void {
  const fromEnd = load<u32>(OUT_FROM_END)
  const last = load<u32>(OUT_LAST)
  const nth = load<u64>(OUT_NTH)
  for (let length: u32 = 28; length <= 31; length++) {
    for (let start: u32 = 0; start < 7; start++) {
      const byDay = days | (fromEnd >> (32 - length)) | nearestDay(start, length)
      // The last seven days start on the weekday that a next month would start on.
      const lastWeek = rotated(last, (start + length) % 7) << (length - 7)
      const byWeekday =
        (rotated(weekdays, start) * <u32>EACH_WEEK) | nthDays(nth, start) | lastWeek
      setTailDays(tail, start, length, both ? byDay & byWeekday : byDay | byWeekday)
    }
  }
}

/** Whether any month that the record selects has a day that matches, in some year. */
export function anyDay(record: usize): bool {
  for (let month: u32 = 0; month < 12; month++) {
    if (!((monthsOf(record) >> month) & 1)) continue
    const longest = longestMonth(month)
    for (let length = longest; length >= (month == 1 ? 28 : longest); length--) {
      for (let start: u32 = 0; start < 7; start++) {
        if (daysOf(record, start, length) & <u32>rangeMask(0, length - 1)) return true
      }
    }
  }
  return false
}

/** Weekdays as the days of a week that starts on weekday `start`. */
// @ts-ignore: decorator
@inline
function rotated(weekdays: u32, start: u32): u32 {
  return ((weekdays >> start) | (weekdays << (7 - start))) & <u32>WEEK
}

/** The days of `nth` in a month that starts on weekday `start`: each week rotated. */
function nthDays(nth: u64, start: u32): u32 {
  const low = ((WEEK >> start) * EACH_WEEK) & (nth >> start)
  const high = (((WEEK << (7 - start)) & WEEK) * EACH_WEEK) & (nth << (7 - start))
  return <u32>(low | high)
}

/** The day nearest to OUT_NEAREST that is no Saturday and no Sunday, as a mask; 0 for none. */
function nearestDay(start: u32, length: u32): u32 {
  const wanted = load<u32>(OUT_NEAREST)
  const day = wanted == LAST_WEEKDAY ? length : wanted
  if (!day || day > length) return 0
  const weekday = (start + day - 1) % 7
  let moved: i32 = 0
  if (weekday == SATURDAY) moved = day == 1 ? 2 : -1
  else if (!weekday) moved = day == length ? -2 : 1
  return 1 << (<i32>day - 1 + moved)
}
