// How fast are all runs of a span listed? A year of `* * * * *`: 525,600 runs, into an array of
// numbers and one by one. Peers have no such call, so they go from run to run, through January
// only: a year would take them minutes, and its months cost the same.

import { CronBatch, parseCron } from 'cronfence/engine'
import { contestantsIn, type Next } from './contestants.ts'
import { figureOf, nsPerOperation, type Outcome } from './measure.ts'
import { DST_ZONE } from './workload.ts'

const EVERY_MINUTE = '* * * * *'
const FROM = Date.UTC(2027, 0, 1)
const UNTIL = Date.UTC(2028, 0, 1)
const MINUTE_MS = 60_000
const RUNS = (UNTIL - FROM) / MINUTE_MS
const PEER_RUNS = (Date.UTC(2027, 1, 1) - FROM) / MINUTE_MS

export async function enumerate(): Promise<Outcome> {
  const [, ...peers] = contestantsIn(DST_ZONE)
  const array = await nsPerOperation([{ name: 'cronfence', operations: RUNS, pass: intoArray() }])
  const iterator = await nsPerOperation([{ name: 'cronfence', operations: RUNS, pass: oneByOne() }])
  const steps = peers.map(({ name, prepare }) => {
    const next = prepare(EVERY_MINUTE, DST_ZONE)
    return { name, operations: PEER_RUNS, pass: () => walk(name, next) }
  })
  // One pass takes seconds, so it is warm-up and measurement at once.
  const stepped = await nsPerOperation(steps, { timeMs: 0, passes: 1, warmup: false })
  return {
    rows: [
      { question: 'a year of every minute, per run', unit: 'ns', figures: [...array, ...stepped] },
      { question: 'the same through an iterator of dates', unit: 'ns', figures: iterator },
    ],
    goals: [
      {
        text: 'enumeration, runs per second',
        reached: 1e9 / figureOf(array, 'cronfence'),
        bound: 50e6,
        better: 'higher',
      },
    ],
  }
}

function intoArray() {
  const batch = new CronBatch()
  const id = batch.add(EVERY_MINUTE, { timeZone: DST_ZONE })
  const runs = new Float64Array(RUNS + 1)
  const pass = () => batch.occurrences(id, FROM, UNTIL, runs)
  const written = pass()
  const isWrong = runs.subarray(0, written).some((run, at) => run !== FROM + at * MINUTE_MS)
  if (written !== RUNS || isWrong) throw new Error(`A year has ${RUNS} minutes, not ${written}`)
  return pass
}

function oneByOne() {
  const cron = parseCron(EVERY_MINUTE, { timeZone: DST_ZONE })
  return () => {
    let seen = 0
    for (const _ of cron.occurrences({ from: FROM, until: UNTIL })) seen += 1
    if (seen < RUNS - 1) throw new Error(`The iterator gave ${seen} of ${RUNS} runs`)
  }
}

/** From run to run; a minute left out or given twice is an error. */
function walk(name: string, next: Next) {
  let at = new Date(FROM - 1)
  for (let run = 0; run < PEER_RUNS; run += 1) {
    const found = next(at)
    const expected = FROM + run * MINUTE_MS
    if (found?.getTime() !== expected) {
      throw new Error(`${name} leaves out or repeats ${new Date(expected).toISOString()}`)
    }
    at = new Date(expected)
  }
}
