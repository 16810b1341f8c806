// An expression rewritten from the values that the engine read, in forms that have one reading. It
// keeps describe.ts clear of what cronstrue takes differently: a step that does not divide its
// field, both day fields at once, lists with a star, Sunday as 7, names, ranges that wrap, H.

import type { CronExpression, CronFields } from '../bindings/index.ts'

/** More values than this are written as a step or as ranges. */
const LISTED_MAX = 6

/** What `plainTexts` makes of an expression. */
export interface PlainTexts {
  /** One expression, or several of which any may match; with a second and a year where needed. */
  readonly texts: readonly string[]
  /** Both day fields must match. */
  readonly bothDays: boolean
}

/** Expressions that together match what `cron` matches. */
export function plainTexts(cron: CronExpression): PlainTexts {
  if (cron.isReboot) return { texts: ['@reboot'], bothDays: false }
  const { fields } = cron
  const bothDays = mustMatchBoth(cron.expression)
  const months = fields.month.length === 12 ? '*' : ranges(fields.month)
  const textOf = ([day, weekday]: readonly [string, string]) =>
    `${timeText(fields)} ${day} ${months} ${weekday}${yearText(fields)}`

  const days = dayTexts(fields)
  const weekdayFields = weekdayTexts(fields, days[0] === '*')
  if (bothDays) {
    const pairs = days.flatMap((day) => weekdayFields.map((weekday) => [day, weekday] as const))
    return { texts: pairs.map(textOf), bothDays: days[0] !== '*' && weekdayFields[0] !== '*' }
  }
  if (days[0] === '*' || weekdayFields[0] === '*') return { texts: [textOf(['*', '*'])], bothDays }
  const pairs = [
    ...days.map((day) => [day, '*'] as const),
    ...weekdayFields.map((weekday) => ['*', weekday] as const),
  ]
  return { texts: pairs.map(textOf), bothDays }
}

/** The day rule, which is a matter of the text: a star, a `?` or a `+` before the weekdays. */
function mustMatchBoth(expression: string): boolean {
  const texts = expression.trim().split(/[ \t]+/)
  const before = texts.length > 5 ? 1 : 0
  const isMacro = texts.length === 1
  return isMacro || /^[*?]/.test(texts[before + 2]!) || /^[*?+]/.test(texts[before + 4]!)
}

/** The items of a day of month field that are no plain days: `L`, `L-3`, `15W`, `LW`. */
export function specialDays({ lastDays = [], nearestWeekday }: CronFields): string[] {
  const texts = lastDays.map((before) => (before === 0 ? 'L' : `L-${before}`))
  if (nearestWeekday === undefined) return texts
  return [...texts, nearestWeekday === 'last' ? 'LW' : `${nearestWeekday}W`]
}

/** The items of a day of week field that are no plain weekdays: `5#2`, `5L`. */
export function specialWeekdays({ nthDaysOfWeek = [] }: CronFields): string[] {
  return nthDaysOfWeek.map(({ dayOfWeek, nth }) =>
    nth === 'last' ? `${dayOfWeek}L` : `${dayOfWeek}#${nth}`,
  )
}

/** Each a day of month field of its own, `*` alone for all days. */
function dayTexts(fields: CronFields): string[] {
  const { dayOfMonth } = fields
  if (dayOfMonth.length === 31) return ['*']
  const texts = specialDays(fields)
  return dayOfMonth.length > 0 ? [stepped(dayOfMonth) ?? ranges(dayOfMonth), ...texts] : texts
}

/** Each a day of week field of its own, `*` alone for all weekdays; ranges where they read well. */
function weekdayTexts(fields: CronFields, inRanges: boolean): string[] {
  const { dayOfWeek } = fields
  if (dayOfWeek.length === 7) return ['*']
  const texts = specialWeekdays(fields)
  if (dayOfWeek.length === 0) return texts
  return [inRanges ? weekdays(dayOfWeek) : dayOfWeek.join(','), ...texts]
}

function timeText({ second = [0], minute, hour, year }: CronFields): string {
  const seconds = second.length === 1 && second[0] === 0 && !year ? '' : `${minuteText(second)} `
  return `${seconds}${minuteText(minute)} ${hourText(hour, minute.length)}`
}

/** Behind a blank, nothing where the text has no year. All years are told as every year. */
function yearText({ year }: CronFields): string {
  if (!year) return ''
  return year.length === 230 ? ' *' : ` ${stepped(year) ?? ranges(year)}`
}

function minuteText(values: readonly number[]): string {
  if (values.length === 60) return '*'
  const step = stepOf(values)
  if (values[0] === 0 && step !== undefined && step * values.length === 60) return `*/${step}`
  return stepped(values) ?? ranges(values)
}

/** An hour that holds several runs is told as a range: "at 02:00" would name only the first. */
function hourText(values: readonly number[], runsPerHour: number): string {
  if (values.length === 24) return '*'
  if (runsPerHour > 1) return ranges(values, true)
  if (values.length <= LISTED_MAX) return values.join(',')
  const step = stepOf(values)
  if (values[0] === 0 && step !== undefined && step * values.length === 24) return `*/${step}`
  return stepped(values) ?? ranges(values, true)
}

function weekdays(values: readonly number[]): string {
  const sundayLast = values[0] === 0 && values[1] !== 1
  return ranges(sundayLast ? [...values.slice(1), 7] : values)
}

/** The common distance of three values or more, or of two. */
function stepOf(values: readonly number[]): number | undefined {
  const step = values[1]! - values[0]!
  return values.every((value, i) => i === 0 || value - values[i - 1]! === step) ? step : undefined
}

function stepped(values: readonly number[]): string | undefined {
  const step = values.length > LISTED_MAX ? stepOf(values) : undefined
  return step === undefined || step === 1 ? undefined : `${values[0]}-${values.at(-1)}/${step}`
}

/** Neighbours from three on as a range; the others alone, or as ranges of their own. */
function ranges(values: readonly number[], onlyRanges = false): string {
  const items: string[] = []
  for (let i = 0; i < values.length; ) {
    let end = i
    while (values[end + 1] === values[end]! + 1) end++
    if (onlyRanges || end - i >= 2) items.push(`${values[i]}-${values[end]}`)
    else items.push(...values.slice(i, end + 1).map(String))
    i = end + 1
  }
  return items.join(',')
}
