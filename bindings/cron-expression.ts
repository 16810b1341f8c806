// `parseCron` and what it returns. An expression keeps its text and its options; its compiled
// record stands in one of the core's slots, which are dealt out in turn, so that its turn alone
// tells whether the slot is still its own. An expression that lost it compiles itself again, which
// costs less than a microsecond, so that neither memory nor finalizers grow with the number of
// expressions, and nothing holds one that is thrown away.

import { type CronFields, fieldCountOf, readFields } from './cron-fields.ts'
import { refusalOf } from './hints.ts'
import { type Instant, toEpochMs } from './instant.ts'
import { type Core, sharedCore } from './module.ts'
import { type Dialect, horizonOf, type ParseOptions, type Plan, parsePlanOf } from './options.ts'

/** Which runs `occurrences` lists. */
export interface OccurrencesOptions {
  /** The first instant that may be a run; default now. */
  from?: Instant | undefined
  /** The instant before which runs must lie; without it the horizon ends the list. */
  until?: Instant | undefined
  /** How many at the most; a whole number from 0 on. */
  limit?: number | undefined
}

/** The longest text that is read; it bounds what one call may cost. */
const EXPRESSION_MAX = 4 * 1024 * 1024
/** How many runs are asked for at once when many are wanted. */
const CHUNK_RUNS = 512
const NO_OPTIONS: ParseOptions = Object.freeze({})

/** How many times a slot was dealt out. */
let turns = 0

/** A parsed cron expression in a zone: asks for runs, and never changes. */
export class CronExpression {
  /** The text as it was given. */
  readonly expression: string
  /** The zone its fields are read in, as it was given; the process zone's name for `'local'`. */
  readonly timeZone: string
  /** The dialect it was read in. */
  readonly dialect: Dialect

  readonly #core: Core
  readonly #plan: Plan
  readonly #horizonYears: number
  /** The turn at which it got its slot, and the record there. */
  #turn = 0
  #record = 0

  /** Use {@link parseCron}. */
  constructor(expression: string, options: ParseOptions) {
    checkExpression(expression)
    const plan = parsePlanOf(options)
    this.expression = expression
    this.timeZone = plan.timeZone
    this.dialect = plan.dialect
    this.#core = sharedCore()
    this.#plan = plan
    this.#horizonYears = horizonOf(options)
    this.#compile()
  }

  /**
   * The first run strictly after `from` (default now), or `null` when there is none through the
   * end of the wall date `horizonYears` later.
   * @throws {RangeError} when `from` is no instant
   */
  next(from: Instant = Date.now()): Date | null {
    return this.#nextRun(toEpochMs(from, 'from'))
  }

  /**
   * The last run strictly before `from` (default now), or `null` when there is none back to the
   * start of the wall date `horizonYears` earlier.
   * @throws {RangeError} when `from` is no instant
   */
  prev(from: Instant = Date.now()): Date | null {
    const ms = toEpochMs(from, 'from')
    const record = this.#resident()
    let run = this.#core.exports.prev(record, ms, this.#horizonYears)
    while (run === Number.POSITIVE_INFINITY) {
      this.#core.installMissingChunk()
      run = this.#core.exports.prev(record, ms, this.#horizonYears)
    }
    return Number.isNaN(run) ? null : new Date(run)
  }

  /**
   * Whether a run began at `instant` or less than a minute before it; less than a second when the
   * text has a field for seconds.
   * @throws {RangeError} when it is no instant
   */
  matches(instant: Instant): boolean {
    const ms = toEpochMs(instant, 'instant')
    const record = this.#resident()
    let answer = this.#core.exports.matches(record, ms)
    while (answer < 0) {
      this.#core.installMissingChunk()
      answer = this.#core.exports.matches(record, ms)
    }
    return answer === 1
  }

  /**
   * The runs in `from <= run < until`, in order, computed as they are asked for. Without `until`
   * the list ends where `next` would return `null`.
   * @throws {TypeError} when one of them is of the wrong type
   * @throws {RangeError} when `from` or `until` is no instant or `limit` is no whole number
   */
  occurrences(options: OccurrencesOptions = {}): IterableIterator<Date> {
    const { from = Date.now(), until, limit = Number.POSITIVE_INFINITY } = options
    if (typeof limit !== 'number') {
      throw new TypeError(`limit: expected a number, got ${limit === null ? 'null' : typeof limit}`)
    }
    if (limit !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(limit) && limit >= 0)) {
      throw new RangeError(`limit: ${String(limit)} is no whole number from 0 on`)
    }
    const start = toEpochMs(from, 'from')
    if (until === undefined) return this.#runsFrom(start, limit)
    return this.#runsBetween(start, toEpochMs(until, 'until'), limit)
  }

  /**
   * The runs in `a <= run < b`, in order.
   * @throws {RangeError} when `a` or `b` is no instant
   */
  between(a: Instant, b: Instant): Date[] {
    return [...this.#runsBetween(toEpochMs(a, 'a'), toEpochMs(b, 'b'), Number.POSITIVE_INFINITY)]
  }

  /**
   * How many runs there are in `a <= run < b`.
   * @throws {RangeError} when `a` or `b` is no instant
   */
  count(a: Instant, b: Instant): number {
    let start = toEpochMs(a, 'a')
    const end = toEpochMs(b, 'b')
    let total = 0
    while (start < end) {
      const { count, resumeAt, missing } = enumerate(this.#core, this.#resident(), {
        from: start,
        until: end,
        out: 0,
        limit: 2 ** 30,
      })
      if (missing) this.#core.installMissingChunk()
      total += count
      start = resumeAt
    }
    return total
  }

  /** The values of each field, as they were read; all empty for `@reboot`. */
  get fields(): CronFields {
    this.#compileLast()
    return readFields(this.#core)
  }

  /** Whether the text is `@reboot`, which runs when a machine starts and so at no time. */
  get isReboot(): boolean {
    if (this.dialect === 'standard') return false
    this.#compileLast()
    return fieldCountOf(this.#core) === 0
  }

  #nextRun(from: number): Date | null {
    const record = this.#resident()
    let run = this.#core.exports.next(record, from, this.#horizonYears)
    while (run === Number.POSITIVE_INFINITY) {
      this.#core.installMissingChunk()
      run = this.#core.exports.next(record, from, this.#horizonYears)
    }
    return Number.isNaN(run) ? null : new Date(run)
  }

  *#runsFrom(start: number, limit: number): IterableIterator<Date> {
    let run = limit > 0 ? this.#nextRun(Math.ceil(start) - 1) : null
    for (let count = 1; run; count++) {
      yield run
      if (count === limit) return
      run = this.#nextRun(run.getTime())
    }
  }

  *#runsBetween(start: number, end: number, limit: number): IterableIterator<Date> {
    let from = start
    let left = limit
    while (from < end && left > 0) {
      const wanted = Math.min(left, CHUNK_RUNS)
      const out = this.#core.exports.scratch(CHUNK_RUNS * 8)
      const { count, resumeAt, missing } = enumerate(this.#core, this.#resident(), {
        from,
        until: end,
        out,
        limit: wanted,
      })
      // A copy, since the next call of the core may use the same memory.
      const runs = this.#core.instants(out, count).slice()
      if (missing) this.#core.installMissingChunk()
      for (const run of runs) yield new Date(run)
      from = resumeAt
      left -= count
    }
  }

  /** The address of this expression's record, compiled anew when another took its slot. */
  #resident(): number {
    if (turns - this.#turn >= this.#core.slotCount) this.#compile()
    return this.#record
  }

  /** Makes this the text that the core compiled last, and can tell about. */
  #compileLast(): void {
    if (turns !== this.#turn) this.#compile()
  }

  #compile(): void {
    const core = this.#core
    turns++
    const record = core.slotAddress(turns % core.slotCount)
    const status = core.compile(record, this.expression, this.#plan)
    if (status !== 0) {
      throw refusalOf(core, { expression: this.expression, plan: this.#plan, status, record })
    }
    this.#turn = turns
    this.#record = record
  }
}

/**
 * Parses a cron expression.
 * @throws {CronSyntaxError} (a `TypeError`) when the text is not valid
 * @throws {TypeError} when it is no string, or an option is unknown or of the wrong kind
 * @throws {RangeError} when the zone is unknown or the horizon is not 1 to 400 years
 */
export function parseCron(expression: string, options: ParseOptions = NO_OPTIONS): CronExpression {
  return new CronExpression(expression, options)
}

/**
 * Refuses what is no text, or too long to be read.
 * @throws {TypeError} when it is no string
 * @throws {RangeError} when it is longer than 4 MiB
 */
export function checkExpression(expression: unknown): void {
  if (typeof expression !== 'string') {
    const got = expression === null ? 'null' : typeof expression
    throw new TypeError(`cron expression: expected a string, got ${got}`)
  }
  if (expression.length > EXPRESSION_MAX) {
    throw new RangeError(
      `cron expression: ${expression.length} characters; at most ${EXPRESSION_MAX} are read`,
    )
  }
}

/** What the core's `enumerate` is asked for; `out` 0 only counts. */
interface Enumeration {
  readonly from: number
  readonly until: number
  readonly out: number
  readonly limit: number
}

/** What came of it: `missing` when a chunk must be installed before going on at `resumeAt`. */
interface Enumerated {
  readonly count: number
  readonly resumeAt: number
  readonly missing: boolean
}

/** Lists or counts runs up to a limit, the end or a missing chunk. */
export function enumerate(
  { exports }: Core,
  record: number,
  { from, until, out, limit }: Enumeration,
): Enumerated {
  const answer = exports.enumerate(record, from, until, out, limit)
  return {
    count: answer < 0 ? ~answer : answer,
    resumeAt: exports.resumeAt.value,
    missing: answer < 0,
  }
}
