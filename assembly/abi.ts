// The border with the host: where input, output and tables lie, and how memory is handed out. The
// only file with addresses; the host reads them from the exported globals, never from a twin.

/** Facts about the last call: where a text was refused, or which chunk of a zone is missing. */
export const OUTPUT: usize = 0
/** Output words of `compile`: field, start and end of the offending text, and what it held. */
export const OUT_FIELD: usize = OUTPUT
export const OUT_START: usize = OUTPUT + 4
export const OUT_END: usize = OUTPUT + 8
/** Output words of a text that was compiled: how many fields it had, none for `@reboot`. */
export const OUT_FIELD_COUNT: usize = OUTPUT + 12
/** Output words of every search: the zone that lacks a chunk, and which. */
export const OUT_ZONE: usize = OUTPUT + 24
export const OUT_CHUNK: usize = OUTPUT + 28
/** Days that the text tells from the end of a month or by its weeks; days.ts says how. */
export const OUT_FROM_END: usize = OUTPUT + 32
export const OUT_NEAREST: usize = OUTPUT + 36
export const OUT_NTH: usize = OUTPUT + 40
export const OUT_LAST: usize = OUTPUT + 48
/** The record that a batch compiles into before it is interned; 64 bytes. */
export const DRAFT: usize = 64

/** What the parser has read: a mask (u64) a field, the year's as four. The host reads it too. */
export const MASKS: usize = 128
/** Sets of equal items (pool.ts): the records of a batch, and their tails. */
export const RECORD_POOL: usize = 208
export const TAIL_POOL: usize = 224
/** The table of months (calendar.ts): 4,800 words. */
export const MONTHS: usize = 256
/** The tail of the record at DRAFT. The compiler's constants follow (memoryBase in asconfig). */
const DRAFT_TAIL: usize = 19456
/** Compiled records of single expressions; the host decides whose record stands in which slot. */
export const SLOTS: usize = 20480
export const SLOT_COUNT: i32 = 1024
/** One record; a batch's records lie in blocks of the heap. */
export const RECORD_SIZE: i32 = 64
/** What a record points to when its days or years need more room (record.ts). */
export const TAIL_SIZE: i32 = 144

/** The first address that `allocate` hands out. */
const HEAP: usize = SLOTS + <usize>(SLOT_COUNT * RECORD_SIZE)

let heapTop: usize = HEAP
let slotTails: usize = 0

/** Makes sure that memory reaches `end`. Traps when the host has none left. */
function reach(end: usize): void {
  const pages = <i32>((end + 0xffff) >>> 16)
  const missing = pages - memory.size()
  // Growing by an eighth more saves most of the growing; the pages stay untouched until used.
  if (missing > 0 && memory.grow(missing + (pages >>> 3)) < 0 && memory.grow(missing) < 0) {
    unreachable()
  }
}

/** Hands out zeroed memory for good, aligned to lines of the cache. */
export function allocate(size: usize): usize {
  const address = heapTop
  const end = address + ((size + 63) & ~63)
  // Before anything is taken, so that a trap leaves all as it was.
  reach(end)
  heapTop = end
  memory.fill(address, 0, size)
  return address
}

/** Room for the input of one call; the next allocation may overwrite it. */
export function scratch(size: usize): usize {
  reach(heapTop + size)
  return heapTop
}

/** Where the tail of a record at DRAFT or in a slot lies. May allocate. */
export function tailFor(record: usize): usize {
  if (record == DRAFT) return DRAFT_TAIL
  if (!slotTails) slotTails = allocate(<usize>(SLOT_COUNT * TAIL_SIZE))
  return slotTails + ((record - SLOTS) / RECORD_SIZE) * TAIL_SIZE
}
