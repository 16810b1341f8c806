// Two answers to a server that does not do what it is told at once: stop waiting, or try again.
// Both count real time, since the network does.

import { Backoff } from '../backoff.ts'
import { systemClock } from '../clock.ts'

/** What {@link withDeadline} rejects with. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
  readonly code = 'DEADLINE'
}

/**
 * The outcome of `work`, or a {@link DeadlineError} once `timeoutMs` have passed without one. What
 * `work` comes to after that is handed to `onLate`, if it is a value.
 */
export async function withDeadline<T>(
  work: Promise<T>,
  { timeoutMs, what, onLate }: { timeoutMs: number; what: string; onLate?: (late: T) => void },
): Promise<T> {
  let isLate = false
  let expire = () => {}
  const expired = new Promise<never>((_, reject) => {
    expire = () => {
      isLate = true
      reject(new DeadlineError(`${what} took more than ${timeoutMs} ms (timeoutMs)`))
    }
  })
  const timer = systemClock.setTimer(() => expire(), timeoutMs)
  const late = work.then((value) => {
    if (isLate) onLate?.(value)
  })
  late.catch(() => {}) // In time it rejects below as well; late, nobody is there to hear of it.
  try {
    return await Promise.race([work, expired])
  } finally {
    timer.cancel()
  }
}

// Rivals for a row should not meet again: the waits are random, and grow up to this.
const RETRY_MS = { baseMs: 4, maxMs: 100 }

/** Runs `attempt` until it succeeds, fails for good, or `budgetMs` have passed at its failure. */
export async function retrying<T>(
  attempt: () => Promise<T>,
  { isTransient, budgetMs }: { isTransient: (error: unknown) => boolean; budgetMs: number },
): Promise<T> {
  const startedAt = systemClock.monotonic()
  const backoff = new Backoff(RETRY_MS)
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransient(error) || systemClock.monotonic() - startedAt >= budgetMs) throw error
    }
    await new Promise<void>((resume) => {
      systemClock.setTimer(resume, backoff.fail())
    })
  }
}
