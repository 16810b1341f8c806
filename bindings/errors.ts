// Turns a refusal of the core (a status and a position) into an error that helps.

import type { Refusal } from './module.ts'

const FIELD_NAMES = [
  'minute',
  'hour',
  'day of month',
  'month',
  'day of week',
  'expression',
] as const
const ALLOWED = ['0-59', '0-23', '1-31', '1-12', '0-7 (0 and 7 are Sunday)']
const FIELDS = 'minute, hour, day of month, month, day of week'
const FORMS = '*, */S, N, A-B and A-B/S, in a list with commas'

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

/** What is said of each status of assembly/status.ts, given the offending text and its field. */
const EXPLANATIONS: Record<number, (text: string, field: number) => string> = {
  1: () => `ends before its last field; expected five: ${FIELDS}`,
  2: (text) => `${text} follows the last field; expected five: ${FIELDS}`,
  3: (text) => `${text} has no place here; allowed are ${FORMS}`,
  4: () => `a value is missing; allowed are ${FORMS}`,
  5: (text, field) => `${text} is out of range; allowed are ${ALLOWED[field]}`,
  6: (text) => `the range ${text} ends before it starts; expected A-B with A not above B`,
  7: (text) => `the step ${text} is zero; expected a whole number from 1 on`,
  8: (text) => `${text} has a step but is no range; expected */S or A-B/S`,
  9: (text) => `no selected month has a day ${text}, so this would never run`,
}

/** The error for a refused expression. */
export function syntaxError(expression: string, { status, field, start, end }: Refusal) {
  const name = FIELD_NAMES[field]!
  const what = EXPLANATIONS[status]!(quote(expression.slice(start, end)), field)
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
