// Ticks that tests steer: each records its run and ends when the test says so.

import type { RegistrationSpec, TickRun } from '../../src/backend/contract.ts'

/** A tick that runs until `end` or `fail` is called, and what was seen of it. */
export function steeredTick() {
  const seen: string[] = []
  const pending: { resolve(): void; reject(error: unknown): void }[] = []
  const tick = (run: TickRun) => {
    seen.push(run.scheduledAt.toISOString().slice(11, 23))
    return new Promise<void>((resolve, reject) => pending.push({ resolve, reject }))
  }
  return {
    tick,
    /** The times of day of all slots that ran, in their order. */
    seen,
    get running() {
      return pending.length
    },
    end: () => pending.shift()?.resolve(),
    fail: (error: unknown) => pending.shift()?.reject(error),
  }
}

/** A registration as most tests need it. */
export const SPEC: RegistrationSpec = {
  name: 'report',
  cadence: { every: '1000' },
  overlap: 'skip',
  catchUp: 'skip',
}

/** Rejections that nobody handles, from now until `stop`; most tests want none. */
export function unhandledRejections() {
  const found: unknown[] = []
  const listener = (reason: unknown) => found.push(reason)
  process.on('unhandledRejection', listener)
  return { found, stop: () => process.off('unhandledRejection', listener) }
}
