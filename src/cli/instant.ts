// Instants as people and other programs write them: ISO 8601 or ms since the epoch.

const ISO = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/
const DATE = /^\d{4}-\d\d-\d\d$/
const EPOCH_MS = /^[+-]?\d{1,16}$/

const INSTANT_MAX = 8.64e15

/** What `readInstant` takes, for help and errors. */
export const INSTANT_FORMS =
  'an ISO date-time with Z or an offset, a date (midnight UTC), or epoch ms'

/** Ms since the epoch, or `undefined` for text in none of the forms or a date that is none. */
export function readInstant(text: string): number | undefined {
  if (EPOCH_MS.test(text)) {
    const ms = Number(text)
    return Math.abs(ms) <= INSTANT_MAX ? ms : undefined
  }
  const date = DATE.test(text) ? text : ISO.exec(text)?.[1]
  // `Date.parse` lets 30 February pass as 2 March.
  if (date === undefined || !isDate(date)) return undefined
  const ms = Date.parse(text.replace(' ', 'T').toUpperCase())
  return Number.isNaN(ms) ? undefined : ms
}

function isDate(text: string): boolean {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}
