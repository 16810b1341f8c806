// How fast is an expression parsed? Ten thousand different ones, so that remembering the last few
// does not help.

import { CONTESTANTS } from './contestants.ts'
import { figureOf, nsPerOperation, type Outcome } from './measure.ts'
import { expressions } from './workload.ts'

export async function parse(): Promise<Outcome> {
  const texts = expressions(10_000)
  const figures = await nsPerOperation(
    CONTESTANTS.map((contestant) => ({
      name: contestant.name,
      operations: texts.length,
      pass() {
        for (const text of texts) contestant.parse(text)
      },
    })),
  )
  return {
    rows: [{ question: 'parse', unit: 'ns', figures }],
    goals: [
      {
        text: 'parse, per second',
        reached: 1e9 / figureOf(figures, 'cronfence'),
        bound: 1e6,
        better: 'higher',
      },
    ],
  }
}
