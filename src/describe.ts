// Text for people, through cronstrue. Its reading of a text differs from ours in places, so it
// never sees the user's text, but plain ones that mean the same (plain-texts.ts).

import cronstrue from 'cronstrue/i18n.js'
import { type CronExpression, parseCron } from '../bindings/index.ts'
import { plainTexts } from './plain-texts.ts'

// As a default, Node hands over the whole CommonJS module, bundlers its `default` export.
const Descriptor = (cronstrue as { default?: typeof cronstrue }).default ?? cronstrue

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
