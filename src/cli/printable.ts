// Text from outside, made safe to show: nothing in it may move the cursor, change colours, reverse
// the writing direction or start a new line.

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text with control, format and line-separating characters written as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}

/** The same, cut to a length. */
export function printableStart(text: string, lengthMax: number): string {
  const safe = printable(text.slice(0, lengthMax + 1))
  return safe.length > lengthMax ? `${safe.slice(0, lengthMax - 1)}…` : safe
}
