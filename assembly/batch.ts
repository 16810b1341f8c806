// Many expressions of one instance, and many questions at once. Records are interned: equal ones
// are one, and ids count up from 0. They lie in blocks, so that growing moves nothing.

import { DRAFT, RECORD_SIZE, allocate, scratch } from './abi'
import { compile } from './parse'
import { next } from './query'
import { MISSING } from './search'
import { INVALID_INSTANT, MISSING_CHUNK, OK, UNKNOWN_ID } from './status'

const BLOCK_BITS: u32 = 10
const BLOCK_COUNT: i32 = 1 << 14
/** The most expressions that one batch holds: 2^24. */
const ID_MAX: i32 = BLOCK_COUNT << BLOCK_BITS
const INSTANT_MAX: f64 = 8.64e15
const HORIZON_YEARS: i32 = 4

let blocks: usize = 0
let count: i32 = 0
// Open addressing over ids plus one, 0 where free; at most half full.
let table: usize = 0
let tableMask: u32 = 0

/** Items that one `batchNext` takes. */
export const BATCH_ITEMS: i32 = 4096

/** Where the host writes ids (u32), and behind them instants (f64, ms), which answers replace. */
export function batchInput(): usize {
  return scratch(BATCH_ITEMS * 12)
}

/** The id of an expression (0 or more), or the complement of the status that refused it. */
export function intern(text: usize, length: i32, zone: u32, gap: u32, fold: u32): i32 {
  const status = compile(DRAFT, text, length, zone, gap, fold)
  if (status != OK) return ~status
  if (<u32>count * 2 >= tableMask) grow()
  let slot = hash(DRAFT) & tableMask
  for (;;) {
    const entry = load<u32>(table + (<usize>slot << 2))
    if (!entry) break
    if (!memory.compare(DRAFT, recordOf(entry - 1), RECORD_SIZE)) return entry - 1
    slot = (slot + 1) & tableMask
  }
  if (count == ID_MAX) unreachable()
  const id = count++
  if (!(id & ((1 << BLOCK_BITS) - 1))) {
    if (!blocks) blocks = allocate(<usize>BLOCK_COUNT * 4)
    store<u32>(blocks + (<usize>(id >> BLOCK_BITS) << 2), <u32>allocate(RECORD_SIZE << BLOCK_BITS))
  }
  memory.copy(recordOf(id), DRAFT, RECORD_SIZE)
  store<u32>(table + (<usize>slot << 2), id + 1)
  return id
}

/** The record of an id, or 0 when there is none. */
export function recordOfId(id: u32): usize {
  return id < <u32>count ? recordOf(id) : 0
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
    if (id >= <u32>count) return UNKNOWN_ID
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
  const block = <usize>load<u32>(blocks + (<usize>(id >> BLOCK_BITS) << 2))
  return block + <usize>((id & ((1 << BLOCK_BITS) - 1)) * RECORD_SIZE)
}

/** Mixes the eight words of a record, as FNV does with bytes, and folds the upper half down. */
function hash(record: usize): u32 {
  let mixed: u64 = 0xcbf29ce484222325
  for (let at: usize = 0; at < <usize>RECORD_SIZE; at += 8) {
    mixed = (mixed ^ load<u64>(record + at)) * 0x9e3779b97f4a7c15
    mixed ^= mixed >> 29
  }
  return <u32>mixed ^ <u32>(mixed >> 32)
}

function grow(): void {
  const size: u32 = tableMask ? (tableMask + 1) * 2 : 1024
  table = allocate(<usize>size * 4)
  tableMask = size - 1
  for (let id: i32 = 0; id < count; id++) {
    let slot = hash(recordOf(id)) & tableMask
    while (load<u32>(table + (<usize>slot << 2))) slot = (slot + 1) & tableMask
    store<u32>(table + (<usize>slot << 2), id + 1)
  }
}
