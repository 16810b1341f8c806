// Text for people, through cronstrue. Its reading of a text differs from ours in places (a step that
// does not divide its field, starred day rule, Sunday as 7), so it never sees the user's text: it
// gets plain fields rebuilt from the values that the engine parsed, in forms it reads exactly.

import cronstrue from 'cronstrue/i18n.js'
import { type CronExpression, parseCron } from '../bindings/index.ts'

// As a default, Node hands over the whole CommonJS module, bundlers its `default` export.
const Descriptor = (cronstrue as { default?: typeof cronstrue }).default ?? cronstrue

/** More values than this are told as a step or as ranges. */
const LISTED_MAX = 6

/** cronstrue names its locales in its own way where `Intl` would take another. */
const INTL_NAMES: Readonly<Record<string, string>> = { my: 'ms' }

/**
 * What an expression means, in a sentence: "At 02:30, only on Sunday". Hours are told on 24.
 * @param cron a parsed expression, or text in the standard dialect
 * @param locale a language cronstrue knows (`en`, `de`, `pt-BR` …); `RangeError` for any other
 */
export function describe(cron: CronExpression | string, locale = 'en'): string {
  const language = knownLocale(locale)
  const { texts, bothDays } = plainTexts(
    typeof cron === 'string' ? parseCron(cron, { timeZone: 'UTC' }) : cron,
  )
  const sentences = texts.map((text) =>
    Descriptor.toString(text, {
      locale: language,
      use24HourTimeFormat: true,
      dayOfWeekStartIndexZero: true,
      logicalAndDayFields: bothDays,
    }).trim(),
  )
  return alternatives(sentences, language)
}

function knownLocale(locale: string): string {
  const name = String(locale).replace('-', '_')
  const known = Object.keys(Descriptor.locales)
  if (known.includes(name)) return name
  throw new RangeError(`unknown locale ${JSON.stringify(locale)}; known: ${known.join(', ')}`)
}

/** Expressions whose runs together are those of `cron`, written so that they read in one way only. */
export function plainTexts(cron: CronExpression): { texts: string[]; bothDays: boolean } {
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

/** "A or B" in the language; what both begin and end with is said once. */
function alternatives(sentences: readonly string[], language: string): string {
  const [first = '', second] = sentences
  if (second === undefined) return first
  const a = first.split(', ')
  const b = second.split(', ')
  let head = 0
  while (head < Math.min(a.length, b.length) - 1 && a[head] === b[head]) head++
  let tail = 0
  while (tail < Math.min(a.length, b.length) - head - 1 && a.at(-1 - tail) === b.at(-1 - tail))
    tail++
  const either = new Intl.ListFormat((INTL_NAMES[language] ?? language).replace('_', '-'), {
    type: 'disjunction',
  }).format([a, b].map((parts) => parts.slice(head, parts.length - tail).join(', ')))
  return [...a.slice(0, head), either, ...a.slice(a.length - tail)].join(', ')
}
