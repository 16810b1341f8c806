// Runs many seeds on several threads, a stretch at a time.

import { rm } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { bundle, type Mutation } from './bundle.ts'
import type { Outcome } from './simulate.ts'
import { Tally } from './tally.ts'
import type { Stretch, StretchResult } from './worker.ts'

/** Seeds a thread is given at once. */
const STRETCH_SEEDS = 25

/** Which seeds to run, and how. */
export interface Flight {
  readonly from: number
  readonly seeds: number
  readonly workers: number
  /** Names the build, which is made anew. */
  readonly name: string
  readonly mutations?: readonly Mutation[]
  /** Stop once so many seeds have failed. */
  readonly failuresMax?: number
  readonly onProgress?: (seeds: number) => void
}

/** What became of them. */
export interface Landing {
  readonly seeds: number
  /** The lowest seeds first. */
  readonly failed: readonly Outcome[]
  readonly tally: Tally
}

/** Runs seeds `from`, `from + 1` and so on. Rejects when a thread dies, which a mutant may do. */
export async function fly(flight: Flight): Promise<Landing> {
  const { from, seeds, workers, failuresMax = 1, onProgress } = flight
  const url = await bundle(flight.name, flight.mutations)
  const tally = new Tally()
  const failed: Outcome[] = []
  let next = from
  let done = 0
  const runOne = async () => {
    await withWorker(url, async (run) => {
      while (next < from + seeds && failed.length < failuresMax) {
        const count = Math.min(STRETCH_SEEDS, from + seeds - next)
        const isFailFast = failuresMax === 1
        const stretch = { from: next, count, keepsHistory: false, isFailFast }
        next += count
        const result = await run(stretch)
        tally.add(result.counts)
        failed.push(...result.failed)
        done += result.seeds
        onProgress?.(done)
      }
    })
  }
  try {
    await Promise.all(Array.from({ length: workers }, runOne))
  } finally {
    await rm(url)
  }
  failed.sort((a, b) => a.seed - b.seed)
  return { seeds: done, failed, tally }
}

/** Runs one seed and keeps its history. */
export async function replay(seed: number, name: string): Promise<Outcome> {
  const url = await bundle(name)
  try {
    return await withWorker(url, async (run) => {
      const { outcomes } = await run({ from: seed, count: 1, keepsHistory: true, isFailFast: true })
      return outcomes[0]!
    })
  } finally {
    await rm(url)
  }
}

async function withWorker<Result>(
  url: URL,
  use: (run: (stretch: Stretch) => Promise<StretchResult>) => Promise<Result>,
): Promise<Result> {
  const worker = new Worker(url)
  try {
    return await use(
      (stretch) =>
        new Promise((resolve, reject) => {
          worker.removeAllListeners()
          worker.once('message', resolve)
          worker.once('error', reject)
          worker.postMessage(stretch)
        }),
    )
  } finally {
    await worker.terminate()
  }
}
