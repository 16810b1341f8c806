// `cronfence check`: reads a list to its end and reports every line that is wrong.

import { type Command, oneInput, readArguments } from './command.ts'
import { dialectOf } from './cron-options.ts'
import { Crontab } from './crontab.ts'
import { inputName, readLines } from './input.ts'
import { LineFault } from './line-fault.ts'

/** Whether a text is good does not depend on its seed. */
const ANY_SEED = ''

/** Reports on stdout, since they are the answer. */
export const checkCommand: Command = {
  synopsis: 'check FILE|- [--extended]',
  summary: 'report every bad line of a crontab-like list',
  details: `  --extended    seconds, years, names, macros, L, W, # and the like; H needs no seed

Lines are blank, comments (#), NAME=value, TZ=ZONE or CRON_TZ=ZONE for the lines below it, or five
fields and, usually, a command. A word behind the five that can only be a field, such as *, 5, 1-5,
MON-FRI or 2030, is read as one: with --extended there may be six (a second leads) or seven (a
year ends them). A bad line is reported as name:line:column: message; exit 1 then.`,
  async run(args, { out }) {
    const { values, positionals } = readArguments(args, { extended: { type: 'boolean' } })
    const input = oneInput(positionals)
    const name = inputName(input)
    const crontab = new Crontab({ dialect: dialectOf(values.extended), seed: ANY_SEED })
    let good = 0
    let bad = 0
    for await (const { first, lines } of readLines(input)) {
      const reports: string[] = []
      for (const [i, line] of lines.entries()) {
        try {
          if (crontab.read(line) !== undefined) good++
        } catch (error) {
          if (!(error instanceof LineFault)) throw error
          reports.push(error.report(name, first + i))
        }
      }
      bad += reports.length
      await out.write(reports.join(''))
    }
    await out.write(`${name}: ${good} good, ${bad} bad\n`)
    return bad === 0 ? 0 : 1
  },
}
