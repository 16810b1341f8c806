// How fast is a million of (expression, zone, from) answered? A thousand expressions in fifty
// zones, in random order. Peers have no batch and answer a sample of the same cases one by one.

import { CronBatch } from 'cronfence/engine'
import { type AskedCase, assertAgreement } from './agreement.ts'
import { contestantsIn } from './contestants.ts'
import { figureOf, nsPerOperation, type Outcome, timesBetter } from './measure.ts'
import { timeSearches } from './next.ts'
import { expressions, instants, randomFrom, ZONES } from './workload.ts'

const ITEMS = 1_000_000
const SAMPLE = 1_000

export async function batch(): Promise<Outcome> {
  const { batch, ids, from, sample } = workload()
  const out = new Float64Array(ITEMS)
  batch.next(ids, from, out)

  const [single, ...peers] = contestantsIn('UTC')
  const singles = sample.map((asked) =>
    single!.prepare(asked.expression, asked.timeZone)(new Date(asked.from)),
  )
  const batched = Array.from(out.subarray(0, SAMPLE), (instant) => new Date(instant))
  assertAgreement(sample, [
    { name: 'cronfence', found: singles },
    { name: 'CronBatch', found: batched },
  ])

  const ours = await nsPerOperation([
    { name: 'cronfence', operations: ITEMS, pass: () => batch.next(ids, from, out) },
  ])
  const figures = [...ours, ...(await timeSearches([single!, ...peers], sample)).slice(1)]
  return {
    rows: [{ question: 'batch of 1,000,000 in 50 zones, per item', unit: 'ns', figures }],
    goals: [
      {
        text: 'batch, per second',
        reached: 1e9 / figureOf(figures, 'cronfence'),
        bound: 10e6,
        better: 'higher',
      },
      {
        text: 'batch, times croner',
        reached: timesBetter(figures, 'croner'),
        bound: 500,
        better: 'higher',
      },
    ],
  }
}

function workload() {
  const random = randomFrom(3)
  const texts = expressions(1_000)
  const batch = new CronBatch()
  const from = Float64Array.from(instants(ITEMS))
  const ids = new Uint32Array(ITEMS)
  const sample: AskedCase[] = []
  for (let at = 0; at < ITEMS; at += 1) {
    const expression = texts[random(texts.length)]!
    const timeZone = ZONES[random(ZONES.length)]!
    ids[at] = batch.add(expression, { timeZone })
    if (at < SAMPLE) sample.push({ expression, timeZone, from: from[at]! })
  }
  return { batch, ids, from, sample }
}
