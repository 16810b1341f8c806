// Sets of small numbers as masks, and the sets of a range or a step.

/** The numbers `low..high`, for 0 <= low <= high <= 63. */
// @ts-ignore: decorator
@inline
export function rangeMask(low: u32, high: u32): u64 {
  return (<u64>-1 << low) & (<u64>-1 >> (63 - high))
}

/** The numbers `low, low + step, …` up to `high`, for 0 <= low <= high <= 63 and step >= 1. */
export function stepMask(low: u32, high: u32, step: u32): u64 {
  if (step == 1) return rangeMask(low, high)
  let mask = <u64>1 << low
  // Compared before adding, so that a step of any size cannot wrap.
  while (step <= high - low) {
    low += step
    mask |= <u64>1 << low
  }
  return mask
}

/** The members above `index`, for 0 <= index <= 63. */
// @ts-ignore: decorator
@inline
export function above(mask: u64, index: u32): u64 {
  return mask & (<u64>-2 << index)
}

/** The members below `index`, for 0 <= index <= 63. */
// @ts-ignore: decorator
@inline
export function below(mask: u64, index: u32): u64 {
  return mask & ((<u64>1 << index) - 1)
}

/** The smallest member of a set that is not empty. */
// @ts-ignore: decorator
@inline
export function first(mask: u64): i32 {
  return <i32>ctz(mask)
}

/** The largest member of a set that is not empty. */
// @ts-ignore: decorator
@inline
export function last(mask: u64): i32 {
  return 63 - <i32>clz(mask)
}
