// Expression text to a compiled record, or a status with field and position in the output area.
// Dialect `standard` (SPEC §1.1). Reads each byte once.

import { MASKS, OUT_DAYS, OUT_END, OUT_FIELD, OUT_START, OUT_WEEKDAYS } from './abi'
import { rangeMask, stepMask } from './bits'
import { longestMonth } from './calendar'
import { COMMA, DASH, END, SLASH, STAR, endsField, isDigit } from './char'
import { index, open, peek, readNumber, skip, skipBlanks, take } from './cursor'
import {
  DAY_OF_MONTH,
  DAY_OF_WEEK,
  EXPRESSION,
  FIELD_COUNT,
  HOUR,
  MINUTE,
  MONTH,
  highest,
  lowest,
} from './field'
import { FOLD_FIRST, FOLD_SECOND, GAP_SHIFT, setDays, setPlace, setTime } from './record'
import {
  EMPTY_ITEM,
  IMPOSSIBLE_DAY,
  INVERTED_RANGE,
  OK,
  OUT_OF_RANGE,
  STEP_ON_VALUE,
  TOO_FEW_FIELDS,
  TOO_MANY_FIELDS,
  UNEXPECTED,
  ZERO_STEP,
} from './status'

/** The fields whose text starts with a star, a bit each. */
let starred: u32 = 0

// @ts-ignore: decorator
@inline
function maskOf(field: i32): u64 {
  return load<u64>(MASKS + (<usize>field << 3))
}

function isStarred(field: i32): bool {
  return ((starred >> field) & 1) != 0
}

/**
 * Compiles the text at `text` into `record`. `gap` is 0 for the hour field's default, 1 to shift, 2
 * to skip; `fold` is 0 for the default, 1 for the first pass, 2 for the second, 3 for both. On
 * failure the record may hold anything and the output area says which field, and from where to
 * where in the text.
 */
export function compile(
  record: usize,
  text: usize,
  length: i32,
  zone: u32,
  gap: u32,
  fold: u32,
): i32 {
  const status = read(text, length)
  if (status != OK) return status
  const wildcard = isStarred(HOUR)
  const shifts = gap ? gap == 1 : !wildcard
  const passes: u32 = fold ? fold : wildcard ? 3 : 1
  // The bits of `fold` are in the order of the flags.
  const flags = (shifts ? GAP_SHIFT : 0) | (passes * FOLD_FIRST)

  const weekdays = <u32>maskOf(DAY_OF_WEEK)
  // 7 is Sunday too.
  const week = (weekdays | (weekdays >> 7)) & 0x7f
  const days = <u32>(maskOf(DAY_OF_MONTH) >> 1)
  const months = <u32>(maskOf(MONTH) >> 1)
  store<u32>(OUT_DAYS, days)
  store<u32>(OUT_WEEKDAYS, week)
  setTime(record, 1, maskOf(MINUTE), <u32>maskOf(HOUR), months)
  setDays(record, days, week, isStarred(DAY_OF_MONTH) || isStarred(DAY_OF_WEEK))
  setPlace(record, flags, zone)
  return OK
}

function read(text: usize, length: i32): i32 {
  open(text, length)
  starred = 0
  let daysStart: i32 = 0
  let daysEnd: i32 = 0
  for (let field = 0; field < FIELD_COUNT; field++) {
    skipBlanks()
    if (peek() == END) return refuse(TOO_FEW_FIELDS, EXPRESSION, index())
    const start = index()
    if (peek() == STAR) starred |= 1 << field
    const status = readField(field)
    if (status != OK) return status
    if (field == DAY_OF_MONTH) {
      daysStart = start
      daysEnd = index()
    }
  }
  skipBlanks()
  if (peek() != END) return refuse(TOO_MANY_FIELDS, EXPRESSION, index())
  if (isStarred(DAY_OF_WEEK) && !anyMonthHasDay()) {
    store<i32>(OUT_FIELD, DAY_OF_MONTH)
    store<i32>(OUT_START, daysStart)
    store<i32>(OUT_END, daysEnd)
    return IMPOSSIBLE_DAY
  }
  return OK
}

function readField(field: i32): i32 {
  let mask: u64 = 0
  do {
    const start = index()
    let low = lowest(field)
    let high = highest(field)
    if (take(STAR)) {
      // The whole field.
    } else if (isDigit(peek())) {
      low = high = readNumber()
      if (low < lowest(field) || low > highest(field)) return refuse(OUT_OF_RANGE, field, start)
      if (take(DASH)) {
        const end = index()
        if (!isDigit(peek())) return refuseNext(field)
        high = readNumber()
        if (high > highest(field)) return refuse(OUT_OF_RANGE, field, end)
        if (high < low) return refuse(INVERTED_RANGE, field, start)
      } else if (peek() == SLASH) {
        return refuse(STEP_ON_VALUE, field, start)
      }
    } else {
      return refuseNext(field)
    }
    if (take(SLASH)) {
      const stepStart = index()
      if (!isDigit(peek())) return refuseNext(field)
      const step = readNumber()
      if (step == 0) return refuse(ZERO_STEP, field, stepStart)
      mask |= stepMask(low, high, step)
    } else {
      mask |= rangeMask(low, high)
    }
  } while (take(COMMA))
  if (!endsField(peek())) return refuseNext(field)
  store<u64>(MASKS + (<usize>field << 3), mask)
  return OK
}

/** Whether any selected month has any selected day, in some year. */
function anyMonthHasDay(): bool {
  for (let month: u32 = 0; month < 12; month++) {
    if (!((maskOf(MONTH) >> (month + 1)) & 1)) continue
    if (maskOf(DAY_OF_MONTH) & rangeMask(1, longestMonth(month))) return true
  }
  return false
}

/** Refuses the text from `start` on: up to the cursor, or to the next blank when it is there. */
function refuse(status: i32, field: i32, start: i32): i32 {
  store<i32>(OUT_FIELD, field)
  store<i32>(OUT_START, start)
  if (index() == start || status == STEP_ON_VALUE) {
    while (!endsField(peek())) skip()
  }
  store<i32>(OUT_END, index())
  return status
}

/** Refuses the next byte: it has no place here, or an item is missing before it. */
function refuseNext(field: i32): i32 {
  const char = peek()
  store<i32>(OUT_FIELD, field)
  store<i32>(OUT_START, index())
  store<i32>(OUT_END, index() + i32(char != END))
  return endsField(char) || char == COMMA ? EMPTY_ITEM : UNEXPECTED
}
