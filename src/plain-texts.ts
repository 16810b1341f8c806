// An expression rewritten from the values that the engine read, in forms that have one reading. It
// keeps describe.ts clear of what cronstrue takes differently: a step that does not divide its
// field, both day fields at once, lists with a star, Sunday as 7.

import type { CronExpression } from '../bindings/index.ts'

/** More values than this are written as a step or as ranges. */
const LISTED_MAX = 6

/** What `plainTexts` makes of an expression. */
export interface PlainTexts {
  /** One expression, or two of which either may match. */
  readonly texts: readonly string[]
  /** Both day fields must match. */
  readonly bothDays: boolean
}

/** Expressions that together match what `cron` matches. */
export function plainTexts(cron: CronExpression): PlainTexts {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = cron.fields
  const time = `${minuteText(minute)} ${hourText(hour, minute.length)}`
  const months = month.length === 12 ? '*' : ranges(month)
  const [, , daysText = '', , weekdaysText = ''] = cron.expression.trim().split(/[ \t]+/)
  const oneStarred = daysText.startsWith('*') || weekdaysText.startsWith('*')
  const everyDay = dayOfMonth.length === 31
  const everyWeekday = dayOfWeek.length === 7

  if (!oneStarred && (everyDay || everyWeekday)) {
    return { texts: [`${time} * ${months} *`], bothDays: false }
  }
  const days = everyDay ? '*' : (stepped(dayOfMonth) ?? ranges(dayOfMonth))
  if (everyWeekday) return { texts: [`${time} ${days} ${months} *`], bothDays: false }
  if (everyDay) return { texts: [`${time} * ${months} ${weekdays(dayOfWeek)}`], bothDays: false }
  const listed = dayOfWeek.join(',')
  return oneStarred
    ? { texts: [`${time} ${days} ${months} ${listed}`], bothDays: true }
    : { texts: [`${time} ${days} ${months} *`, `${time} * ${months} ${listed}`], bothDays: false }
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
