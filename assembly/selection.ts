// What a text selects in each field: one mask, bit v for value v; for the years, counted from 0,
// four.

import { MASKS } from './abi'
import { stepMask } from './bits'
import { YEAR, highest, sizeOf } from './field'

/** The set of a field; the first word of the years. */
// @ts-ignore: decorator
@inline
export function maskOf(field: i32): u64 {
  return load<u64>(MASKS + (<usize>field << 3))
}

/** Replaces a field's set. */
// @ts-ignore: decorator
@inline
export function setMask(field: i32, mask: u64): void {
  store<u64>(MASKS + (<usize>field << 3), mask)
}

/** Empties a field's set. */
export function clear(field: i32): void {
  setMask(field, 0)
  if (field == YEAR) memory.fill(MASKS + (<usize>field << 3), 0, 32)
}

/**
 * Adds `low, low + step, …` up to `high` to a field's set. A value above the field's highest stands
 * for one beyond its end, where it starts over.
 */
export function add(field: i32, low: i32, high: i32, step: i32): void {
  if (field == YEAR) return addYears(low, high, step)
  if (high <= highest(field)) {
    setMask(field, maskOf(field) | stepMask(low, high, step))
    return
  }
  for (let value = low; value <= high; value += step) {
    const member = value > highest(field) ? value - sizeOf(field) : value
    setMask(field, maskOf(field) | (<u64>1 << member))
  }
}

/** The same for the years, a word at a time: a text of 1 MB may name all of them in each item. */
function addYears(low: i32, high: i32, step: i32): void {
  while (low <= high) {
    const start = low & ~63
    const end = min(high - start, 63)
    const word = MASKS + (<usize>YEAR << 3) + (<usize>(start >> 6) << 3)
    store<u64>(word, load<u64>(word) | stepMask(low - start, end, step))
    low += ((start + end - low) / step + 1) * step
  }
}
