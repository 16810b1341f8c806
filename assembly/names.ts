// Names of months and weekdays, three letters in any case.

import { LETTER_L, SMALL, isLetter } from './char'
import { index, peek, skip } from './cursor'
import { DAY_OF_WEEK, MONTH, lowest } from './field'
import { refuseWord } from './refusal'
import { UNKNOWN_NAME } from './status'

const MONTH_NAMES = 'JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC'
const WEEKDAY_NAMES = 'SUNMONTUEWEDTHUFRISAT'

/** Reads a month or a weekday, behind which an L may stand; the complement of a status. */
export function readName(field: i32): i32 {
  const start = index()
  const names = field == MONTH ? MONTH_NAMES : WEEKDAY_NAMES
  let letters: u64 = 0
  for (let i = 0; i < 3 && isLetter(peek()); i++) {
    letters |= <u64>(peek() & ~SMALL) << (i << 4)
    skip()
  }
  const count = names.length / 3
  for (let i = 0; i < count; i++) {
    // A character takes 16 bits; the fourth is the next name's.
    const name = load<u64>(changetype<usize>(names) + <usize>(i * 6)) & 0xffffffffffff
    if (name != letters) continue
    const isLast = field == DAY_OF_WEEK && (peek() & ~SMALL) == LETTER_L
    return isLetter(peek()) && !isLast ? ~refuseWord(UNKNOWN_NAME, field, start) : i + lowest(field)
  }
  return ~refuseWord(UNKNOWN_NAME, field, start)
}
