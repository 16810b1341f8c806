// Names for the bytes of the grammar. The host maps every character beyond ASCII to `FOREIGN`.

export const TAB: u32 = 0x09
export const SPACE: u32 = 0x20
export const STAR: u32 = 0x2a
export const COMMA: u32 = 0x2c
export const DASH: u32 = 0x2d
export const SLASH: u32 = 0x2f
export const DIGIT_0: u32 = 0x30
export const FOREIGN: u32 = 0xff
/** What the cursor reads behind the last byte. */
export const END: u32 = 0x100

// @ts-ignore: decorator
@inline
export function isBlank(char: u32): bool {
  return char == SPACE || char == TAB
}

// @ts-ignore: decorator
@inline
export function isDigit(char: u32): bool {
  return char - DIGIT_0 < 10
}

/** Whether a field ends before this byte. */
// @ts-ignore: decorator
@inline
export function endsField(char: u32): bool {
  return char == END || isBlank(char)
}
