// `cronfence next`: the next runs of one expression, a line each, for people and for pipes.

import type { Command } from './command.ts'
import { CRON_OPTIONS_HELP, nextRuns, noRunText, readCronRequest } from './cron-options.ts'
import { utcIso, WallClock } from './wall-clock.ts'

const LINES_PER_WRITE = 1000

/** A line per run: the instant in UTC, a tab, the wall time with its offset. */
export const nextCommand: Command = {
  synopsis: "next 'EXPR' [--tz ZONE] [-n N] [--from T] [--extended] [--json]",
  summary: 'the next runs of an expression',
  details: `${CRON_OPTIONS_HELP}

Prints a line per run: UTC, a tab, wall time with its offset. Exit 1 when there is no run within the
horizon of four years.`,
  async run(args, { out, err }) {
    const { cron, runs, from, json } = readCronRequest(args)
    const clock = new WallClock(cron.timeZone)
    if (json) {
      const found = [...nextRuns(cron, from, runs)]
      const { expression, timeZone } = cron
      const answer = { expression, timeZone, from: new Date(from).toISOString() }
      const list = found.map((run) => ({ utc: utcIso(run), wall: clock.iso(run) }))
      await out.write(`${JSON.stringify({ ...answer, runs: list })}\n`)
      return found.length > 0 ? 0 : 1
    }
    let written = 0
    let lines: string[] = []
    for (const run of nextRuns(cron, from, runs)) {
      written++
      lines.push(`${utcIso(run)}\t${clock.iso(run)}\n`)
      if (lines.length === LINES_PER_WRITE) {
        await out.write(lines.join(''))
        lines = []
      }
    }
    await out.write(lines.join(''))
    if (written < runs) {
      const place = written === 0 ? '' : `after the ${written} above: `
      await err.write(`cronfence: ${place}${noRunText(cron)}\n`)
    }
    return written > 0 ? 0 : 1
  },
}
