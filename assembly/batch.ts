// Many expressions of one instance, and many questions at once. Equal records are one, and so are
// equal tails; an expression's id is the number of its record.

import {
  DRAFT,
  RECORD_POOL,
  RECORD_SIZE,
  TAIL_POOL,
  TAIL_SIZE,
  scratch,
} from './abi'
import { compile } from './parse'
import { ITEMS_MAX, countOf, intern as internItem, itemAt } from './pool'
import { next } from './query'
import { HAS_TAIL, flagsOf, setTailAddress, tailOf } from './record'
import { MISSING } from './search'
import { INVALID_INSTANT, MISSING_CHUNK, OK, TOO_MANY_IDS, UNKNOWN_ID } from './status'

const INSTANT_MAX: f64 = 8.64e15
const HORIZON_YEARS: i32 = 4

/** Items that one `batchNext` takes. */
export const BATCH_ITEMS: i32 = 4096

/** Where the host writes ids (u32), and behind them instants (f64, ms), which answers replace. */
export function batchInput(): usize {
  return scratch(BATCH_ITEMS * 12)
}

/**
 * The id of an expression (0 or more), or the complement of the status that refused it; arguments
 * as for `compile`.
 */
export function intern(text: usize, length: i32, seedLength: i32, zone: u32, rules: u32): i32 {
  const status = compile(DRAFT, text, length, seedLength, zone, rules)
  if (status != OK) return ~status
  // A tail stands for one record or more, so that its pool is never the one that is full.
  if (countOf(RECORD_POOL) == ITEMS_MAX) return ~TOO_MANY_IDS
  if (flagsOf(DRAFT) & HAS_TAIL) {
    const tail = internItem(TAIL_POOL, tailOf(DRAFT), TAIL_SIZE)
    setTailAddress(DRAFT, itemAt(TAIL_POOL, tail, TAIL_SIZE))
  }
  return internItem(RECORD_POOL, DRAFT, RECORD_SIZE)
}

/** The record of an id, or 0 when there is none. */
export function recordOfId(id: u32): usize {
  return id < countOf(RECORD_POOL) ? recordOf(id) : 0
}

/** How far the last `batchNext` came, and why it stopped there. */
export let batchDone: i32 = 0

/** Answers items `done` to `items` of the input in place; returns OK or why it stopped. */
export function batchNext(done: i32, items: i32): i32 {
  const ids = batchInput()
  const instants = ids + BATCH_ITEMS * 4
  for (; done < items; done++) {
    const id = load<u32>(ids + (<usize>done << 2))
    const at = instants + (<usize>done << 3)
    const from = load<f64>(at)
    batchDone = done
    if (id >= countOf(RECORD_POOL)) return UNKNOWN_ID
    // Written so that NaN is refused too.
    if (!(abs<f64>(from) <= INSTANT_MAX)) return INVALID_INSTANT
    const run = next(recordOf(id), from, HORIZON_YEARS)
    if (run == MISSING) return MISSING_CHUNK
    store<f64>(at, run)
  }
  batchDone = done
  return OK
}

// @ts-ignore: decorator
@inline
function recordOf(id: u32): usize {
  return itemAt(RECORD_POOL, id, RECORD_SIZE)
}
