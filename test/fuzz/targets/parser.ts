// Expressions: both dialects beside the slow reference, the laws of the answers, and what is told
// of a refused text. Input: an expression, or a line with a zone's letter and an instant before it.

import {
  CronBatch,
  CronSyntaxError,
  type ParseOptions,
  parseCron,
} from '../../../bindings/index.ts'
import { describe } from '../../../src/describe.ts'
import type { Sample } from '../../core/arbitraries.ts'
import { checkLaws, compareAcceptance, compareWithReference } from '../../core/comparisons.ts'
import { must, refusal, type Target } from '../target.ts'

const ZONES = ['UTC', 'Europe/Madrid', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Kolkata']
const FIELDS = ['second', 'minute', 'hour', 'day of month', 'month', 'day of week', 'year']
const LISTS = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek', 'year'] as const
const NAMED = [...FIELDS, 'expression']

const FROM = Date.parse('2026-03-27T12:00:00Z')
const INSTANT_MAX = 8.64e15
/** The reference looks at one day after another: it is asked about these years only. */
const REFERENCE_FROM = Date.parse('1971-01-01')
const REFERENCE_UNTIL = Date.parse('2190-01-01')
/** One text in so many is compared run by run, for the reference is slow. */
const COMPARED_EVERY = 16
/** The reference lists a day at a time; it is spared those with more runs than this. */
const RUNS_PER_DAY_MAX = 20_000
/** Two excerpts, every character of them escaped. */
const MESSAGE_MAX = 1500

/** The parser, the searches, and the words for a refusal. */
export const parser: Target = {
  words: [
    ...['*', '*/', '-', ',', '/', '?', 'L', 'W', 'LW', 'L-', '#', '#L', 'H', 'H(', ')', '+', '@'],
    ...['0', '59', '23', '31', '12', '7', '2199', '1970', '2147483648', '18446744073709551616'],
    ...['MON', 'SUN', 'JAN', 'DEC', '@reboot', '@daily', '@yearly', '@midnight', 'FRI-MON'],
    ...['* * * * *', '0 0 29 2 ', '30 2 ', ' \t', '\u00a0', '\n', '\r\n', '\u0660'],
  ],
  seeds: [
    '* * * * *',
    'b1774746000000\n30 2 * * *',
    'd1774746000000\n*/15 0-6 1,15 * 5-7',
    'c0\n0 0 29 2 *',
    '0 30 22-2 LW NOV-FEB ? 2026/2',
    'e\nH(0-29)/10 H * * MON#1,FRI#L',
    '0 0 L-3,15 * +MON',
    '*/17 07-6 1,* 1W * 5-7',
    '@reboot',
  ],
  fuzz(text) {
    const { expression, timeZone, at } = questionOf(text)
    for (const dialect of ['standard', 'extended'] as const) {
      // Which has no times, so the reference does not know it.
      if (expression.trim() !== '@reboot') {
        compareAcceptance(expression, { comparisons: 0 }, dialect)
      }
      const options = { dialect, timeZone, ...(dialect === 'extended' && { seed: 'seed' }) }
      const refused = refusal(() => parseCron(expression, options), CronSyntaxError)
      if (refused) checkRefusal(refused, expression)
      else checkAnswers(expression, options, at)
    }
  },
}

function questionOf(text: string): { expression: string; timeZone: string; at: number } {
  const [, letter = 'a', digits, expression = text] =
    /^([a-z])(-?\d{0,16})\n(.*)$/s.exec(text) ?? []
  const index = letter.charCodeAt(0) - 'a'.charCodeAt(0)
  const at = digits ? Number(digits) : FROM
  return {
    expression,
    timeZone: ZONES[index % ZONES.length]!,
    at: Math.abs(at) <= INSTANT_MAX ? at : FROM,
  }
}

function checkRefusal(error: CronSyntaxError, expression: string): void {
  must(error.expression === expression, 'a refusal has another text')
  must(NAMED.includes(error.field), 'a refusal names no field')
  must(Number.isInteger(error.index), 'a refusal has no position')
  must(error.index >= 0 && error.index <= expression.length, 'a position outside the text')
  must(error.message.length <= MESSAGE_MAX, 'a refusal repeats a long text')
}

function checkAnswers(expression: string, options: ParseOptions, at: number): void {
  const cron = parseCron(expression, options)
  const next = cron.next(at)?.getTime()
  const batch = new CronBatch()
  const [inBatch] = batch.next(Uint32Array.of(batch.add(expression, options)), Float64Array.of(at))
  must(Object.is(inBatch, next ?? Number.NaN), 'a batch differs from next')
  const values = LISTS.flatMap((name) => cron.fields[name] ?? [])
  must(values.every(Number.isInteger), 'a field has what is no value')
  const told = describe(cron)
  must(told.length > 0 && !told.includes('\n'), 'a description is no line')
  if (cron.isReboot) {
    must(next === undefined, '@reboot has a run')
    return
  }
  if (next !== undefined) must(next > at, 'next is not later')
  const { dialect, timeZone = 'UTC' } = options
  const isHashed = expression.includes('H')
  const { second = [0], minute, hour } = cron.fields
  const isFrequent = second.length * minute.length * hour.length > RUNS_PER_DAY_MAX
  const isSampled = !isFrequent && hash(expression) % COMPARED_EVERY === 0
  if (isHashed || at < REFERENCE_FROM || at > REFERENCE_UNTIL) return
  const policies = { gap: undefined, fold: undefined, horizonYears: undefined }
  const sample: Sample = { ...policies, expression, timeZone, at, spanMs: 86_400_000 }
  const asked = dialect === 'extended' ? { ...sample, dialect } : sample
  checkLaws(asked, { comparisons: 0 })
  if (isSampled) compareWithReference(asked, { comparisons: 0 })
}

function hash(text: string): number {
  let sum = 7
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0
  return sum
}
