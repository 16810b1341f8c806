// What do seconds, years and special days cost? The same schedule in five, six and seven fields,
// and patterns whose next run is decades away or never. croner answers where it has the construct.

import { Cron } from 'croner'
import { parseCron } from 'cronfence/engine'
import type { Contestant } from './contestants.ts'
import { type Figure, figureOf, type Goal, type Outcome } from './measure.ts'
import { timeSearches } from './next.ts'
import { DST_ZONE, instants } from './workload.ts'

const BY_FIELDS = ['0 9 * * 1-5', '0 0 9 * * 1-5', '0 0 9 * * 1-5 2000-2199'] as const
const SPECIAL_DAYS = '0 9 L * *'
const FAR = ['0 0 0 29 2 * 2096', '0 0 29 2 +MON#5'] as const
const NEVER = '0 0 31 2,4,6,9,11 *'
const HORIZON_YEARS = 400

const cronfence: Contestant = {
  name: 'cronfence',
  takesZones: true,
  parse: (expression) => parseCron(expression, { dialect: 'extended' }),
  prepare(expression, timeZone = 'UTC') {
    const options = { dialect: 'extended', timeZone, horizonYears: HORIZON_YEARS } as const
    const cron = parseCron(expression, options)
    return (from) => cron.next(from)
  },
}

const croner: Contestant = {
  name: 'croner',
  takesZones: true,
  parse: (expression) => new Cron(expression),
  prepare(expression, timezone = 'UTC') {
    const cron = new Cron(expression, { timezone })
    return (from) => cron.nextRun(from)
  },
}

export async function extended(): Promise<Outcome> {
  const [five, six, seven] = await each(BY_FIELDS)
  const [special] = await each([SPECIAL_DAYS])
  const [leapYear, leapMonday] = await each(FAR)
  const [never] = await each([NEVER])
  const figures = { five, six, seven, special, leapYear, leapMonday, never }
  return {
    rows: Object.entries(figures).map(([name, found]) => ({
      question: `next, extended: ${NAMES[name]}`,
      unit: 'ns',
      figures: found!,
    })),
    goals: [
      ratio('six fields', six!, five!),
      ratio('seven fields', seven!, five!),
      ...[leapYear, leapMonday, never].map((found) => within(found!)),
    ],
  }
}

const NAMES: Readonly<Record<string, string>> = {
  five: 'five fields',
  six: 'six fields',
  seven: 'seven fields',
  special: 'the last day of the month',
  leapYear: '29 February 2096',
  leapMonday: '29 February, a fifth Monday',
  never: 'a day that no month has',
}

/** The last two patterns take croner milliseconds or have no answer; there we are alone, twice. */
async function each(texts: readonly string[]): Promise<Figure[][]> {
  const all: Figure[][] = []
  for (const expression of texts) {
    const isShared = expression !== NEVER && !expression.includes('+')
    const peer = isShared ? croner : { ...cronfence, name: 'cronfence again' }
    const cases = instants(100).map((from) => ({ expression, timeZone: DST_ZONE, from }))
    const figures = await timeSearches([cronfence, peer], cases)
    all.push(isShared ? figures : figures.slice(0, 1))
  }
  return all
}

function ratio(what: string, figures: readonly Figure[], five: readonly Figure[]): Goal {
  return {
    text: `next in ${what}, times that in five`,
    reached: figureOf(figures, 'cronfence') / figureOf(five, 'cronfence'),
    bound: 1.5,
    better: 'lower',
  }
}

function within(figures: readonly Figure[]): Goal {
  return {
    text: 'next, far or never, ns',
    reached: figureOf(figures, 'cronfence'),
    bound: 10_000,
    better: 'lower',
  }
}
