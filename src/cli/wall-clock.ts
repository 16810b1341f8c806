// What a clock in a zone shows, for display: offsets come from `Intl`, one instant at a time.
// Runs are never computed from them; that is the engine's work.

const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

/** A clock on the wall of one zone. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat

  /** @param timeZone a name `Intl` knows, already validated by the engine */
  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  }

  /** Wall time minus UTC at the instant, in ms. */
  offset(instant: number): number {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      OFFSET.exec(this.#format.format(instant)) ?? []
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -ms : ms
  }

  /** The wall time as ms, counted as if the clock stood in UTC. */
  wall(instant: number): number {
    return instant + this.offset(instant)
  }

  /** `2026-03-29T03:30:00+02:00`. */
  iso(instant: number): string {
    return isoSeconds(this.wall(instant)) + offsetText(this.offset(instant))
  }

  /** `Sun 2026-03-29 03:30`, with seconds where there are some. */
  text(instant: number): string {
    const wall = this.wall(instant)
    return `${WEEKDAYS[new Date(wall).getUTCDay()]} ${wallText(wall)}`
  }
}

/** `2026-03-29 03:30` of a wall time, with seconds where there are some. */
export function wallText(wall: number): string {
  const text = isoSeconds(wall).replace('T', ' ')
  return text.endsWith(':00') ? text.slice(0, -3) : text
}

/** `2026-03-29T01:30:00Z` of an instant. */
export function utcIso(instant: number): string {
  return `${isoSeconds(instant)}Z`
}

/** `2026-03-29 01:30` of an instant in UTC, with seconds where there are some. */
export function utcText(instant: number): string {
  return wallText(instant)
}

/** `+02:00`, with seconds where there are some. */
export function offsetText(offset: number): string {
  const size = isoSeconds(Math.abs(offset)).slice(11)
  return (offset < 0 ? '-' : '+') + (size.endsWith(':00') ? size.slice(0, -3) : size)
}

function isoSeconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, -5)
}
