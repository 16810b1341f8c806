// A set of items of one size, where equal ones are one. Items lie in blocks, so that growing moves
// nothing, and are numbered from 0. A pool's own words stand at an address of abi.ts: how many
// items there are, the addresses of the blocks and of the table, and the table's size less one.

import { allocate } from './abi'

const BLOCK_BITS: u32 = 10
const BLOCK_COUNT: i32 = 1 << 14
/** The most items of a pool: 2^24. Its user sees to it. */
export const ITEMS_MAX: i32 = BLOCK_COUNT << BLOCK_BITS

// @ts-ignore: decorator
@inline
export function countOf(pool: usize): u32 {
  return load<u32>(pool)
}
// @ts-ignore: decorator
@inline
function blocksOf(pool: usize): usize {
  return load<u32>(pool, 4)
}
// Open addressing over numbers plus one, 0 where free; at most half full.
// @ts-ignore: decorator
@inline
function tableOf(pool: usize): usize {
  return load<u32>(pool, 8)
}
// @ts-ignore: decorator
@inline
function tableMaskOf(pool: usize): u32 {
  return load<u32>(pool, 12)
}

/** The address of item `number`, which exists. */
// @ts-ignore: decorator
@inline
export function itemAt(pool: usize, number: u32, size: i32): usize {
  const block = <usize>load<u32>(blocksOf(pool) + (<usize>(number >> BLOCK_BITS) << 2))
  return block + <usize>((number & ((1 << BLOCK_BITS) - 1)) * size)
}

/** The number of the item equal to the `size` bytes at `draft`, which is added when it is new. */
export function intern(pool: usize, draft: usize, size: i32): u32 {
  const count = countOf(pool)
  if (count * 2 >= tableMaskOf(pool)) grow(pool, size)
  const mask = tableMaskOf(pool)
  let slot = hash(draft, size) & mask
  for (;;) {
    const entry = load<u32>(tableOf(pool) + (<usize>slot << 2))
    if (!entry) break
    if (!memory.compare(draft, itemAt(pool, entry - 1, size), size)) return entry - 1
    slot = (slot + 1) & mask
  }
  if (!(count & ((1 << BLOCK_BITS) - 1))) {
    if (!count) store<u32>(pool, <u32>allocate(<usize>BLOCK_COUNT * 4), 4)
    const block = <u32>allocate(<usize>size << BLOCK_BITS)
    store<u32>(blocksOf(pool) + (<usize>(count >> BLOCK_BITS) << 2), block)
  }
  store<u32>(pool, count + 1)
  memory.copy(itemAt(pool, count, size), draft, size)
  store<u32>(tableOf(pool) + (<usize>slot << 2), count + 1)
  return count
}

/** Mixes an item's words of 8 bytes, as FNV does with bytes, and folds the upper half down. */
function hash(item: usize, size: i32): u32 {
  let mixed: u64 = 0xcbf29ce484222325
  for (let at: usize = 0; at < <usize>size; at += 8) {
    mixed = (mixed ^ load<u64>(item + at)) * 0x9e3779b97f4a7c15
    mixed ^= mixed >> 29
  }
  return <u32>mixed ^ <u32>(mixed >> 32)
}

function grow(pool: usize, size: i32): void {
  const before = tableMaskOf(pool)
  const mask: u32 = before ? before * 2 + 1 : 1023
  const table = allocate(<usize>(mask + 1) * 4)
  store<u32>(pool, <u32>table, 8)
  store<u32>(pool, mask, 12)
  for (let number: u32 = 0; number < countOf(pool); number++) {
    let slot = hash(itemAt(pool, number, size), size) & mask
    while (load<u32>(table + (<usize>slot << 2))) slot = (slot + 1) & mask
    store<u32>(table + (<usize>slot << 2), number + 1)
  }
}
