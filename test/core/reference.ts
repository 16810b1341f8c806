// The slow second implementation the engine is compared with. It is SPEC 1.4 read literally, on
// Temporal: every matching wall time gives instants by the gap and fold policies, and equal
// instants are one run. It shares nothing with the engine, and is obvious rather than fast.
import { Temporal } from '@js-temporal/polyfill'
import { matchesDay, type ReferenceExpression, readExpression } from './reference-expression.ts'
import { DAY_MS, type ReferenceZone, referenceZone } from './reference-zone.ts'

const MINUTE_MS = 60_000

/** A gap moves a run by at most a day, and a wall date is at most a day from the UTC date. */
const REACH_DAYS = 2

export type GapPolicy = 'shift' | 'skip'
export type FoldPolicy = 'first' | 'second' | 'both'

export interface ReferenceOptions {
  readonly timeZone: string
  readonly gap?: GapPolicy | undefined
  readonly fold?: FoldPolicy | undefined
  readonly horizonYears?: number | undefined
}

/** One expression in one zone. Instants are milliseconds; a missing run is `null`. */
export class Reference {
  readonly #expression: ReferenceExpression
  readonly #zone: ReferenceZone
  readonly #gap: GapPolicy
  readonly #fold: FoldPolicy
  readonly #horizonYears: number

  /** Throws when the expression is refused: callers ask `readExpression` first if that may be. */
  constructor(text: string, options: ReferenceOptions) {
    const expression = readExpression(text)
    if (!expression) throw new TypeError(`The reference refuses ${JSON.stringify(text)}`)
    this.#expression = expression
    this.#zone = referenceZone(options.timeZone)
    this.#gap = options.gap ?? (expression.isHourWildcard ? 'skip' : 'shift')
    this.#fold = options.fold ?? (expression.isHourWildcard ? 'both' : 'first')
    this.#horizonYears = options.horizonYears ?? 4
  }

  /** The smallest run after `from` whose wall date is inside the horizon. */
  next(from: number): number | null {
    const today = this.#zone.wallDay(from)
    const lastDay = addYears(today, this.#horizonYears)
    let best: number | null = null
    for (let day = today - REACH_DAYS; day <= lastDay; day++) {
      if (!matchesDay(this.#expression, day)) continue
      const { least, greatest } = this.#zone.offsetsAround(day)
      for (const wall of this.#wallTimes(day)) {
        if (wall - least <= from) continue
        if (best !== null && wall - greatest >= best) return best
        for (const instant of this.#instantsOf(wall)) {
          if (instant > from && (best === null || instant < best)) best = instant
        }
      }
    }
    return best
  }

  /** The largest run before `from` whose wall date is inside the horizon. */
  prev(from: number): number | null {
    const today = this.#zone.wallDay(from)
    const firstDay = addYears(today, -this.#horizonYears)
    let best: number | null = null
    for (let day = today + REACH_DAYS; day >= firstDay; day--) {
      if (!matchesDay(this.#expression, day)) continue
      const { least, greatest } = this.#zone.offsetsAround(day)
      for (const wall of this.#wallTimes(day).reverse()) {
        if (wall - greatest >= from) continue
        if (best !== null && wall - least <= best) return best
        for (const instant of this.#instantsOf(wall)) {
          if (instant < from && (best === null || instant > best)) best = instant
        }
      }
    }
    return best
  }

  /** Whether a run began at `at` or less than a minute before it. */
  matches(at: number): boolean {
    const instant = Math.floor(at)
    return this.between(instant - MINUTE_MS + 1, instant + 1).length > 0
  }

  /** Every run in `[from, until)`, in order. */
  between(from: number, until: number): number[] {
    const runs = new Set<number>()
    const lastDay = Math.floor(until / DAY_MS) + REACH_DAYS
    for (let day = Math.floor(from / DAY_MS) - REACH_DAYS; day <= lastDay; day++) {
      if (!matchesDay(this.#expression, day)) continue
      const { least, greatest } = this.#zone.offsetsAround(day)
      for (const wall of this.#wallTimes(day)) {
        if (wall - least < from || wall - greatest >= until) continue
        for (const instant of this.#instantsOf(wall)) {
          if (instant >= from && instant < until) runs.add(instant)
        }
      }
    }
    return [...runs].sort((a, b) => a - b)
  }

  #wallTimes(day: number): number[] {
    return this.#expression.hour.flatMap((hour) =>
      this.#expression.minute.map((minute) => day * DAY_MS + (hour * 60 + minute) * MINUTE_MS),
    )
  }

  /** The one rule for gap and fold. */
  #instantsOf(wall: number): number[] {
    const answer = this.#zone.instantsOf(wall)
    if (answer.kind === 'once') return [answer.instant]
    if (answer.kind === 'gap') return this.#gap === 'shift' ? [answer.instant] : []
    if (this.#fold === 'first') return [answer.first]
    if (this.#fold === 'second') return [answer.second]
    return [answer.first, answer.second]
  }
}

function addYears(day: number, years: number): number {
  const date = Temporal.Instant.fromEpochMilliseconds(day * DAY_MS)
    .toZonedDateTimeISO('UTC')
    .toPlainDate()
    .add({ years })
  return Math.round(date.since(new Temporal.PlainDate(1970, 1, 1)).total('days'))
}
