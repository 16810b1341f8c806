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
 * Where cronstrue's word for the weekday of `W` is also the word for a day of any week. There the
 * days that it means, Monday to Friday, are added; the runs stay the same.
 */
const VAGUE_WEEKDAY = /^(ar|ca|es|fa|fi|it|nb|nn|pt_BR|pt_PT|sv)$/

/**
 * What an expression means, in a sentence: "At 02:30, only on Sunday". Hours are told on 24. A
 * hashed value (`H`) is told as the one that was chosen.
 * @param cron a parsed expression of either dialect, or text in the standard one
 * @param locale a language cronstrue knows (`en`, `de-AT`, `pt-BR` …); `RangeError` for any other
 * @throws {CronSyntaxError} when a text is not valid; {TypeError} when `cron` is neither
 */
export function describe(cron: CronExpression | string, locale = 'en'): string {
  const language = knownLocale(locale)
  const { texts, bothDays } = plainTexts(
    isParsed(cron) ? cron : parseCron(cron, { timeZone: 'UTC' }),
  )
  const sentences = texts.map((text) => {
    const isVague = VAGUE_WEEKDAY.test(language) && /W \S+ \*/.test(text)
    return Descriptor.toString(isVague ? text.replace(/(W \S+) \*/, '$1 1-5') : text, {
      locale: language,
      use24HourTimeFormat: true,
      dayOfWeekStartIndexZero: true,
      logicalAndDayFields: bothDays || isVague,
    }).trim()
  })
  return alternatives(sentences, language)
}

/** By its shape, since it may come from a second copy of the library. */
function isParsed(cron: unknown): cron is CronExpression {
  return typeof cron === 'object' && cron !== null && 'expression' in cron && 'fields' in cron
}

/** The locale, or its language where the country makes no difference. */
function knownLocale(locale: string): string {
  const name = String(locale).replace('-', '_')
  const known = Object.keys(Descriptor.locales)
  const found = [name, name.split('_')[0]].find((one) => known.includes(one!))
  if (found !== undefined) return found
  throw new RangeError(`unknown locale ${JSON.stringify(locale)}; known: ${known.join(', ')}`)
}

/** "A, B or C" in the language; what all begin and end with is said once. */
function alternatives(sentences: readonly string[], language: string): string {
  const all = sentences.map((sentence) => sentence.split(', '))
  const [first = []] = all
  const least = Math.min(...all.map((parts) => parts.length))
  const isShared = (at: number) => all.every((parts) => parts.at(at) === first.at(at))
  if (all.length < 2) return first.join(', ')
  let head = 0
  while (head < least - 1 && isShared(head)) head++
  let tail = 0
  while (tail < least - head - 1 && isShared(-1 - tail)) tail++
  const either = new Intl.ListFormat((INTL_NAMES[language] ?? language).replace('_', '-'), {
    type: 'disjunction',
  }).format(all.map((parts) => parts.slice(head, parts.length - tail).join(', ')))
  return [...first.slice(0, head), either, ...first.slice(first.length - tail)].join(', ')
}
