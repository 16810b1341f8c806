// Turns a refusal of the core (a status and a position) into an error that helps.

import type { Refusal } from './module.ts'
import type { Dialect } from './options.ts'

/** In the order of assembly/field.ts. */
const FIELD_NAMES = [
  'second',
  'minute',
  'hour',
  'day of month',
  'month',
  'day of week',
  'year',
  'expression',
] as const
const ALLOWED = [
  '0-59',
  '0-59',
  '0-23',
  '1-31',
  '1-12',
  '0-7 (0 and 7 are Sunday)',
  '1970-2199',
] as const
const DAY_OF_WEEK = 5
const FIELDS = 'minute, hour, day of month, month, day of week'
const FORMS = '*, */S, N, A-B and A-B/S, in a list with commas'
/** What the extended dialect allows besides in each field. */
const OTHER_FORMS = [
  ' and H',
  ' and H',
  ' and H',
  ', H, ?, L and L-N (NW and LW alone)',
  ', H and names (JAN)',
  ', H, ?, names (MON), D#N, DL and D#L',
  '',
] as const

/** The field an error is about; `'expression'` when it is the number of fields. */
export type CronFieldName = (typeof FIELD_NAMES)[number]

/** A cron text that is not valid: which field, where in the text, and what would be. */
export class CronSyntaxError extends TypeError {
  override readonly name = 'CronSyntaxError'
  /** The field at fault. */
  readonly field: CronFieldName
  /** UTF-16 index into `expression` where the offending text starts. */
  readonly index: number
  /** The text as it was given. */
  readonly expression: string

  constructor(message: string, field: CronFieldName, index: number, expression: string) {
    super(message)
    this.field = field
    this.index = index
    this.expression = expression
  }
}

/** What was refused, as the explanations need it. */
interface Context {
  /** The offending text, in quotes. */
  readonly text: string
  readonly field: number
  readonly dialect: Dialect
}

/** What is said of each status of assembly/status.ts. */
const EXPLANATIONS: Record<number, (context: Context) => string> = {
  1: ({ dialect }) => `ends before its last field; expected ${fieldsOf(dialect)}`,
  2: ({ text, dialect }) => `${text} follows the last field; expected ${fieldsOf(dialect)}`,
  3: ({ text, ...at }) => `${text} has no place here; allowed are ${formsOf(at)}`,
  4: (at) => `a value is missing; allowed are ${formsOf(at)}`,
  5: ({ text, field }) => `${text} is out of range; allowed are ${ALLOWED[field]}`,
  6: ({ text }) => `the range ${text} ends before it starts; expected A-B with A not above B`,
  7: ({ text }) => `the step ${text} is zero; expected a whole number from 1 on`,
  8: ({ text }) => `${text} has a step but is no range; expected */S or A-B/S`,
  9: ({ text }) => `no selected month has a day ${text}, so this would never run`,
  10: ({ text, field }) =>
    `${text} is no name; allowed are ${field === DAY_OF_WEEK ? 'SUN to SAT' : 'JAN to DEC'}`,
  11: ({ text }) =>
    `${text} is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and ` +
    '@reboot, each alone and in small letters',
  12: ({ text }) => `${text}: a day with W is one day from 1 to 31 or L, alone in its field`,
  13: ({ text }) => `${text}: H, L and W are capitals`,
  14: ({ text }) =>
    `${text} lacks its weekday; expected as in 5L or FRI#L, or 6 for every Saturday`,
  15: ({ text }) =>
    `${text} is out of range; a weekday comes 1 to 5 times a month, or L for the last`,
  16: ({ text }) => `${text} is out of range; allowed are 0 to 30 days before the last`,
  17: ({ text }) => `${text} needs the option seed, a text that it is chosen by`,
  18: () => 'a + may only open the day of week, where it asks for both day fields to match',
}

function fieldsOf(dialect: Dialect): string {
  return dialect === 'standard'
    ? `five: ${FIELDS}`
    : `five: ${FIELDS}; or a second before them; or that and a year behind them`
}

function formsOf({ field, dialect }: Omit<Context, 'text'>): string {
  if (dialect === 'standard') return FORMS
  return `*, */S, N, N/S, A-B, A-B/S${OTHER_FORMS[field] ?? ''}, in a list with commas`
}

/** The error for a refused expression; `hint` is a sentence's end that may help. */
export function syntaxError(
  expression: string,
  { status, field, start, end }: Refusal,
  { dialect, hint }: { readonly dialect: Dialect; readonly hint: string },
): CronSyntaxError {
  const name = FIELD_NAMES[field]!
  const text = quote(expression.slice(start, end))
  const what = EXPLANATIONS[status]!({ text, field, dialect }) + (hint && `; ${hint}`)
  return new CronSyntaxError(
    `cron ${quote(expression)}: ${name}, column ${start + 1}: ${what}`,
    name,
    start,
    expression,
  )
}

/** The longest piece of a foreign text that an error repeats. */
const QUOTE_MAX = 60

/** A text in quotes, shortened, with everything escaped that could disturb a log line. */
function quote(text: string): string {
  const short = text.length > QUOTE_MAX ? `${text.slice(0, QUOTE_MAX)}…` : text
  return JSON.stringify(short).replace(
    /[\u007f-\u00a0\u2000-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
