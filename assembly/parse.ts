// Expression text to a compiled record, or a status with field and position in the output area
// (SPEC §1.1 to §1.3). Reads each byte once, and in the extended dialect once more to count fields.

import { MASKS, OUT_FIELD_COUNT, tailFor } from './abi'
import { rangeMask } from './bits'
import { longestMonth } from './calendar'
import { AT, END, PLUS, QUESTION, STAR, endsField } from './char'
import { index, open, peek, skip, skipBlanks, take } from './cursor'
import { anyDay, clearDays, needLength, writeDays, writeTailDays } from './days'
import {
  DAY_OF_MONTH,
  DAY_OF_WEEK,
  EXPRESSION,
  HOUR,
  MINUTE,
  MONTH,
  SECOND,
  YEAR,
  isDayField,
} from './field'
import { setSeed } from './hashed'
import { REBOOT, readMacro } from './macro'
import { readExtendedField, readStandardField } from './item'
import {
  FOLD_FIRST,
  GAP_SHIFT,
  HAS_SECONDS,
  setNever,
  setPlace,
  setTail,
  setTime,
  setYears,
} from './record'
import { refuse, refuseBetween } from './refusal'
import { maskOf } from './selection'
import { IMPOSSIBLE_DAY, OK, TOO_FEW_FIELDS, TOO_MANY_FIELDS } from './status'

/** A bit of the rules that `compile` is given. */
const EXTENDED: u32 = 16

// What the last text was found to be.
/** The fields whose text starts with a star, a bit each. */
let starred: u32 = 0
/** A `+` before the day of week: a date must match both day fields. */
let isJoined: bool = false
let firstField: i32 = MINUTE
let lastField: i32 = DAY_OF_WEEK

// @ts-ignore: decorator
@inline
function isStarred(field: i32): bool {
  return ((starred >> field) & 1) != 0
}

/**
 * Compiles the text at `text` into `record`. `rules` holds the gap policy (0 for the hour field's
 * default, 1 to shift, 2 to skip), the fold policy (0 for the default, 1 for the first pass, 2 for
 * the second, 3 for both) and the dialect. The extended dialect reads the seed, `seedLength` bytes
 * behind the text, -1 for none. On failure the record may hold anything and the output area says
 * which field, and from where to where in the text.
 */
export function compile(
  record: usize,
  text: usize,
  length: i32,
  seedLength: i32,
  zone: u32,
  rules: u32,
): i32 {
  const extended = (rules & EXTENDED) != 0
  if (extended) setSeed(text + <usize>length, seedLength)
  const status = read(text, length, extended)
  if (status != OK) return status
  const wildcard = isStarred(HOUR)
  const gap = rules & 3
  const fold = (rules >> 2) & 3
  const shifts = gap ? gap == 1 : !wildcard
  const passes: u32 = fold ? fold : wildcard ? 3 : 1
  // The bits of `fold` are in the order of the flags.
  let flags = (shifts ? GAP_SHIFT : 0) | (passes * FOLD_FIRST)
  if (firstField == SECOND) flags |= HAS_SECONDS

  const weekdays = <u32>maskOf(DAY_OF_WEEK)
  // 7 is Sunday too.
  const week = (weekdays | (weekdays >> 7)) & 0x7f
  const days = <u32>(maskOf(DAY_OF_MONTH) >> 1)
  const months = <u32>(maskOf(MONTH) >> 1)
  const both = isJoined || isStarred(DAY_OF_MONTH) || isStarred(DAY_OF_WEEK)
  const seconds = firstField == SECOND ? maskOf(SECOND) : 1
  setTime(record, seconds, maskOf(MINUTE), <u32>maskOf(HOUR), months)
  setPlace(record, flags, zone)
  if (lastField == YEAR || needLength()) {
    const tail = tailFor(record)
    setTail(record, tail)
    writeTailDays(tail, days, week, both)
    if (lastField == YEAR) setYears(record, MASKS + (<usize>YEAR << 3))
  } else {
    writeDays(record, days, week, both)
  }
  if (extended && !anyDay(record)) setNever(record, tailFor(record))
  return OK
}

function read(text: usize, length: i32, extended: bool): i32 {
  open(text, length)
  starred = 0
  isJoined = false
  firstField = MINUTE
  lastField = DAY_OF_WEEK
  clearDays()
  if (extended) {
    skipBlanks()
    if (peek() == AT) {
      const stars = readMacro()
      if (stars < 0) return ~stars
      starred = stars
      store<i32>(OUT_FIELD_COUNT, stars == REBOOT ? 0 : 5)
      return OK
    }
    const count = countFields()
    if (count > 5) firstField = SECOND
    if (count > 6) lastField = YEAR
    open(text, length)
  }
  let daysStart: i32 = 0
  let daysEnd: i32 = 0
  for (let field = firstField; field <= lastField; field++) {
    skipBlanks()
    if (peek() == END) return refuse(TOO_FEW_FIELDS, EXPRESSION, index())
    const start = index()
    if (peek() == STAR || (extended && isDayField(field) && peek() == QUESTION)) {
      starred |= 1 << field
    } else if (extended && field == DAY_OF_WEEK) {
      isJoined = take(PLUS)
    }
    const status = extended ? readExtendedField(field) : readStandardField(field)
    if (status != OK) return status
    if (field == DAY_OF_MONTH) {
      daysStart = start
      daysEnd = index()
    }
  }
  store<i32>(OUT_FIELD_COUNT, lastField - firstField + 1)
  skipBlanks()
  if (peek() != END) return refuse(TOO_MANY_FIELDS, EXPRESSION, index())
  if (!extended && isStarred(DAY_OF_WEEK) && !anyMonthHasDay()) {
    return refuseBetween(IMPOSSIBLE_DAY, DAY_OF_MONTH, daysStart, daysEnd)
  }
  return OK
}

/** Steps over the text; how many fields it has. */
function countFields(): i32 {
  let count: i32 = 0
  while (true) {
    skipBlanks()
    if (peek() == END) return count
    count++
    while (!endsField(peek())) skip()
  }
}

/** Whether any selected month has any selected day, in some year. */
function anyMonthHasDay(): bool {
  for (let month: u32 = 0; month < 12; month++) {
    if (!((maskOf(MONTH) >> (month + 1)) & 1)) continue
    if (maskOf(DAY_OF_MONTH) & rangeMask(1, longestMonth(month))) return true
  }
  return false
}
