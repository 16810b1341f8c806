// `cronfence list`: a crontab-like list as a table, three runs per expression beside its text, with
// a mark where a transition of the coming year touches it. Rows are written as lines are read.

import type { CronExpression, ParseOptions } from '../../bindings/index.ts'
import { describe } from '../describe.ts'
import { columns, wrap } from './columns.ts'
import { type Command, oneInput, readArguments } from './command.ts'
import { dialectOf, fromOption, nextRuns } from './cron-options.ts'
import { Crontab } from './crontab.ts'
import { inputName, readLines } from './input.ts'
import { INSTANT_FORMS } from './instant.ts'
import { LineFault } from './line-fault.ts'
import { printable } from './printable.ts'
import { transitionEffects, transitionsOfYear } from './transition-effects.ts'
import { utcText, WallClock, wallText } from './wall-clock.ts'

const RUNS = 3

const RUN_WIDTH = 'Sun 2026-03-29 03:30'.length
const UTC_WIDTH = '2026-03-29 01:30'.length
const MARK_WIDTH = '03-29 doubled 4'.length
const GAPS_WIDTH = 3 * 2
const TEXT_WIDTH_MIN = 20
const TEXT_WIDTH_MAX = 60

const LEGEND = `
Clock changes of the coming year that touch a run: the day, and how many slots
  moved     the wall time does not exist on that day: the run is later by the gap's length
  skipped   the wall time does not exist on that day: no run
  doubled   the wall time happens twice on that day: a run in both passes
`

/** A bad line is reported on stderr, and the others go on. */
export const listCommand: Command = {
  synopsis: 'list FILE|- [--from T] [--extended] [--seed TEXT]',
  summary: 'a crontab-like list as a table: meaning, next runs, clock changes',
  details: `  --from T      runs strictly after T (default: now):
                ${INSTANT_FORMS}
  --extended    seconds, years, names, macros, L, W, # and the like
  --seed TEXT   what H is chosen by, for all lines; the scheduler takes a task's id

Reads the lines that "check" reads. Exit 1 when a line is bad.`,
  async run(args, { out, err }) {
    const { values, positionals } = readArguments(args, {
      from: { type: 'string' },
      extended: { type: 'boolean' },
      seed: { type: 'string' },
    })
    const input = oneInput(positionals)
    const options = { dialect: dialectOf(values.extended), seed: values.seed }
    const crontab = new Crontab(options)
    const table = new Table(out.columns, fromOption(values.from), options)
    let bad = 0
    // Goes out with what comes first: an input that cannot be read has no table.
    let head = table.head()
    const write = async (text: string) => {
      await out.write(head + text)
      head = ''
    }
    for await (const { first, lines } of readLines(input)) {
      for (const [i, line] of lines.entries()) {
        try {
          const cron = crontab.read(line)
          if (cron !== undefined) await write(table.row(cron))
        } catch (error) {
          if (!(error instanceof LineFault)) throw error
          bad++
          await err.write(error.report(inputName(input), first + i))
        }
      }
    }
    await write(LEGEND)
    return bad === 0 ? 0 : 1
  },
}

/** No wider than a run. */
function noRun({ isReboot }: CronExpression): string {
  return isReboot ? 'as a machine starts' : 'no run in four years'
}

/** Lays rows out for one width and one instant. */
class Table {
  readonly #from: number
  readonly #options: ParseOptions
  readonly #widths: readonly number[]

  constructor(width: number, from: number, options: ParseOptions) {
    const rest = width - RUN_WIDTH - UTC_WIDTH - MARK_WIDTH - GAPS_WIDTH
    const textWidth = Math.min(Math.max(rest, TEXT_WIDTH_MIN), TEXT_WIDTH_MAX)
    this.#from = from
    this.#options = options
    this.#widths = [textWidth, RUN_WIDTH, UTC_WIDTH, MARK_WIDTH]
  }

  head(): string {
    const names = [['EXPRESSION, ZONE'], ['NEXT RUNS IN ZONE'], ['IN UTC'], ['CLOCK CHANGES']]
    return `${columns(names, this.#widths)}\n`
  }

  row(cron: CronExpression): string {
    const clock = new WallClock(cron.timeZone)
    const runs = [...nextRuns(cron, this.#from, RUNS)]
    const heading = [printable(cron.expression), cron.timeZone]
    const cells = [
      [...heading, ...wrap(describe(cron), this.#widths[0]!)],
      runs.length > 0 ? runs.map((run) => clock.text(run)) : [noRun(cron)],
      runs.map(utcText),
      this.#marks(cron, clock),
    ]
    return `\n${columns(cells, this.#widths)}\n`
  }

  #marks(cron: CronExpression, clock: WallClock): string[] {
    const found = transitionsOfYear(clock, this.#from)
    return transitionEffects(cron, this.#options, found)
      .filter(({ kind }) => kind !== 'once')
      .map(({ kind, slots }) => {
        const [date = ''] = wallText(slots[0]!.wall).split(' ')
        return `${date.slice(-5)} ${kind} ${slots.length}`
      })
  }
}
