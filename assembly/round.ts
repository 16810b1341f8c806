// From f64 to whole numbers without the instruction for it, which rounds, checks and saturates, and
// takes longer than the rest of a search's arithmetic together.

/** 1.5 × 2^52: a number so large that a sum with it keeps whole numbers only, in its low bits. */
const SHIFTER: f64 = 6755399441055744
/** Its bits. */
const SHIFTER_BITS: i64 = 0x4338000000000000
/** A hair less than a half, so that rounding a whole number less this is no tie. */
const HALF: f64 = 0.5 - 1e-6

/** A whole number as an integer, for |value| < 2^51. */
// @ts-ignore: decorator
@inline
export function whole(value: f64): i64 {
  return reinterpret<i64>(value + SHIFTER) - SHIFTER_BITS
}

/** The whole number below `value`, for |value| < 2^31, or the one above it when it is close. */
// @ts-ignore: decorator
@inline
export function nearFloor(value: f64): i32 {
  return <i32>reinterpret<i64>(value - HALF + SHIFTER)
}
