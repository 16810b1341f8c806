// A thread of the simulation: runs the seeds it is sent and answers with what became of them.
// Bundled together with the engine by `bundle.ts`.

import { parentPort } from 'node:worker_threads'
import { CronfenceError, Scheduler } from '../../src/index.ts'
import { type Outcome, simulate } from './simulate.ts'

/** Which seeds to run. */
export interface Stretch {
  readonly from: number
  readonly count: number
  readonly keepsHistory: boolean
  /** Stop at the first seed that fails. */
  readonly isFailFast: boolean
}

/** What became of them: counts of all, and whole outcomes of those that failed. */
export interface StretchResult {
  readonly seeds: number
  readonly failed: readonly Outcome[]
  /** With histories, those of all seeds. */
  readonly outcomes: readonly Outcome[]
  readonly counts: ReadonlyMap<string, number>
}

// Thousands of errors a second, and nobody reads their stacks.
Error.stackTraceLimit = 0

parentPort?.on('message', async (stretch: Stretch) => {
  const { from, count, keepsHistory, isFailFast } = stretch
  let done = 0
  const counts = new Map<string, number>()
  const failed: Outcome[] = []
  const outcomes: Outcome[] = []
  for (let seed = from; seed < from + count; seed++) {
    const outcome = await simulate(seed, { Scheduler, CronfenceError }, { keepsHistory })
    for (const [name, by] of outcome.counts) counts.set(name, (counts.get(name) ?? 0) + by)
    done++
    if (keepsHistory) outcomes.push(outcome)
    if (outcome.violations.length > 0) failed.push(outcome)
    if (isFailFast && failed.length > 0) break
  }
  parentPort?.postMessage({ seeds: done, failed, outcomes, counts } satisfies StretchResult)
})
