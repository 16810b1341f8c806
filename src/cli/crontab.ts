// Reads crontab-like lists line by line: comments, blank lines, NAME=value, zone lines, and entries
// of five fields with an optional command. What the fields mean is the engine's business.

import { type CronExpression, parseCron } from '../../bindings/index.ts'
import { dialectOf } from './cron-options.ts'
import { assertWholeLine, withColumns } from './line-fault.ts'

// Each answers in linear time, however long the line and its runs of blanks.
const NOTHING = /^[ \t]*(?:#|$)/
const ASSIGNMENT = /^[ \t]*([A-Za-z_]\w*)[ \t]*=(.*)$/s
const MACRO = /^@[^ \t]*/
const FIVE_FIELDS = /^[^ \t]+(?:[ \t]+[^ \t]+){4}/
const QUOTED = /^(["'])(.*)\1$/s

/** A list, read from its first line on; it keeps the zone that the lines so far have set. */
export class Crontab {
  readonly #extended: boolean
  #timeZone = 'local'

  constructor(extended: boolean) {
    this.#extended = extended
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
    const text = line.slice(start)
    const macro = this.#extended ? MACRO.exec(text) : null
    const [expression = text] = macro ?? FIVE_FIELDS.exec(text) ?? []
    const options = { dialect: dialectOf(this.#extended), timeZone: this.#timeZone }
    return withColumns({ text: start + 1 }, () => parseCron(expression, options))
  }

  #setTimeZone(line: string, value: string) {
    const timeZone = QUOTED.exec(value)?.[2] ?? value
    const zone = line.lastIndexOf(value) + 1
    withColumns({ zone }, () => parseCron('* * * * *', { timeZone }))
    this.#timeZone = timeZone
  }
}
