// Names for the bytes of the grammar. The host maps every character beyond ASCII to `FOREIGN`.

export const TAB: u32 = 0x09
export const SPACE: u32 = 0x20
export const HASH: u32 = 0x23
export const OPEN: u32 = 0x28
export const CLOSE: u32 = 0x29
export const STAR: u32 = 0x2a
export const PLUS: u32 = 0x2b
export const COMMA: u32 = 0x2c
export const DASH: u32 = 0x2d
export const SLASH: u32 = 0x2f
export const DIGIT_0: u32 = 0x30
export const QUESTION: u32 = 0x3f
export const AT: u32 = 0x40
export const LETTER_A: u32 = 0x41
export const LETTER_H: u32 = 0x48
export const LETTER_L: u32 = 0x4c
export const LETTER_W: u32 = 0x57
/** What a small letter has more than its capital. */
export const SMALL: u32 = 0x20
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

/** A to Z or a to z. */
// @ts-ignore: decorator
@inline
export function isLetter(char: u32): bool {
  return (char & ~SMALL) - LETTER_A < 26
}

/** Whether a field ends before this byte. */
// @ts-ignore: decorator
@inline
export function endsField(char: u32): bool {
  return char == END || isBlank(char)
}
