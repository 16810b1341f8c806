// One row per field: its bounds, and where it starts over.

/** Fields in the order they stand in a text of seven; one of five has no second and no year. */
export const SECOND: i32 = 0
export const MINUTE: i32 = 1
export const HOUR: i32 = 2
export const DAY_OF_MONTH: i32 = 3
export const MONTH: i32 = 4
export const DAY_OF_WEEK: i32 = 5
export const YEAR: i32 = 6
/** Named in errors about the expression as a whole. */
export const EXPRESSION: i32 = 7

/** Years are counted from here. */
export const YEAR_FIRST: i32 = 1970

// Lowest and highest value of each field, a byte each, the first field in the lowest byte.
const LOWEST: u64 = 0x00_00_01_01_00_00_00
const HIGHEST: u64 = 0xe5_07_0c_1f_17_3b_3b

// @ts-ignore: decorator
@inline
export function lowest(field: i32): i32 {
  return <i32>(LOWEST >> (field << 3)) & 0xff
}
// @ts-ignore: decorator
@inline
export function highest(field: i32): i32 {
  return <i32>(HIGHEST >> (field << 3)) & 0xff
}
/** After how many values a field starts over; 7 in day of week is Sunday again. */
export function sizeOf(field: i32): i32 {
  return field == DAY_OF_WEEK ? 7 : highest(field) - lowest(field) + 1
}
/** What a number in the text counts from. */
// @ts-ignore: decorator
@inline
export function baseOf(field: i32): i32 {
  return field == YEAR ? YEAR_FIRST : 0
}
// @ts-ignore: decorator
@inline
export function hasNames(field: i32): bool {
  return field == MONTH || field == DAY_OF_WEEK
}
// @ts-ignore: decorator
@inline
export function isDayField(field: i32): bool {
  return field == DAY_OF_MONTH || field == DAY_OF_WEEK
}
