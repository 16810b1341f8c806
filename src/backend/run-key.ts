// Keys of runs: legal in a NATS bucket, the same on every replica and for every backend. What a
// bucket does not take is written `=XX`, a byte of UTF-8 in hexadecimal, so that no two names or
// keys become one.

const ILLEGAL = /[^-/.\w]|\.(?=\.)|^\.|\.$/gu

/** `run.<name>.<slot>`: the slot in ISO 8601, with `-` for `:`. */
export function slotKey(name: string, slot: number): string {
  return `${placeOf(name)}${new Date(slot).toISOString().replaceAll(':', '-')}`
}

/** `run.<name>.manual.<dedup key>` */
export function manualKey(name: string, dedupKey: string): string {
  return `${placeOf(name)}manual.${encoded(dedupKey)}`
}

/** `last.<name>`: the key that holds the newest completed slot. */
export function lastKey(name: string): string {
  return `last.${encodedName(name)}`
}

/** A filter for the keys of all runs of `name`. It also lets those of `<name>.anything` through. */
export function runFilter(name: string): string {
  return `${placeOf(name)}>`
}

/** The slot of a run of `name`, `'manual'` when it has none, `undefined` for any other key. */
export function readRunKey(name: string, key: string): number | 'manual' | undefined {
  const place = placeOf(name)
  if (!key.startsWith(place)) return undefined
  const rest = key.slice(place.length)
  if (rest.startsWith('manual.')) return 'manual'
  const slot = Date.parse(rest.replace(/T(\d\d)-(\d\d)-(\d\d)/, 'T$1:$2:$3'))
  return Number.isNaN(slot) || slotKey(name, slot) !== key ? undefined : slot
}

function placeOf(name: string): string {
  return `run.${encodedName(name)}.`
}

/** A part of a name that reads `manual` is escaped, lest a name look like another's triggers. */
function encodedName(name: string): string {
  return encoded(name).replace(/(?<=^|\.)manual(?=\.|$)/g, '=6Danual')
}

function encoded(text: string): string {
  return text.replace(ILLEGAL, (char) => {
    const bytes = Array.from(new TextEncoder().encode(char), (byte) => {
      return `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    return bytes.join('')
  })
}
