// One row per field: its bounds. Also where a field's words will be told apart from its numbers.

/** Fields of the standard dialect, in the order they stand in the text. */
export const MINUTE: i32 = 0
export const HOUR: i32 = 1
export const DAY_OF_MONTH: i32 = 2
export const MONTH: i32 = 3
export const DAY_OF_WEEK: i32 = 4
export const FIELD_COUNT: i32 = 5
/** Named in errors about the expression as a whole. */
export const EXPRESSION: i32 = 5

// Lowest and highest value of each field, a byte each, lowest field in the lowest byte.
const LOWEST: u64 = 0x00_01_01_00_00
const HIGHEST: u64 = 0x07_0c_1f_17_3b

// @ts-ignore: decorator
@inline
export function lowest(field: i32): u32 {
  return <u32>(LOWEST >> (field << 3)) & 0xff
}
// @ts-ignore: decorator
@inline
export function highest(field: i32): u32 {
  return <u32>(HIGHEST >> (field << 3)) & 0xff
}
