// A zone's offsets as segments: stretches of time with one offset. Built by the host in chunks of
// some eight years, installed here, found without a search.
//
// A zone is a directory of chunk addresses, 0 where a chunk is missing. A chunk is a table of
// buckets (which segment holds the bucket's start) and its segments. A chunk's table reaches MARGIN
// beyond both its ends, so that whatever a transition does to wall times near an end is seen from
// the inside. Where no transition is within the margin, a segment simply starts or ends there
// with a change of 0.

import { OUT_CHUNK, OUT_ZONE, allocate, scratch } from './abi'
import { DAY_MS } from './calendar'
import { whole } from './round'

/** A bucket is 2^33 ms, some 99 days; a chunk is 32 of them. */
const BUCKET_MS_BITS: i64 = 33
const BUCKET_MS: f64 = <f64>(<u64>1 << BUCKET_MS_BITS)
const BUCKET_BITS: i32 = 5
const BUCKETS: i32 = 1 << BUCKET_BITS

export const CHUNK_MS: f64 = BUCKET_MS * <f64>BUCKETS
/** What a chunk's table reaches beyond both ends, ms: more than two offsets can differ by. */
export const MARGIN: f64 = 2 * DAY_MS
/** The chunks of a zone, from the years 800 to 2900 or so; search.ts never looks beyond. */
export const CHUNK_FIRST: i32 = -136
export const CHUNK_COUNT: i32 = 248

// A segment, f64 all: 0 start, 8 and 16 the bounds between which no transition is felt, 24 offset,
// 32 change (its offset less the one before), 40 end, 48 the change there. One line of the cache.
const SEGMENT_SIZE: usize = 64
const SEGMENTS: usize = <usize>BUCKETS * 2

/** First instant of the segment; the end of the one before. */
// @ts-ignore: decorator
@inline
export function startOf(segment: usize): f64 {
  return load<f64>(segment)
}
/** First instant of the next segment. */
// @ts-ignore: decorator
@inline
export function endOf(segment: usize): f64 {
  return load<f64>(segment, 40)
}
/** From here on no gap or fold at the segment's start is felt. */
// @ts-ignore: decorator
@inline
export function plainFrom(segment: usize): f64 {
  return load<f64>(segment, 8)
}
/** Until here no fold at the segment's end is felt. */
// @ts-ignore: decorator
@inline
export function plainUntil(segment: usize): f64 {
  return load<f64>(segment, 16)
}
/** Wall time minus UTC, ms. */
// @ts-ignore: decorator
@inline
export function offsetOf(segment: usize): f64 {
  return load<f64>(segment, 24)
}
/** How the offset changes at the start: a gap when positive, a fold when negative. */
// @ts-ignore: decorator
@inline
export function changeAt(segment: usize): f64 {
  return load<f64>(segment, 32)
}
/** How the offset changes at the end. */
// @ts-ignore: decorator
@inline
export function changeAfter(segment: usize): f64 {
  return load<f64>(segment, 48)
}

/** A new zone without chunks. */
export function addZone(): usize {
  return allocate(CHUNK_COUNT * 4)
}

/** A new zone whose offset (ms) never changes: one segment serves all chunks. */
export function addFixedZone(offset: i32): usize {
  const zone = addZone()
  const chunk = allocate(chunkSize(1))
  writeSegment(chunk, 0, -Infinity, <f64>offset, 0)
  closeTable(chunk, 1, Infinity)
  for (let i = 0; i < CHUNK_COUNT; i++) store<u32>(zone + (<usize>i << 2), <u32>chunk)
  return zone
}

/**
 * Where the host writes what `installChunk` reads: `count` pairs of f64, an instant and the
 * offset (ms) from then on. The first pair is for the start of the chunk's reach, which lies MARGIN
 * before the chunk; the others are the transitions up to MARGIN behind its end.
 */
export function chunkInput(count: i32): usize {
  const size = chunkSize(count)
  return scratch(size + <usize>count * 16) + size
}

/** Installs chunk `index` (as named by a missing-chunk answer) from the pairs at `chunkInput`. */
export function installChunk(zone: usize, index: i32, count: i32): void {
  const chunk = allocate(chunkSize(count))
  let pair = scratch(<usize>count * 16)
  let offset = load<f64>(pair, 8)
  for (let i = 0; i < count; i++) {
    const before = offset
    offset = load<f64>(pair, 8)
    writeSegment(chunk, i, load<f64>(pair), offset, offset - before)
    pair += 16
  }
  const start = <f64>(index + CHUNK_FIRST) * CHUNK_MS
  closeTable(chunk, count, start + CHUNK_MS + MARGIN)
  fillBuckets(chunk, start)
  store<u32>(zone + (<usize>index << 2), <u32>chunk)
}

/** Bytes of a chunk with `count` segments. */
function chunkSize(count: i32): usize {
  return SEGMENTS + <usize>count * SEGMENT_SIZE
}

function segmentOf(chunk: usize, index: i32): usize {
  return chunk + SEGMENTS + <usize>index * SEGMENT_SIZE
}

function writeSegment(chunk: usize, index: i32, start: f64, offset: f64, change: f64): void {
  const segment = segmentOf(chunk, index)
  store<f64>(segment, start)
  store<f64>(segment, start + abs<f64>(change), 8)
  store<f64>(segment, offset, 24)
  store<f64>(segment, change, 32)
}

/** Writes where each segment ends, what changes there, and until when it is plain. */
function closeTable(chunk: usize, count: i32, tableEnd: f64): void {
  for (let i = 0; i < count; i++) {
    const segment = segmentOf(chunk, i)
    const next = segment + SEGMENT_SIZE
    const isLast = i == count - 1
    const end = isLast ? tableEnd : startOf(next)
    const change = isLast ? 0 : changeAt(next)
    store<f64>(segment, end + min<f64>(change, 0), 16)
    store<f64>(segment, end, 40)
    store<f64>(segment, change, 48)
  }
}

function fillBuckets(chunk: usize, start: f64): void {
  let index: i32 = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const from = start + <f64>bucket * BUCKET_MS
    while (endOf(segmentOf(chunk, index)) <= from) index++
    store<u16>(chunk + (<usize>bucket << 1), <u16>index)
  }
}

/** The segment that holds an instant, or 0 when the chunk is missing and named in the output. */
// @ts-ignore: decorator
@inline
export function segmentAt(zone: usize, instant: f64): usize {
  const bucket = <i32>(whole(instant) >> BUCKET_MS_BITS) - CHUNK_FIRST * BUCKETS
  const index = bucket >> BUCKET_BITS
  const chunk = <usize>load<u32>(zone + (<usize>index << 2))
  if (!chunk) {
    store<u32>(OUT_ZONE, <u32>zone)
    store<i32>(OUT_CHUNK, index)
    return 0
  }
  const number = load<u16>(chunk + (<usize>(bucket & (BUCKETS - 1)) << 1))
  let segment = segmentOf(chunk, number)
  while (endOf(segment) <= instant) segment += SEGMENT_SIZE
  return segment
}
