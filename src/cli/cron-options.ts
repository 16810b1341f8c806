// The options that `next` and `explain` share, from arguments to a parsed expression.

import {
  type CronExpression,
  type Dialect,
  type ParseOptions,
  parseCron,
} from '../../bindings/index.ts'
import { systemClock } from '../clock.ts'
import { count, oneExpression, oneOf, readArguments, UsageError } from './command.ts'
import { INSTANT_FORMS, readInstant } from './instant.ts'

const RUNS_DEFAULT = 5
const RUNS_MAX = 1_000_000

const OPTIONS = {
  tz: { type: 'string' },
  n: { type: 'string', short: 'n' },
  from: { type: 'string' },
  extended: { type: 'boolean' },
  gap: { type: 'string' },
  fold: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'boolean' },
} as const

/** The help of these options. */
export const CRON_OPTIONS_HELP = `\
  --tz ZONE     IANA time zone the fields are read in (default: this machine's)
  -n N          how many runs, 1 to ${RUNS_MAX} (default ${RUNS_DEFAULT})
  --from T      runs strictly after T (default: now):
                ${INSTANT_FORMS}
  --extended    seconds, years, names, macros, L, W, # and the like
  --gap P       wall times a transition skips: shift or skip (default: by the hour field)
  --fold P      wall times that happen twice: first, second or both (default: by the hour field)
  --seed TEXT   what H is chosen by; the scheduler takes a task's id
  --json        one JSON object`

/** What the user asked for. */
export interface CronRequest {
  readonly cron: CronExpression
  /** What `cron` was made with. */
  readonly options: ParseOptions
  readonly runs: number
  readonly from: number
  readonly json: boolean
}

/** Reads the arguments and parses the expression; the engine's own errors pass through. */
export function readCronRequest(args: readonly string[]): CronRequest {
  const { values, positionals } = readArguments(args, OPTIONS)
  const expression = oneExpression(positionals)
  const gap = oneOf('--gap', values.gap, ['shift', 'skip'])
  const fold = oneOf('--fold', values.fold, ['first', 'second', 'both'])
  const options: ParseOptions = {
    dialect: dialectOf(values.extended),
    ...(values.tz !== undefined && { timeZone: values.tz }),
    ...(gap && { gap }),
    ...(fold && { fold }),
    ...(values.seed !== undefined && { seed: values.seed }),
  }
  return {
    cron: parseCron(expression, options),
    options,
    runs: count('-n', values.n ?? String(RUNS_DEFAULT), RUNS_MAX),
    from: fromOption(values.from),
    json: values.json === true,
  }
}

/** The dialect of `--extended`. */
export function dialectOf(extended: boolean | undefined): Dialect {
  return extended ? 'extended' : 'standard'
}

/** Why an expression has no run, or none beyond some. */
export function noRunText({ isReboot }: CronExpression): string {
  return isReboot
    ? 'no run: @reboot means the start of a machine, and no time'
    : 'no run within the horizon of four years'
}

/** Up to `limit` runs strictly after `from`. */
export function* nextRuns(cron: CronExpression, from: number, limit: number): Generator<number> {
  let last = from
  for (let i = 0; i < limit; i++) {
    const run = cron.next(last)
    if (run === null) return
    last = run.getTime()
    yield last
  }
}

/** The instant of `--from`; now, when the option is absent. */
export function fromOption(text: string | undefined): number {
  if (text === undefined) return systemClock.now()
  const instant = readInstant(text)
  if (instant !== undefined) return instant
  throw new UsageError(`--from takes ${INSTANT_FORMS}, not ${JSON.stringify(text)}`)
}
