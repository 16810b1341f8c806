// cronfence and its peers behind one shape, each called the way its own documentation does.

import { CronExpressionParser } from 'cron-parser'
import { parseCronExpression } from 'cron-schedule'
import { Cron } from 'croner'
import { parseCron } from 'cronfence/engine'
import { CronosExpression } from 'cronosjs'

/** What a search answers: a `Date` or the like. */
export interface Found {
  getTime(): number
}

/** Finds the first run after an instant; no run is `null`. */
export type Next = (from: Date) => Found | null

export interface Contestant {
  readonly name: string
  /** Whether a time zone can be named; else only the process's own is possible. */
  readonly takesZones: boolean
  parse(expression: string): unknown
  prepare(expression: string, timeZone: string | undefined): Next
}

const cronfence: Contestant = {
  name: 'cronfence',
  takesZones: true,
  parse: (expression) => parseCron(expression),
  prepare(expression, timeZone) {
    const cron = parseCron(expression, timeZone === undefined ? {} : { timeZone })
    return (from) => cron.next(from)
  },
}

const croner: Contestant = {
  name: 'croner',
  takesZones: true,
  parse: (expression) => new Cron(expression),
  prepare(expression, timezone) {
    const cron = new Cron(expression, timezone === undefined ? {} : { timezone })
    return (from) => cron.nextRun(from)
  },
}

const cronParser: Contestant = {
  name: 'cron-parser',
  takesZones: true,
  parse: (expression) => CronExpressionParser.parse(expression),
  prepare(expression, tz) {
    const cron = CronExpressionParser.parse(expression, tz === undefined ? {} : { tz })
    return (from) => {
      cron.reset(from)
      return cron.next()
    }
  },
}

const cronosjs: Contestant = {
  name: 'cronosjs',
  takesZones: true,
  parse: (expression) => CronosExpression.parse(expression),
  prepare(expression, timezone) {
    const cron = CronosExpression.parse(expression, timezone === undefined ? {} : { timezone })
    return (from) => cron.nextDate(from)
  },
}

const cronSchedule: Contestant = {
  name: 'cron-schedule',
  takesZones: false,
  parse: (expression) => parseCronExpression(expression),
  prepare(expression) {
    const cron = parseCronExpression(expression)
    return (from) => cron.getNextDate(from)
  },
}

/** Ours first, then the peers. */
export const CONTESTANTS: readonly Contestant[] = [
  cronfence,
  croner,
  cronParser,
  cronosjs,
  cronSchedule,
]

/** Those that can answer in this zone. */
export function contestantsIn(timeZone: string | undefined): readonly Contestant[] {
  return CONTESTANTS.filter(({ takesZones }) => takesZones || timeZone === undefined)
}

/** The contestant of this name, for a probe that runs in a process of its own. */
export function contestantNamed(name: string | undefined): Contestant {
  const found = CONTESTANTS.find((contestant) => contestant.name === name)
  if (found === undefined) throw new RangeError(`No contestant is called ${name}`)
  return found
}
