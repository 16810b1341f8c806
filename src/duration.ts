// Durations as users write them. `@lukeed/ms` knows the names of the units; what is left here is
// that a text may have several parts, and that the whole of it must be a duration.

import { parse as parseUnit } from '@lukeed/ms'

/** Ms, or text such as `'30s'`, `'1.5h'`, `'1h30m'`, `'2 days'`, in any case. */
export type Duration = number | string

/** The longest duration there is: what separates the epoch from the last instant of a `Date`. */
const DURATION_MS_MAX = 8.64e15

/** Longer text is no duration, and is not searched for one. */
const TEXT_LENGTH_MAX = 256

const PART = String.raw`(?:\d+(?:\.\d+)?|\.\d+)`
const WHOLE = new RegExp(`^-?(?:${PART}|(?:${PART} *[a-z]+ *)+)$`, 'i')
const PARTS = new RegExp(`(${PART}) *([a-z]*)`, 'gi')

/** Ms of a positive duration. Whole ms, at least one; `name` is what the error calls the value. */
export function positiveMs(duration: Duration, name: string): number {
  const ms = durationMs(duration, name)
  if (ms > 0) return Math.max(1, Math.round(ms))
  throw new RangeError(`${name}: must be longer than nothing, not ${duration}`)
}

/** Ms of a duration that may be nothing. Whole ms. */
export function nonNegativeMs(duration: Duration, name: string): number {
  const ms = durationMs(duration, name)
  if (ms >= 0) return Math.abs(Math.round(ms))
  throw new RangeError(`${name}: must not be negative, but is ${duration}`)
}

function durationMs(duration: Duration, name: string): number {
  const ms = typeof duration === 'number' ? duration : textMs(duration, name)
  if (Math.abs(ms) <= DURATION_MS_MAX) return ms
  throw new RangeError(`${name}: must be finite and at most ${DURATION_MS_MAX} ms, not ${duration}`)
}

function textMs(text: string, name: string): number {
  const trimmed = typeof text === 'string' ? text.trim() : ''
  if (trimmed.length > TEXT_LENGTH_MAX || !WHOLE.test(trimmed)) throw notADuration(text, name)
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(PARTS)) {
    // The library is asked for the unit alone: it answers `undefined` to an amount of zero.
    const unitMs = parseUnit(`1 ${unit}`.trim())
    if (unitMs === undefined) throw notADuration(text, name)
    total += Number(amount) * unitMs
  }
  return trimmed.startsWith('-') ? -total : total
}

function notADuration(text: unknown, name: string): TypeError {
  const shown = typeof text === 'string' ? JSON.stringify(text.slice(0, 40)) : typeof text
  return new TypeError(
    `${name}: ${shown} is no duration; give ms as a number, or text like '30s', '1.5h', '1h30m'`,
  )
}
