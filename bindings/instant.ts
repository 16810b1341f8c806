// Instants as the public API takes them, checked and brought to ms since the epoch.

/** A `Date`, ms since the epoch, or anything with `epochMilliseconds` (Temporal). */
export type Instant = Date | number | { readonly epochMilliseconds: number }

/** The largest absolute instant that a `Date` can hold. */
const INSTANT_MAX = 8.64e15

/**
 * The ms since the epoch of an instant.
 * @throws {TypeError} when it is none of the accepted types
 * @throws {RangeError} when it is no instant that a `Date` can hold
 */
export function toEpochMs(instant: Instant, name: string): number {
  let ms: number
  if (typeof instant === 'number') ms = instant
  else if (instant instanceof Date) ms = instant.getTime()
  else ms = epochMillisecondsOf(instant, name)
  // Written so that NaN is refused too.
  if (!(Math.abs(ms) <= INSTANT_MAX)) {
    throw new RangeError(
      `${name}: ${ms} is no instant; expected ms since the epoch from -8.64e15 to 8.64e15`,
    )
  }
  return ms
}

function epochMillisecondsOf(instant: unknown, name: string): number {
  // A Date of another realm (an iframe, a vm context) is no instance of ours.
  if (Object.prototype.toString.call(instant) === '[object Date]') {
    return Date.prototype.getTime.call(instant)
  }
  const ms = (instant as { epochMilliseconds?: unknown } | null | undefined)?.epochMilliseconds
  if (typeof ms === 'number') return ms
  throw new TypeError(
    `${name}: expected a Date, ms since the epoch or an object with epochMilliseconds, ` +
      `got ${instant === null ? 'null' : typeof instant}`,
  )
}
