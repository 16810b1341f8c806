// `cronfence batch`: a next run for every line of a TSV, any number of them, in memory that does
// not grow: a block is read, computed in one call of the engine, and written before the next.

import { CronBatch, type ExpressionOptions } from '../../bindings/index.ts'
import { systemClock } from '../clock.ts'
import { type Command, oneInput, readArguments } from './command.ts'
import { dialectOf } from './cron-options.ts'
import { inputName, readLines } from './input.ts'
import { INSTANT_FORMS, readInstant } from './instant.ts'
import { assertWholeLine, LineFault, withColumns } from './line-fault.ts'
import type { Output } from './output.ts'
import { utcIso } from './wall-clock.ts'

/** Expressions kept parsed, and their characters; beyond it all are dropped, and parsed anew. */
const EXPRESSIONS_MAX = 50_000
const CHARACTERS_MAX = 16 * 1024 * 1024

const PROGRESS_EVERY_MS = 250

const NO_RUN = '-'
const BAD_LINE = '!'

/** A line out for every line in, in the same order. */
export const batchCommand: Command = {
  synopsis: 'batch [FILE|-] [--extended] [--seed TEXT]',
  summary: 'append the next run to every line of a TSV',
  details: `  --extended    seconds, years, names, macros, L, W, # and the like
  --seed TEXT   what H is chosen by, for all lines; the scheduler takes a task's id

A line is EXPR, ZONE and FROM, separated by tabs; more columns may follow.
ZONE is an IANA name, UTC or local.
FROM is ${INSTANT_FORMS}.

Each line is written with one more column: its first run strictly after FROM as ISO UTC,
${NO_RUN} when there is none within four years, ${BAD_LINE} when the line is bad. Bad lines are
reported on stderr as name:line:column: message, and the exit code is 1 at the end.
Blank lines stay blank.`,
  async run(args, { out, err }) {
    const { values, positionals } = readArguments(args, {
      extended: { type: 'boolean' },
      seed: { type: 'string' },
    })
    const input = oneInput(positionals, '-')
    const planner = new Planner({ dialect: dialectOf(values.extended), seed: values.seed })
    const progress = new Progress(err)
    let bad = 0
    for await (const { first, lines } of readLines(input)) {
      const { answers, faults } = planner.answer(lines)
      if (faults.size > 0) {
        await progress.clear()
        const reports = [...faults].map(([i, fault]) => fault.report(inputName(input), first + i))
        await err.write(reports.join(''))
      }
      bad += faults.size
      await out.write(answers.join(''))
      await progress.show(first + lines.length - 1)
    }
    await progress.clear()
    return bad === 0 ? 0 : 1
  },
}

/** Lines in, lines out. */
class Planner {
  readonly #options: ExpressionOptions
  #batch = new CronBatch()
  /** Ids by the line's start up to the second tab. */
  readonly #ids = new Map<string, number>()
  #characters = 0

  /** `options` are those of all lines. */
  constructor(options: ExpressionOptions) {
    this.#options = options
  }

  /** The lines to write; faults by index. */
  answer(lines: readonly string[]): { answers: string[]; faults: Map<number, LineFault> } {
    if (this.#ids.size > EXPRESSIONS_MAX || this.#characters > CHARACTERS_MAX) {
      this.#batch = new CronBatch()
      this.#ids.clear()
      this.#characters = 0
    }
    const faults = new Map<number, LineFault>()
    const rows: number[] = []
    const ids: number[] = []
    const from: number[] = []
    const answers = lines.map((line, i) => {
      if (line === '') return '\n'
      try {
        const question = this.#read(line)
        ids.push(question.id)
        from.push(question.from)
        rows.push(i)
      } catch (error) {
        if (!(error instanceof LineFault)) throw error
        faults.set(i, error)
      }
      return `${line}\t${BAD_LINE}\n`
    })
    const runs = this.#batch.next(Uint32Array.from(ids), Float64Array.from(from))
    rows.forEach((row, i) => {
      const run = runs[i]!
      answers[row] = `${lines[row]}\t${Number.isNaN(run) ? NO_RUN : utcIso(run)}\n`
    })
    return { answers, faults }
  }

  #read(line: string): { id: number; from: number } {
    assertWholeLine(line)
    const zoneAt = line.indexOf('\t') + 1
    const fromAt = zoneAt === 0 ? 0 : line.indexOf('\t', zoneAt) + 1
    if (fromAt === 0) {
      throw new LineFault('three columns separated by tabs are needed: EXPR, ZONE, FROM', 1)
    }
    const end = line.indexOf('\t', fromAt)
    const fromText = line.slice(fromAt, end < 0 ? line.length : end)
    const from = readInstant(fromText)
    if (from === undefined) {
      const text = JSON.stringify(fromText)
      throw new LineFault(`FROM is ${INSTANT_FORMS}; not ${text}`, fromAt + 1)
    }
    const key = line.slice(0, fromAt)
    const known = this.#ids.get(key)
    if (known !== undefined) return { id: known, from }
    const id = this.#add(line.slice(0, zoneAt - 1), key.slice(zoneAt, -1))
    // A copy, since a slice keeps the whole block that was read.
    this.#ids.set(Buffer.from(key).toString(), id)
    this.#characters += key.length
    return { id, from }
  }

  #add(expression: string, timeZone: string): number {
    const columns = { text: 1, zone: expression.length + 2 }
    const options = { ...this.#options, timeZone }
    return withColumns(columns, () => this.#batch.add(expression, options))
  }
}

/** A line count on a terminal; nothing elsewhere. */
class Progress {
  readonly #err: Output
  #shownAt = Number.NEGATIVE_INFINITY

  constructor(err: Output) {
    this.#err = err
  }

  async show(lines: number): Promise<void> {
    const now = systemClock.monotonic()
    if (!this.#err.isTerminal || now - this.#shownAt < PROGRESS_EVERY_MS) return
    this.#shownAt = now
    await this.#err.write(`\r${lines.toLocaleString('en')} lines`)
  }

  async clear(): Promise<void> {
    if (this.#err.isTerminal) await this.#err.write('\r\x1b[K')
  }
}
