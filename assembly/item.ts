// A field is a comma list of items. The forms that both dialects share, and the places where the
// extended one goes on where the standard one refuses.

import { rangeMask, stepMask } from './bits'
import { COMMA, DASH, LETTER_H, QUESTION, SLASH, STAR, endsField, isDigit, isLetter } from './char'
import { index, peek, take } from './cursor'
import { YEAR, hasNames, highest, isDayField, lowest, sizeOf } from './field'
import { readHashed } from './hashed'
import { refuse, refuseNext } from './refusal'
import { add, clear, setMask } from './selection'
import { NOTHING, readLast, readSuffix, refuseOdd } from './special'
import { INVERTED_RANGE, OK, STEP_ON_VALUE } from './status'
import { readNumberOf, readStep, readValue } from './value'

/** Reads a field of the standard dialect up to the blank or end behind it; a status. */
// @ts-ignore: decorator
@inline
export function readStandardField(field: i32): i32 {
  return readItems(field, false)
}

/** Reads a field of the extended dialect up to the blank or end behind it; a status. */
export function readExtendedField(field: i32): i32 {
  return readItems(field, true)
}

// Compiled once for each dialect, so that the standard one pays nothing for the other.
// @ts-ignore: decorator
@inline
function readItems(field: i32, extended: bool): i32 {
  const fieldStart = index()
  let mask: u64 = 0
  if (extended) clear(field)
  do {
    const start = index()
    let low = lowest(field)
    let high = highest(field)
    if (take(STAR)) {
      // The whole field.
    } else if (extended && isDayField(field) && take(QUESTION)) {
      // A star by another name.
    } else {
      if (extended && !isDigit(peek())) {
        const status =
          peek() == LETTER_H && field != YEAR ? readHashed(field) : readLast(field, fieldStart)
        if (status == OK) continue
        if (status != NOTHING) return status
        if (!hasNames(field) || !isLetter(peek())) return refuseOdd(field, fieldStart)
      }
      low = extended ? readValue(field) : readNumberOf(field)
      if (low < 0) return ~low
      if (take(DASH)) {
        high = extended ? readValue(field) : readNumberOf(field)
        if (high < 0) return ~high
        if (high < low) {
          if (!extended || field == YEAR) return refuse(INVERTED_RANGE, field, start)
          high += sizeOf(field)
        }
      } else if (peek() == SLASH) {
        if (!extended) return refuse(STEP_ON_VALUE, field, start)
      } else {
        high = low
        if (extended) {
          const status = readSuffix(field, low, start, fieldStart)
          if (status == OK) continue
          if (status != NOTHING) return status
        }
      }
    }
    const step = peek() == SLASH ? readStep(field) : 0
    if (step < 0) return ~step
    if (extended) add(field, low, high, max(step, 1))
    else mask |= step ? stepMask(low, high, step) : rangeMask(low, high)
  } while (take(COMMA))
  if (!extended) setMask(field, mask)
  if (endsField(peek())) return OK
  return extended ? refuseOdd(field, fieldStart) : refuseNext(field)
}
