// A tick whose runs are counted, and waited for.

import type { Tick, TickRun } from '../../../src/backend/contract.ts'

/** A tick that tells when it ran as often as wanted. */
export function countedTick(work: Tick = async () => {}) {
  const runs: TickRun[] = []
  const waiting: { count: number; resolve(): void }[] = []
  const tick = async (run: TickRun) => {
    try {
      await work(run)
    } finally {
      runs.push(run)
      for (const { count, resolve } of waiting) if (runs.length >= count) resolve()
    }
  }
  const times = (count: number) => {
    return new Promise<void>((resolve) => {
      if (runs.length >= count) resolve()
      else waiting.push({ count, resolve })
    })
  }
  return { tick, runs, times, slots: () => runs.map(({ scheduledAt }) => scheduledAt.getTime()) }
}
