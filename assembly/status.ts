// Result codes that cross the border. Words are added in bindings/errors.ts.

/** The text was compiled. */
export const OK: i32 = 0
/** The text ends before its last field. */
export const TOO_FEW_FIELDS: i32 = 1
/** More text follows the last field. */
export const TOO_MANY_FIELDS: i32 = 2
/** A byte that has no place here. */
export const UNEXPECTED: i32 = 3
/** Nothing stands where a list item must. */
export const EMPTY_ITEM: i32 = 4
/** A value outside the field's bounds. */
export const OUT_OF_RANGE: i32 = 5
/** A range that ends before it starts. */
export const INVERTED_RANGE: i32 = 6
/** A step of zero. */
export const ZERO_STEP: i32 = 7
/** A step on a single value. */
export const STEP_ON_VALUE: i32 = 8
/** No selected month has any of the selected days. */
export const IMPOSSIBLE_DAY: i32 = 9

// The others come from the extended dialect alone.

/** Letters that are no name of this field. */
export const UNKNOWN_NAME: i32 = 10
/** An `@` with no known word behind it, or something behind the word. */
export const UNKNOWN_MACRO: i32 = 11
/** A `W` beside other items. */
export const NOT_ALONE: i32 = 12
/** A small letter where its capital has a meaning. */
export const SMALL_LETTER: i32 = 13
/** An `L` in day of week without its day. */
export const BARE_LAST: i32 = 14
/** An n-th weekday that no month has. */
export const NTH_OUT_OF_RANGE: i32 = 15
/** More days before a month's last than any month has. */
export const BEFORE_LAST_OUT_OF_RANGE: i32 = 16
/** An `H` without a seed. */
export const NO_SEED: i32 = 17
/** A `+` that does not open the day of week. */
export const MISPLACED_PLUS: i32 = 18

/** A batch item names no expression of this batch. */
export const UNKNOWN_ID: i32 = 32
/** A batch item's instant is not one that a Date can hold. */
export const INVALID_INSTANT: i32 = 33
/** The zone's table lacks the chunk named in the output area; install it and ask again. */
export const MISSING_CHUNK: i32 = 34
/** A batch has as many expressions as it can number. */
export const TOO_MANY_IDS: i32 = 35
