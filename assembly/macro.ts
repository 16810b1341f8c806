// The words behind `@`: each stands for a whole text.

import { rangeMask } from './bits'
import { END, endsField, isLetter } from './char'
import { index, peek, skip, skipBlanks } from './cursor'
import {
  DAY_OF_MONTH,
  DAY_OF_WEEK,
  EXPRESSION,
  HOUR,
  MINUTE,
  MONTH,
  highest,
  lowest,
} from './field'
import { refuse } from './refusal'
import { setMask } from './selection'
import { UNKNOWN_MACRO } from './status'

// The macros, a letter a byte, and the fields that each stars; others it leaves at their lowest.
const MACROS: StaticArray<u64> = [
  0x7965_6172_6c79, // yearly
  0x616e_6e75_616c_6c79, // annually
  0x6d_6f6e_7468_6c79, // monthly
  0x7765_656b_6c79, // weekly
  0x64_6169_6c79, // daily
  0x6d69_646e_6967_6874, // midnight
  0x686f_7572_6c79, // hourly
  0x7265_626f_6f74, // reboot
]
const YEARLY: i32 = 1 << DAY_OF_WEEK
const MONTHLY: i32 = (1 << MONTH) | (1 << DAY_OF_WEEK)
const WEEKLY: i32 = (1 << DAY_OF_MONTH) | (1 << MONTH)
const DAILY: i32 = WEEKLY | (1 << DAY_OF_WEEK)
const HOURLY: i32 = DAILY | (1 << HOUR)
/** What `readMacro` answers for `@reboot`, which names no time. */
export const REBOOT: i32 = 0
const STARS: StaticArray<i32> = [
  YEARLY, YEARLY, MONTHLY, WEEKLY, DAILY, DAILY, HOURLY, REBOOT,
]

/** Reads the word behind an `@`; the fields it stars, or the complement of a status. */
export function readMacro(): i32 {
  const start = index()
  skip()
  let word: u64 = 0
  // More letters than a word holds push the first ones out, which leaves no macro's.
  while (isLetter(peek())) {
    word = word >> 56 ? -1 : (word << 8) | peek()
    skip()
  }
  let macro = 0
  while (macro < MACROS.length && unchecked(MACROS[macro]) != word) macro++
  if (macro == MACROS.length || !endsField(peek())) {
    return ~refuse(UNKNOWN_MACRO, EXPRESSION, start)
  }
  skipBlanks()
  if (peek() != END) return ~refuse(UNKNOWN_MACRO, EXPRESSION, index())
  const stars = unchecked(STARS[macro])
  for (let field = MINUTE; field <= DAY_OF_WEEK; field++) {
    const low = lowest(field)
    const high = (stars >> field) & 1 ? highest(field) : low
    setMask(field, stars == REBOOT ? 0 : rangeMask(low, high))
  }
  return stars
}
