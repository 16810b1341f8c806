// Days that only the extended dialect has, told from the end of a month or by its weeks: L, L-n,
// nW, LW, d#n, dL. They go to the sets that days.ts joins.

import { OUT_FROM_END, OUT_LAST, OUT_NEAREST, OUT_NTH } from './abi'
import { DASH, HASH, LETTER_H, LETTER_L, LETTER_W, PLUS, SMALL, endsField, isDigit } from './char'
import { index, peek, readNumber, take } from './cursor'
import { LAST_WEEKDAY } from './days'
import { DAY_OF_MONTH, DAY_OF_WEEK } from './field'
import { refuse, refuseBetween, refuseNext, refuseWord } from './refusal'
import {
  BARE_LAST,
  BEFORE_LAST_OUT_OF_RANGE,
  MISPLACED_PLUS,
  NOT_ALONE,
  NTH_OUT_OF_RANGE,
  OK,
  SMALL_LETTER,
} from './status'

/** The answer when the next byte starts nothing special. */
export const NOTHING: i32 = -1

/** The most days before a month's last. */
const BEFORE_LAST_MAX: u32 = 30

/** Reads an item that starts with L; a status, or NOTHING. */
export function readLast(field: i32, fieldStart: i32): i32 {
  const start = index()
  if (field == DAY_OF_WEEK && take(LETTER_L)) return refuseWord(BARE_LAST, field, start)
  if (field != DAY_OF_MONTH || !take(LETTER_L)) return NOTHING
  if (take(LETTER_W)) return setNearest(LAST_WEEKDAY, start, fieldStart)
  let before: u32 = 0
  if (take(DASH)) {
    const numberStart = index()
    if (!isDigit(peek())) return refuseNext(field)
    before = readNumber()
    if (before > BEFORE_LAST_MAX) return refuse(BEFORE_LAST_OUT_OF_RANGE, field, numberStart)
  }
  store<u32>(OUT_FROM_END, load<u32>(OUT_FROM_END) | (<u32>0x80000000 >> before))
  return OK
}

/** Reads what makes the value read since `start` special; a status, or NOTHING. */
export function readSuffix(field: i32, value: i32, start: i32, fieldStart: i32): i32 {
  if (field == DAY_OF_MONTH && take(LETTER_W)) return setNearest(value, start, fieldStart)
  if (field != DAY_OF_WEEK) return NOTHING
  const weekday = <u32>value % 7
  if (take(LETTER_L)) return setLast(weekday)
  if (!take(HASH)) return NOTHING
  if (take(LETTER_L)) return setLast(weekday)
  const numberStart = index()
  if (!isDigit(peek())) return refuseNext(field)
  const nth = readNumber()
  if (nth < 1 || nth > 5) return refuse(NTH_OUT_OF_RANGE, field, numberStart)
  store<u64>(OUT_NTH, load<u64>(OUT_NTH) | (<u64>1 << ((nth - 1) * 7 + weekday)))
  return OK
}

/** Refuses the next byte, and says what is meant when that is known. */
export function refuseOdd(field: i32, fieldStart: i32): i32 {
  const char = peek()
  const start = index()
  if (char == PLUS) return refuseBetween(MISPLACED_PLUS, field, start, start + 1)
  const capital = char & ~SMALL
  const isDayLetter = capital == LETTER_L || (capital == LETTER_W && field == DAY_OF_MONTH)
  if (char == LETTER_W && field == DAY_OF_MONTH) return refuseWord(NOT_ALONE, field, fieldStart)
  if (char != capital && (isDayLetter || capital == LETTER_H)) {
    return refuseWord(SMALL_LETTER, field, start)
  }
  return refuseNext(field)
}

function setLast(weekday: u32): i32 {
  store<u32>(OUT_LAST, load<u32>(OUT_LAST) | (1 << weekday))
  return OK
}

/** A day with W has the field to itself. */
function setNearest(day: i32, start: i32, fieldStart: i32): i32 {
  if (start != fieldStart || !endsField(peek())) {
    return refuse(NOT_ALONE, DAY_OF_MONTH, start)
  }
  store<i32>(OUT_NEAREST, day)
  return OK
}
