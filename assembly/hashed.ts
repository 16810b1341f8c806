// H: a value that differs from seed to seed and stays the same for each. It is FNV-1a, in 32 bits,
// over the seed's UTF-8 bytes and the number of the field (field.ts), spread by the last steps of
// MurmurHash3 (fmix32), modulo how many values there are to choose from.

import { CLOSE, DASH, OPEN } from './char'
import { index, skip, take } from './cursor'
import { DAY_OF_MONTH, DAY_OF_WEEK, highest, lowest, sizeOf } from './field'
import { refuseBetween, refuseNext } from './refusal'
import { add } from './selection'
import { NO_SEED, OK } from './status'
import { readStep, readValue } from './value'

const FNV_BASIS: u32 = 2166136261
const FNV_PRIME: u32 = 16777619
/** Every month has this day; without a range H chooses none behind it. */
const DAY_MAX: i32 = 28

let isSeeded: bool = false
let seedHash: u32 = 0

/** Takes the seed of the text to come; a negative length says that it has none. */
export function setSeed(bytes: usize, length: i32): void {
  isSeeded = length >= 0
  seedHash = FNV_BASIS
  for (let i = 0; i < length; i++) seedHash = fold(seedHash, load<u8>(bytes + <usize>i))
}

/** Reads H, H(a-b), H/S or H(a-b)/S; a status. */
export function readHashed(field: i32): i32 {
  const start = index()
  skip()
  let low = lowest(field)
  let high = field == DAY_OF_MONTH ? DAY_MAX : field == DAY_OF_WEEK ? 6 : highest(field)
  if (take(OPEN)) {
    low = readValue(field)
    if (low < 0) return ~low
    if (!take(DASH)) return refuseNext(field)
    high = readValue(field)
    if (high < 0) return ~high
    if (!take(CLOSE)) return refuseNext(field)
    if (high < low) high += sizeOf(field)
  }
  const step = readStep(field)
  if (step < 0) return ~step
  if (!isSeeded) return refuseBetween(NO_SEED, field, start, index())
  const size = high - low + 1
  const chosen = low + <i32>(hashOf(field) % <u32>(step ? min(step, size) : size))
  add(field, chosen, step ? high : chosen, max(step, 1))
  return OK
}

function hashOf(field: i32): u32 {
  let hash = fold(seedHash, field)
  hash = (hash ^ (hash >>> 16)) * 0x85ebca6b
  hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35
  return hash ^ (hash >>> 16)
}

function fold(hash: u32, byte: u32): u32 {
  return (hash ^ byte) * FNV_PRIME
}
