// Reads crontab-like lists line by line: comments, blank lines, NAME=value, zone lines, and entries
// of five fields or more with an optional command. What the fields mean is the engine's business.

import { type CronExpression, type ExpressionOptions, parseCron } from '../../bindings/index.ts'
import { assertWholeLine, withColumns } from './line-fault.ts'

// Each answers in linear time, however long the line and its runs of blanks.
const NOTHING = /^[ \t]*(?:#|$)/
const ASSIGNMENT = /^[ \t]*([A-Za-z_]\w*)[ \t]*=(.*)$/s
const MACRO = /^@[^ \t]*/
const FIVE_FIELDS = /^[^ \t]+(?:[ \t]+[^ \t]+){4}/
const NEXT_WORD = /[ \t]+([^ \t]+)/y
const VALUE = String.raw`(?:\d+|SUN|MON|TUE|WED|THU|FRI|SAT)`
/** A word behind five fields that can only be one more: stars, numbers, weekdays and H. */
const LATER_FIELD = new RegExp(
  String.raw`^(?:[*?]|\+?(?:${VALUE}|H(?:\(\S*\))?)(?:L?[-,/#](?:${VALUE}|[*?L]))*L?$)`,
  'i',
)
const QUOTED = /^(["'])(.*)\1$/s

/** A list, read from its first line on; it keeps the zone that the lines so far have set. */
export class Crontab {
  readonly #options: ExpressionOptions
  #timeZone = 'local'

  /** `options` are those of all lines; the list itself says the zone. */
  constructor(options: ExpressionOptions) {
    this.#options = options
  }

  /** The line's expression, or `undefined` when it has none. Throws a `LineFault`. */
  read(line: string): CronExpression | undefined {
    assertWholeLine(line)
    if (NOTHING.test(line)) return undefined
    const [, name, value = ''] = ASSIGNMENT.exec(line) ?? []
    if (name !== undefined) {
      if (name === 'TZ' || name === 'CRON_TZ') this.#setTimeZone(line, value.trim())
      return undefined
    }
    const start = line.search(/[^ \t]/)
    const options = { ...this.#options, timeZone: this.#timeZone }
    const expression = expressionOf(line.slice(start))
    return withColumns({ text: start + 1 }, () => parseCron(expression, options))
  }

  #setTimeZone(line: string, value: string) {
    const timeZone = QUOTED.exec(value)?.[2] ?? value
    const zone = line.lastIndexOf(value) + 1
    withColumns({ zone }, () => parseCron('* * * * *', { timeZone }))
    this.#timeZone = timeZone
  }
}

/** An entry without its command; in whole when it has too few fields. */
function expressionOf(entry: string): string {
  const [macro] = MACRO.exec(entry) ?? []
  if (macro !== undefined) return macro
  let end = FIVE_FIELDS.exec(entry)?.[0].length ?? entry.length
  for (;;) {
    NEXT_WORD.lastIndex = end
    const [, word] = NEXT_WORD.exec(entry) ?? []
    if (word === undefined || !LATER_FIELD.test(word)) return entry.slice(0, end)
    end = NEXT_WORD.lastIndex
  }
}
