// How a text is refused: the status is returned, the field and the place go to the output area.

import { OUT_END, OUT_FIELD, OUT_START } from './abi'
import { COMMA, END, endsField, isLetter } from './char'
import { index, peek, skip } from './cursor'
import { EMPTY_ITEM, STEP_ON_VALUE, UNEXPECTED } from './status'

/** Refuses the bytes `start..end`. */
export function refuseBetween(status: i32, field: i32, start: i32, end: i32): i32 {
  store<i32>(OUT_FIELD, field)
  store<i32>(OUT_START, start)
  store<i32>(OUT_END, end)
  return status
}

/** Refuses the text from `start` on: up to the cursor, or to the next blank when it is there. */
export function refuse(status: i32, field: i32, start: i32): i32 {
  if (index() == start || status == STEP_ON_VALUE) {
    while (!endsField(peek())) skip()
  }
  return refuseBetween(status, field, start, index())
}

/** Refuses the letters that follow, and what was read since `start`. */
export function refuseWord(status: i32, field: i32, start: i32): i32 {
  while (isLetter(peek())) skip()
  return refuseBetween(status, field, start, index())
}

/** Refuses the next byte: it has no place here, or an item is missing before it. */
export function refuseNext(field: i32): i32 {
  const char = peek()
  const status = endsField(char) || char == COMMA ? EMPTY_ITEM : UNEXPECTED
  return refuseBetween(status, field, index(), index() + i32(char != END))
}
