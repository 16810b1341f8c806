// How fast is one next run found, without a zone, in UTC, and in a zone with transitions? A
// thousand cases over two hundred expressions that were parsed before.

import { type AskedCase, assertAgreement } from './agreement.ts'
import { type Contestant, contestantsIn } from './contestants.ts'
import { type Figure, nsPerOperation, type Outcome, timesBetter } from './measure.ts'
import { DST_ZONE, expressions, instants } from './workload.ts'

const EXPRESSIONS = expressions(200)
const FROMS = instants(1_000)

export async function next(): Promise<Outcome> {
  const withoutZone = await searchIn(undefined)
  const inUtc = await searchIn('UTC')
  const inDstZone = await searchIn(DST_ZONE)
  return {
    rows: [
      { question: 'next, no zone', unit: 'ns', figures: withoutZone },
      { question: 'next, UTC', unit: 'ns', figures: inUtc },
      { question: `next, ${DST_ZONE}`, unit: 'ns', figures: inDstZone },
    ],
    goals: [
      {
        text: `next in ${DST_ZONE}, times croner`,
        reached: timesBetter(inDstZone, 'croner'),
        bound: 300,
        better: 'higher',
      },
      {
        text: 'next without a zone, times cron-schedule',
        reached: timesBetter(withoutZone, 'cron-schedule'),
        bound: 3,
        better: 'higher',
      },
    ],
  }
}

function searchIn(timeZone: string | undefined): Promise<Figure[]> {
  const cases = FROMS.map((from, at) => ({
    expression: EXPRESSIONS[at % EXPRESSIONS.length]!,
    timeZone,
    from,
  }))
  return timeSearches(contestantsIn(timeZone), cases)
}

/** Asks everyone the same, checks that they agree, then times them. */
export function timeSearches(
  contestants: readonly Contestant[],
  cases: readonly AskedCase[],
): Promise<Figure[]> {
  const prepared = contestants.map((contestant) => ({
    name: contestant.name,
    searches: cases.map(preparing(contestant)),
  }))
  const froms = cases.map(({ from }) => new Date(from))
  assertAgreement(
    cases,
    prepared.map(({ name, searches }) => ({
      name,
      found: searches.map((search, at) => search(froms[at]!)),
    })),
  )
  return nsPerOperation(
    prepared.map(({ name, searches }) => ({
      name,
      operations: cases.length,
      pass() {
        for (let at = 0; at < searches.length; at += 1) searches[at]!(froms[at]!)
      },
    })),
  )
}

/** Parses each (expression, zone) once, however often the cases name it. */
function preparing(contestant: Contestant) {
  const known = new Map<string, ReturnType<Contestant['prepare']>>()
  return ({ expression, timeZone }: AskedCase) => {
    const key = `${expression} ${timeZone}`
    const search = known.get(key) ?? contestant.prepare(expression, timeZone)
    known.set(key, search)
    return search
  }
}
