// Does a rare pattern cost more than a common one? 29 February is up to eight years away, and one
// that is a Sunday up to forty.

import { Cron } from 'croner'
import { parseCron } from 'cronfence/engine'
import type { AskedCase } from './agreement.ts'
import { CONTESTANTS, type Contestant, contestantsIn } from './contestants.ts'
import { type Figure, figureOf, type Goal, type Outcome } from './measure.ts'
import { timeSearches } from './next.ts'
import { DST_ZONE, instants } from './workload.ts'

const COMMON = '30 9 * * 1-5'
const LEAP_DAY = '0 0 29 2 *'
// The star makes both day fields binding; a weekday of */7 is Sunday.
const LEAP_SUNDAY = '0 0 29 2 */7'

/** Only those that can ask for a day that satisfies both day fields, with a horizon to match. */
const LEAP_SUNDAY_CONTESTANTS: readonly Contestant[] = [
  {
    ...CONTESTANTS[0]!,
    prepare(expression, timeZone = 'UTC') {
      const cron = parseCron(expression, { timeZone, horizonYears: 50 })
      return (from) => cron.next(from)
    },
  },
  {
    ...CONTESTANTS[1]!,
    prepare(_, timezone = 'UTC') {
      const cron = new Cron('0 0 29 2 0', { timezone, domAndDow: true })
      return (from) => cron.nextRun(from)
    },
  },
]

export async function rare(): Promise<Outcome> {
  const common = await timeSearches(contestantsIn(DST_ZONE), casesOf(COMMON))
  const leapDay = await timeSearches(contestantsIn(DST_ZONE), casesOf(LEAP_DAY))
  const leapSunday = await timeSearches(LEAP_SUNDAY_CONTESTANTS, casesOf(LEAP_SUNDAY))
  return {
    rows: [
      { question: 'next, common: 9:30 on weekdays', unit: 'ns', figures: common },
      { question: 'next, rare: 29 February', unit: 'ns', figures: leapDay },
      { question: 'next, rare: 29 February, a Sunday', unit: 'ns', figures: leapSunday },
    ],
    goals: [
      goal('29 February', leapDay, common),
      goal('29 February, a Sunday', leapSunday, common),
    ],
  }
}

function goal(pattern: string, figures: readonly Figure[], common: readonly Figure[]): Goal {
  return {
    text: `${pattern}, times the cost of a common pattern`,
    reached: figureOf(figures, 'cronfence') / figureOf(common, 'cronfence'),
    bound: 5,
    better: 'lower',
  }
}

function casesOf(expression: string): AskedCase[] {
  return instants(500).map((from) => ({ expression, timeZone: DST_ZONE, from }))
}
