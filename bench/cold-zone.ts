// What does the first use of a zone cost? Each library in fresh processes, every zone once per
// process: parse, and one next run. A zone's figure is its best of five; ours must hold for all.
// This is wall time: processor time would count the compiler's threads, which nobody waits for.

import { contestantsIn } from './contestants.ts'
import type { Figure, Outcome } from './measure.ts'
import { probe } from './probe.ts'
import { ZONES } from './workload.ts'

const PROCESSES = 5

export async function coldZone(): Promise<Outcome> {
  const medians: Figure[] = []
  const worst: Figure[] = []
  for (const { name } of contestantsIn('UTC')) {
    const tries = Array.from({ length: PROCESSES }, () =>
      probe<number[]>('./cold-zone-probe.ts', [name]),
    )
    const bestMs = ZONES.map((_, at) => Math.min(...tries.map((ms) => ms[at]!)))
    bestMs.sort((a, b) => a - b)
    medians.push({ name, value: bestMs[bestMs.length >> 1]! })
    worst.push({ name, value: bestMs.at(-1)! })
  }
  return {
    rows: [
      { question: 'first use of a zone, median of 50', unit: 'ms', figures: medians },
      { question: 'first use of a zone, worst of 50', unit: 'ms', figures: worst },
    ],
    goals: [
      {
        text: 'first use of a zone, worst of 50, in ms',
        reached: worst[0]!.value,
        bound: 5,
        better: 'lower',
      },
    ],
  }
}
