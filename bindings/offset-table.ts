// A zone's offsets as the core wants them: chunk by chunk, each a start and its transitions, read
// from native Temporal where the host has it and from Intl elsewhere. Tables are made on demand,
// kept for the life of the process and shared by all instances of the core.

/** Reads a zone: what its clocks show, by instant. Instants and offsets are whole seconds. */
interface ZoneReader {
  offsetAt(instant: number): number
  /** Every change of offset in `from < instant <= until`, in order: instant and new offset. */
  transitions(from: number, until: number): Iterable<readonly [instant: number, offset: number]>
}

/** One zone, with the chunks read so far. */
export class OffsetTable {
  readonly #reader: ZoneReader
  readonly #chunks = new Map<number, Float64Array>()

  /** The offset (ms) of a zone that never changes it; `undefined` of others. */
  readonly fixedOffset: number | undefined

  constructor(canonicalName: string) {
    this.#reader = nativeReader(canonicalName) ?? intlReader(canonicalName)
    if (isFixed(canonicalName)) this.fixedOffset = this.#reader.offsetAt(0) * 1000
  }

  /** Pairs of instant and offset (ms): the offset at `from`, then each transition to `until`. */
  read(from: number, until: number): Float64Array {
    let pairs = this.#chunks.get(from)
    if (!pairs) {
      const start = Math.floor(from / 1000)
      const list = [start * 1000, this.#reader.offsetAt(start) * 1000]
      for (const [instant, offset] of this.#reader.transitions(start, Math.ceil(until / 1000))) {
        list.push(instant * 1000, offset * 1000)
      }
      pairs = Float64Array.from(list)
      this.#chunks.set(from, pairs)
    }
    return pairs
  }
}

const tables = new Map<string, OffsetTable>()
/** More spellings than there are zones; beyond it only canonical names are remembered. */
const SPELLINGS_MAX = 2000

/**
 * The table of a zone that `Intl` knows, under any spelling it takes.
 * @throws {TypeError} when the name is no string
 * @throws {RangeError} when no such zone is known
 */
export function offsetTableOf(timeZone: string): OffsetTable {
  const known = tables.get(timeZone)
  if (known) return known
  if (typeof timeZone !== 'string') {
    const got = timeZone === null ? 'null' : typeof timeZone
    throw new TypeError(`timeZone: expected a zone name such as "Europe/Madrid", got ${got}`)
  }
  const canonical = canonicalNameOf(timeZone)
  let table = tables.get(canonical)
  if (!table) {
    table = new OffsetTable(canonical)
    tables.set(canonical, table)
  }
  if (tables.size < SPELLINGS_MAX) tables.set(timeZone, table)
  return table
}

function canonicalNameOf(timeZone: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone
  } catch (cause) {
    throw new RangeError(
      `timeZone: ${JSON.stringify(timeZone).slice(0, 80)} is no time zone known here; ` +
        'expected an IANA name such as "Europe/Madrid", "UTC" or "local"',
      { cause },
    )
  }
}

/** How long the process zone is believed before it is looked up again, ms. */
const LOCAL_ZONE_FRESH_MS = 1000
let localZone = { name: 'UTC', readAt: Number.NEGATIVE_INFINITY }

/** The process zone's name. Looking it up is slow, so a changed `TZ` is seen within a second. */
export function localZoneName(): string {
  const now = Date.now()
  if (Math.abs(now - localZone.readAt) >= LOCAL_ZONE_FRESH_MS) {
    localZone = { name: hostZoneName(), readAt: now }
  }
  return localZone.name
}

/** What `Intl` calls the process zone; `'UTC'`, as `Date` has it, for a `TZ` it cannot name. */
function hostZoneName(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return timeZone === undefined || timeZone === 'Etc/Unknown' ? 'UTC' : timeZone
}

function isFixed(canonicalName: string): boolean {
  return /^(UTC|GMT|Etc\/.*|[+-]\d\d(:?\d\d)?)$/.test(canonicalName)
}

/**
 * No zone has ever changed its offset and gone back within this many seconds: the closest pair of
 * tz 2025, Africa/Freetown in September 1939, is a day further apart.
 */
const PROBE_SECONDS = 3 * 86400
/** Nearly all transitions lie on a quarter of an hour. */
const QUARTER_HOUR = 900

/** Reads a zone through `Intl.DateTimeFormat`, which knows offsets only by what clocks show. */
function intlReader(timeZone: string): ZoneReader {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })

  function offsetAt(instant: number): number {
    const [day = 0, hour = 0, minute = 0, second = 0] = numbersIn(format.format(instant * 1000))
    const utcDay = new Date(instant * 1000).getUTCDate()
    const apart = day - utcDay
    // No offset reaches a whole day twice, so a larger step is the turn of a month.
    const days = apart > 1 ? -1 : apart < -1 ? 1 : apart
    const utcSecond = instant - Math.floor(instant / 86400) * 86400
    return days * 86400 + hour * 3600 + minute * 60 + second - utcSecond
  }

  /** The first instant in `after < instant <= until` whose offset is not `offset`; one exists. */
  function changeBetween(after: number, until: number, offset: number): number {
    let low = after
    let high = until
    while (high - low > 1) {
      const onGrid = Math.ceil((low + high) / 2 / QUARTER_HOUR) * QUARTER_HOUR
      // On the grid while that halves; then once right before its end; then plainly.
      const middle =
        onGrid < high && high - low > QUARTER_HOUR
          ? onGrid
          : high % QUARTER_HOUR === 0
            ? high - 1
            : Math.floor((low + high) / 2)
      if (offsetAt(middle) === offset) low = middle
      else high = middle
    }
    return high
  }

  function* transitions(from: number, until: number): Iterable<readonly [number, number]> {
    let offset = offsetAt(from)
    for (let start = from; start < until; start += PROBE_SECONDS) {
      const end = Math.min(start + PROBE_SECONDS, until)
      const endOffset = offsetAt(end)
      let instant = start
      while (offset !== endOffset) {
        instant = changeBetween(instant, end, offset)
        offset = offsetAt(instant)
        yield [instant, offset]
      }
    }
  }

  return { offsetAt, transitions }
}

function numbersIn(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number)
}

/** The few members of `Temporal` that are used; typed here because TypeScript has it nowhere. */
interface ZonedDateTime {
  readonly epochMilliseconds: number
  readonly offsetNanoseconds: number
  getTimeZoneTransition(direction: 'next'): ZonedDateTime | null
}
interface TemporalNamespace {
  readonly Instant: {
    fromEpochMilliseconds(instant: number): {
      toZonedDateTimeISO(timeZone: string): ZonedDateTime
    }
  }
}

/** Reads a zone through native Temporal; a polyfill is slower than Intl, and is left alone. */
function nativeReader(timeZone: string): ZoneReader | undefined {
  const { Temporal } = globalThis as { Temporal?: TemporalNamespace }
  const make = Temporal?.Instant?.fromEpochMilliseconds
  if (!Temporal || !make || !/\[native code\]/.test(Function.prototype.toString.call(make))) return
  const { Instant } = Temporal
  const zoned = (instant: number) =>
    Instant.fromEpochMilliseconds(instant * 1000).toZonedDateTimeISO(timeZone)
  const offsetOf = (at: ZonedDateTime) => Math.round(at.offsetNanoseconds / 1e9)

  function* transitions(from: number, until: number): Iterable<readonly [number, number]> {
    let at = zoned(from).getTimeZoneTransition('next')
    while (at && at.epochMilliseconds <= until * 1000) {
      yield [at.epochMilliseconds / 1000, offsetOf(at)]
      at = at.getTimeZoneTransition('next')
    }
  }

  return { offsetAt: (instant) => offsetOf(zoned(instant)), transitions }
}
