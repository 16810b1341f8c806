// What the items of all fields are made of: values and steps.

import { SLASH, isDigit, isLetter } from './char'
import { index, peek, readNumber, take } from './cursor'
import { baseOf, hasNames, highest, lowest } from './field'
import { readName } from './names'
import { refuse, refuseNext } from './refusal'
import { OUT_OF_RANGE, ZERO_STEP } from './status'

/** Reads a number of the field; the complement of a status on failure. */
// @ts-ignore: decorator
@inline
export function readNumberOf(field: i32): i32 {
  if (!isDigit(peek())) return ~refuseNext(field)
  const start = index()
  const value = <i32>readNumber() - baseOf(field)
  if (value < lowest(field) || value > highest(field)) return ~refuse(OUT_OF_RANGE, field, start)
  return value
}

/** Reads a number of the field, or a name where it has names; the complement of a status. */
export function readValue(field: i32): i32 {
  return hasNames(field) && isLetter(peek()) ? readName(field) : readNumberOf(field)
}

/** Reads a step if one follows; 0 when none does, the complement of a status on failure. */
export function readStep(field: i32): i32 {
  if (!take(SLASH)) return 0
  const start = index()
  if (!isDigit(peek())) return ~refuseNext(field)
  const step = <i32>readNumber()
  return step ? step : ~refuse(ZERO_STEP, field, start)
}
