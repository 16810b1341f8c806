// Checks of what a caller hands to a store: the same in every engine, before anything is sent.
// What comes back from a store is checked where it is read.

const ID_BYTES_MAX = 1024
const encoder = new TextEncoder()

/** The id's UTF-8 bytes. `TypeError` unless it is 1 to 1024 bytes of well-formed text, no NUL. */
export function idBytes(id: string): Uint8Array {
  checkIdText(id)
  const bytes = encoder.encode(id)
  if (bytes.length <= ID_BYTES_MAX) return bytes
  throw new TypeError(
    `id: ${bytes.length} bytes of UTF-8, at most ${ID_BYTES_MAX} are allowed, namespace included`,
  )
}

/** The same check, for stores that do not need the bytes. */
export function checkId(id: string): void {
  // A UTF-16 unit comes to three bytes at most.
  if (id?.length * 3 <= ID_BYTES_MAX) checkIdText(id)
  else idBytes(id)
}

function checkIdText(id: string): void {
  checkText('id', id)
  if (id.includes('\0')) throw new TypeError('id: must not contain NUL (U+0000)')
}

/** `TypeError` unless `value` is a non-empty string without lone surrogates. */
export function checkText(name: string, value: string): void {
  if (typeof value !== 'string') throw new TypeError(`${name}: must be a string, got ${value}`)
  if (value === '') throw new TypeError(`${name}: must not be empty`)
  if (!isWellFormed(value)) throw new TypeError(`${name}: has a lone surrogate, must be Unicode`)
}

/** `RangeError` unless `value` is an instant in whole ms that a number holds exactly. */
export function checkInstant(name: string, value: number): void {
  if (Number.isSafeInteger(value)) return
  throw new RangeError(
    `${name}: must be whole ms since the epoch, within ±(2^53 - 1), got ${value}`,
  )
}

/** `RangeError` unless `value` is a duration of at least one whole ms. */
export function checkDuration(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return
  throw new RangeError(`${name}: must be a positive whole number of ms, got ${value}`)
}

/** `RangeError` unless `value` can be a fencing token: 0 to 2^53 - 1. */
export function checkToken(value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return
  throw new RangeError(`fencingToken: must be an integer from 0 to 2^53 - 1, got ${value}`)
}

// A lone surrogate is the only thing that TextEncoder cannot carry: it comes back as U+FFFD.
// `String.prototype.isWellFormed` is younger than the language level we compile to.
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
