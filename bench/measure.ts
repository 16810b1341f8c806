// Timing and what comes out of it. One sample is a pass over many operations, because a single
// search is shorter than a look at the clock. Time is the processor time of this process, and the
// median pass counts: on a busy machine wall time would charge long passes, the peers', for others.

import { Bench } from 'tinybench'

/** Processor time this process has used so far, in ms, to the microsecond. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** A program to time: one call does `operations` operations. */
export interface Timed {
  readonly name: string
  readonly operations: number
  pass(): unknown
}

/** One contestant's figure. */
export interface Figure {
  readonly name: string
  readonly value: number
}

/** One line of the results: our figure first, in `unit` per `per`. */
export interface Row {
  readonly question: string
  readonly unit: 'ns' | 'ms' | 'bytes'
  readonly figures: readonly Figure[]
}

/** A bound of ours, and what was reached. */
export interface Goal {
  readonly text: string
  readonly reached: number
  readonly bound: number
  readonly better: 'higher' | 'lower'
}

/** What answering a question gave. */
export interface Outcome {
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
}

/** How long each program is timed; the defaults suit passes below some 50 ms. */
export interface Effort {
  readonly timeMs?: number
  readonly passes?: number
  readonly warmup?: boolean
}

/** The median ns per operation of each program, timed one after the other in this process. */
export async function nsPerOperation(
  programs: readonly Timed[],
  { timeMs = 600, passes = 10, warmup = true }: Effort = {},
): Promise<Figure[]> {
  const bench = new Bench({
    now: processorMs,
    time: timeMs,
    iterations: passes,
    warmup,
    warmupTime: 200,
    throws: true,
  })
  for (const { name, pass } of programs) bench.add(name, () => void pass())
  await bench.run()
  return programs.map(({ name, operations }) => {
    const result = bench.getTask(name)?.result
    if (result?.state !== 'completed') throw new Error(`${name} was not timed: ${result?.state}`)
    return { name, value: (result.latency.p50 * 1e6) / operations }
  })
}

/** The figure of this name. */
export function figureOf(figures: readonly Figure[], name: string): number {
  const figure = figures.find((candidate) => candidate.name === name)
  if (figure === undefined) throw new RangeError(`No figure of ${name}`)
  return figure.value
}

/** How many times faster (or smaller) ours is than a peer's. */
export function timesBetter(figures: readonly Figure[], peer: string): number {
  return figureOf(figures, peer) / figureOf(figures, 'cronfence')
}
