// What does a parsed expression weigh? The growth of the whole process (heap, buffers and Wasm
// memory, after garbage collection), divided by the number of distinct expressions kept.

import { CONTESTANTS } from './contestants.ts'
import { figureOf, type Outcome } from './measure.ts'
import { probe } from './probe.ts'

const EXPRESSIONS = 1_000_000
/** A million objects of a peer need up to 60 GB; each weighs the same, so fewer will do. */
const PEER_EXPRESSIONS = 20_000

export async function memory(): Promise<Outcome> {
  const weigh = (name: string, count: number) =>
    probe<number>('./memory-probe.ts', [name, String(count)])
  const [, ...peers] = CONTESTANTS
  const figures = [
    { name: 'cronfence', value: weigh('batch', EXPRESSIONS) },
    ...peers.map(({ name }) => ({ name, value: weigh(name, PEER_EXPRESSIONS) })),
  ]
  const objects = [{ name: 'cronfence', value: weigh('cronfence', EXPRESSIONS) }]
  return {
    rows: [
      { question: 'memory per expression, in a batch', unit: 'bytes', figures },
      { question: 'memory per expression, as objects', unit: 'bytes', figures: objects },
    ],
    goals: [
      {
        text: 'bytes per expression in a batch of 1,000,000',
        reached: figureOf(figures, 'cronfence'),
        bound: 160,
        better: 'lower',
      },
    ],
  }
}
