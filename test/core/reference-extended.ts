// The slow second implementation of the `extended` dialect: SPEC 1.3 read literally, item by item,
// each a question asked of one date. It shares nothing with the engine but the zone's reference.
// Hashed values (H) are left out: which one is chosen is the engine's own affair.
import type { FoldPolicy, GapPolicy, ReferenceOptions } from './reference.ts'
import { DAY_MS, type ReferenceZone, referenceZone } from './reference-zone.ts'

/** A gap moves a run by at most a day, and a wall date is at most a day from the UTC date. */
const REACH_DAYS = 2

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** A date as the items of the day fields ask about it. */
interface DateParts {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
  /** 0 is Sunday. */
  readonly weekday: number
  /** The length of the month. */
  readonly length: number
}

type DateTest = (date: DateParts) => boolean

/** An expression as sets of times and a test of dates. */
export interface ExtendedExpression {
  readonly second: readonly number[]
  readonly minute: readonly number[]
  readonly hour: readonly number[]
  readonly matchesDate: DateTest
  readonly hasSeconds: boolean
  readonly isHourWildcard: boolean
}

/** The expression, or `null` when the `extended` dialect refuses the text or it is `@reboot`. */
export function readExtended(text: string): ExtendedExpression | null {
  const trimmed = text.replace(/^[ \t]+|[ \t]+$/g, '')
  const fields = (Object.hasOwn(MACROS, trimmed) ? MACROS[trimmed]! : trimmed).split(/[ \t]+/)
  if (fields.length < 5 || fields.length > 7) return null
  const hasSeconds = fields.length > 5
  if (!hasSeconds) fields.unshift('0')
  if (fields.length === 6) fields.push('')
  const [seconds, minutes, hours, days, months, weekdays, years] = fields as Seven
  const second = readNumbers(seconds, [0, 59])
  const minute = readNumbers(minutes, [0, 59])
  const hour = readNumbers(hours, [0, 23])
  const month = readNumbers(months, [1, 12], MONTHS)
  const year = years === '' ? 'any' : readNumbers(years, [1970, 2199], undefined, false)
  const isJoined = weekdays.startsWith('+')
  const dayTest = readDays(days)
  const weekdayTest = readWeekdays(isJoined ? weekdays.slice(1) : weekdays)
  if (!second || !minute || !hour || !month || !year || !dayTest || !weekdayTest) return null

  const both = isJoined || /^[*?]/.test(days) || /^[*?]/.test(weekdays)
  return {
    second,
    minute,
    hour,
    hasSeconds,
    isHourWildcard: hours.startsWith('*'),
    matchesDate: (date) =>
      (year === 'any' || year.includes(date.year)) &&
      month.includes(date.month) &&
      (both ? dayTest(date) && weekdayTest(date) : dayTest(date) || weekdayTest(date)),
  }
}

type Seven = [string, string, string, string, string, string, string]

/** The values of a field of numbers or names, or `null` when it is refused. */
function readNumbers(
  text: string,
  [min, max]: readonly [number, number],
  names: readonly string[] = [],
  isCyclic = true,
): number[] | null {
  const value = (part: string) => {
    const named = names.indexOf(part.toUpperCase())
    return named >= 0 ? named + min : Number(part)
  }
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const match = /^(?:(\*)|(\d+|[a-z]{3})(?:-(\d+|[a-z]{3}))?)(?:\/(\d+))?$/i.exec(item)
    if (!match) return null
    const [, star, first = '', last, stepText] = match
    const from = star ? min : value(first)
    const to = star || (last === undefined && stepText !== undefined) ? max : value(last ?? first)
    const step = Number(stepText ?? 1)
    if (!(from >= min && from <= max && to >= min && to <= max) || step === 0) return null
    if (from > to && !isCyclic) return null
    const size = names === WEEKDAYS ? 7 : max - min + 1
    const end = from > to ? to + size : to
    for (let v = from; v <= end; v += step) values.add(v > max ? v - size : v)
  }
  return [...values].sort((a, b) => a - b)
}

function readDays(text: string): DateTest | null {
  const alone = /^(?:(\d+)W|LW)$/.exec(text)
  if (alone) {
    const wanted = alone[1] === undefined ? 'last' : Number(alone[1])
    if (wanted !== 'last' && (wanted < 1 || wanted > 31)) return null
    return (date) => date.day === nearestWeekday(date, wanted === 'last' ? date.length : wanted)
  }
  return readList(text, (item) => {
    const last = /^L(?:-(\d+))?$/.exec(item)
    if (last) {
      const before = Number(last[1] ?? 0)
      return before > 30 ? null : ({ day, length }) => day === length - before
    }
    const days = readNumbers(item.replace(/^\?/, '*'), [1, 31])
    return days && (({ day }) => days.includes(day))
  })
}

function readWeekdays(text: string): DateTest | null {
  return readList(text, (item) => {
    const once = /^(\d+|[a-z]{3})(?:#(\d+|L)|L)$/i.exec(item)
    if (once && !/l$/.test(item)) {
      const days = readNumbers(once[1]!, [0, 7], WEEKDAYS)
      if (!days) return null
      const nth = once[2]
      if (nth !== undefined && nth !== 'L' && !(Number(nth) >= 1 && Number(nth) <= 5)) return null
      const isThen: DateTest =
        nth === undefined || nth === 'L'
          ? ({ day, length }) => day + 7 > length
          : ({ day }) => Math.ceil(day / 7) === Number(nth)
      return (date) => date.weekday === days[0]! % 7 && isThen(date)
    }
    const days = readNumbers(item.replace(/^\?/, '*'), [0, 7], WEEKDAYS)
    return days && (({ weekday }) => days.includes(weekday) || (weekday === 0 && days.includes(7)))
  })
}

function readList(text: string, read: (item: string) => DateTest | null): DateTest | null {
  const tests = text.split(',').map(read)
  return tests.includes(null) ? null : (date) => tests.some((test) => test!(date))
}

/** The day, no Saturday and no Sunday, that is nearest to `day` in its month; 0 for none. */
function nearestWeekday({ day: known, weekday, length }: DateParts, day: number): number {
  if (day > length) return 0
  const isWorkday = (other: number) => {
    const at = (((weekday + other - known) % 7) + 7) % 7
    return other >= 1 && other <= length && at !== 0 && at !== 6
  }
  return [day, day - 1, day + 1, day - 2, day + 2].find(isWorkday)!
}

/** One expression in one zone. Instants are milliseconds; a missing run is `null`. */
export class ExtendedReference {
  readonly #expression: ExtendedExpression
  readonly #zone: ReferenceZone
  readonly #gap: GapPolicy
  readonly #fold: FoldPolicy
  readonly #horizonYears: number
  readonly #runsByDay = new Map<number, number[]>()

  constructor(text: string, options: ReferenceOptions) {
    const expression = readExtended(text)
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
    for (let day = today - REACH_DAYS; day <= lastDay; day++) {
      // A date's run may come after one of the next dates, at a transition around midnight.
      const runs = this.#runsOf(day).filter((run) => run > from)
      if (runs.length === 0) continue
      for (let later = day + 1; later <= Math.min(day + REACH_DAYS, lastDay); later++) {
        runs.push(...this.#runsOf(later).filter((run) => run > from))
      }
      return Math.min(...runs)
    }
    return null
  }

  /** The largest run before `from` whose wall date is inside the horizon. */
  prev(from: number): number | null {
    const today = this.#zone.wallDay(from)
    const firstDay = addYears(today, -this.#horizonYears)
    for (let day = today + REACH_DAYS; day >= firstDay; day--) {
      const runs = this.#runsOf(day).filter((run) => run < from)
      if (runs.length === 0) continue
      for (let earlier = day - 1; earlier >= Math.max(day - REACH_DAYS, firstDay); earlier--) {
        runs.push(...this.#runsOf(earlier).filter((run) => run < from))
      }
      return Math.max(...runs)
    }
    return null
  }

  /** Every run in `[from, until)`, in order. */
  between(from: number, until: number): number[] {
    const runs = new Set<number>()
    const lastDay = Math.floor(until / DAY_MS) + REACH_DAYS
    for (let day = Math.floor(from / DAY_MS) - REACH_DAYS; day <= lastDay; day++) {
      for (const run of this.#runsOf(day)) if (run >= from && run < until) runs.add(run)
    }
    return [...runs].sort((a, b) => a - b)
  }

  /** Whether a run began at `at` or within the minute, or the second, before it. */
  matches(at: number): boolean {
    const instant = Math.floor(at)
    const span = this.#expression.hasSeconds ? 1000 : 60_000
    return this.between(instant - span + 1, instant + 1).length > 0
  }

  /** The runs of the wall times of one date. */
  #runsOf(day: number): number[] {
    const known = this.#runsByDay.get(day)
    if (known) return known
    const runs = this.#expression.matchesDate(partsOf(day)) ? this.#wallTimes(day) : []
    const instants = runs.flatMap((wall) => this.#instantsOf(wall))
    this.#runsByDay.set(day, instants)
    return instants
  }

  #wallTimes(day: number): number[] {
    const { hour, minute, second } = this.#expression
    return hour.flatMap((h) =>
      minute.flatMap((m) => second.map((s) => day * DAY_MS + ((h * 60 + m) * 60 + s) * 1000)),
    )
  }

  #instantsOf(wall: number): number[] {
    const answer = this.#zone.instantsOf(wall)
    if (answer.kind === 'once') return [answer.instant]
    if (answer.kind === 'gap') return this.#gap === 'shift' ? [answer.instant] : []
    const { first, second } = answer
    return this.#fold === 'both' ? [first, second] : [this.#fold === 'first' ? first : second]
  }
}

function partsOf(day: number): DateParts {
  const date = new Date(day * DAY_MS)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return {
    year,
    month: month + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    length: new Date(Date.UTC(year, month + 1, 0)).getUTCDate(),
  }
}

function addYears(day: number, years: number): number {
  const date = new Date(day * DAY_MS)
  const [month, dayOfMonth] = [date.getUTCMonth(), date.getUTCDate()]
  const moved = Date.UTC(date.getUTCFullYear() + years, month, dayOfMonth)
  // The 29th of February becomes the 28th, as in Temporal.
  return moved / DAY_MS - (new Date(moved).getUTCMonth() === month ? 0 : 1)
}
