// A time zone as Temporal sees it, for the slow second implementation: the offset at an instant and
// the instants of a wall time. Answers are kept, because each takes the polyfill tens of
// microseconds. Which instant a gap or a fold means is not decided here.
import { Temporal } from '@js-temporal/polyfill'

export const DAY_MS = 86_400_000

/** Offsets are asked on this grid when only their range around a day is wanted. */
const GRID_MS = DAY_MS / 4

const REMEMBERED_MAX = 500_000

/** What a zone says about a wall time: its instants, or in a gap the one it moves to. */
export type WallAnswer =
  | { kind: 'once'; instant: number }
  | { kind: 'gap'; instant: number }
  | { kind: 'fold'; first: number; second: number }

/** One zone. Wall times are written as the milliseconds they would be in UTC. */
export class ReferenceZone {
  readonly #name: string
  readonly #offsets = new Map<number, number>()
  readonly #answers = new Map<number, WallAnswer>()

  constructor(name: string) {
    this.#name = name
  }

  /** Wall time minus UTC in milliseconds, in force at `instant`. */
  offsetAt(instant: number): number {
    return remembered(this.#offsets, Math.floor(instant), (ms) => {
      const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(this.#name)
      return at.offsetNanoseconds / 1e6
    })
  }

  /** The wall date at `instant`, as days since 1970-01-01. */
  wallDay(instant: number): number {
    return Math.floor((Math.floor(instant) + this.offsetAt(instant)) / DAY_MS)
  }

  /** The instants of a wall time, straight from Temporal's disambiguation. */
  instantsOf(wall: number): WallAnswer {
    return remembered(this.#answers, wall, () => {
      const clock = Temporal.Instant.fromEpochMilliseconds(wall)
        .toZonedDateTimeISO('UTC')
        .toPlainDateTime()
      const earlier = clock.toZonedDateTime(this.#name, { disambiguation: 'earlier' })
      if (!earlier.toPlainDateTime().equals(clock)) {
        const moved = clock.toZonedDateTime(this.#name, { disambiguation: 'compatible' })
        return { kind: 'gap', instant: moved.epochMilliseconds }
      }
      const later = clock.toZonedDateTime(this.#name, { disambiguation: 'later' })
      if (earlier.equals(later)) return { kind: 'once', instant: earlier.epochMilliseconds }
      return { kind: 'fold', first: earlier.epochMilliseconds, second: later.epochMilliseconds }
    })
  }

  /**
   * The least and the greatest offset around a wall date. Every instant of one of its wall times,
   * moved or not, is that wall time minus an offset between the two.
   */
  offsetsAround(day: number): { least: number; greatest: number } {
    let least = Number.POSITIVE_INFINITY
    let greatest = Number.NEGATIVE_INFINITY
    for (let at = (day - 1) * DAY_MS; at <= (day + 2) * DAY_MS; at += GRID_MS) {
      const offset = this.offsetAt(at)
      least = Math.min(least, offset)
      greatest = Math.max(greatest, offset)
    }
    return { least, greatest }
  }
}

const zones = new Map<string, ReferenceZone>()

/** The zone of that name, with what was already asked of it. */
export function referenceZone(name: string): ReferenceZone {
  return remembered(zones, name, (missing) => new ReferenceZone(missing))
}

function remembered<K, V>(store: Map<K, V>, key: K, compute: (key: K) => V): V {
  const known = store.get(key)
  if (known !== undefined) return known
  if (store.size >= REMEMBERED_MAX) store.clear()
  const value = compute(key)
  store.set(key, value)
  return value
}
