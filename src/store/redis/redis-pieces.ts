// Batches cut into scripts of a few ms each. All are sent at once, so a batch is still one round
// trip; between two of them the server gets to serve others.

import { CronfenceError } from '../../errors.ts'

/** The most records of one script: about 3 ms of the server's time. */
const PIECE_MAX = 250

/**
 * Runs `run` over the pieces of `items` at once and answers in the order of the items. When some
 * pieces were done and others not, it rejects with `STORE_OUTCOME_UNKNOWN`.
 */
export async function inPieces<Item, Result>(
  items: readonly Item[],
  run: (piece: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  if (items.length <= PIECE_MAX) return run(items)
  const pieces: Promise<Result[]>[] = []
  for (let from = 0; from < items.length; from += PIECE_MAX) {
    pieces.push(run(items.slice(from, from + PIECE_MAX)))
  }
  const outcomes = await Promise.allSettled(pieces)
  const results: Result[] = []
  const failures: unknown[] = []
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') results.push(...outcome.value)
    else failures.push(outcome.reason)
  }
  if (failures.length === 0) return results
  const [first] = failures
  if (failures.length === outcomes.length && !failures.some(isUnknown)) throw first
  throw failures.find(isUnknown) ?? partlyDone(first)
}

const isUnknown = (error: unknown): boolean =>
  error instanceof CronfenceError && error.code === 'STORE_OUTCOME_UNKNOWN'

function partlyDone(cause: unknown): CronfenceError {
  const text = cause instanceof Error ? cause.message : String(cause)
  return new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    `${text}; other parts of the batch were done`,
    {
      cause,
    },
  )
}
