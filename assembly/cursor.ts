// A reading position over the input, one byte a character. One text is read at a time.

import { DIGIT_0, END, isBlank, isDigit } from './char'

let position: usize = 0
let limit: usize = 0
let origin: usize = 0

/** Starts at the first of `length` bytes. */
export function open(text: usize, length: i32): void {
  origin = position = text
  limit = text + <usize>length
}

/** Index of the next byte in the text. */
// @ts-ignore: decorator
@inline
export function index(): i32 {
  return <i32>(position - origin)
}

/** The next byte, or END. */
// @ts-ignore: decorator
@inline
export function peek(): u32 {
  return position < limit ? <u32>load<u8>(position) : END
}

// @ts-ignore: decorator
@inline
export function skip(): void {
  position++
}

/** Steps over `char` if it is next. */
// @ts-ignore: decorator
@inline
export function take(char: u32): bool {
  if (peek() != char) return false
  position++
  return true
}

// @ts-ignore: decorator
@inline
export function skipBlanks(): void {
  while (isBlank(peek())) position++
}

/** Larger than any bound, and than any step that can reach a second value. */
const NUMBER_MAX: u32 = 1000000

/** Reads digits up to their end; however many there are, the value stops growing at NUMBER_MAX. */
// @ts-ignore: decorator
@inline
export function readNumber(): u32 {
  let value: u32 = 0
  while (isDigit(peek())) {
    value = min<u32>(value * 10 + (peek() - DIGIT_0), NUMBER_MAX)
    position++
  }
  return value
}
