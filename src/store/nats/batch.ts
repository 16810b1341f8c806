// A batch as requests beside each other: they go out together over one connection, and each is
// atomic on its own.

import { CronfenceError, type CronfenceErrorCode } from '../../errors.ts'
import type { Answer } from '../wave-schedule-store.ts'

/** About one key; the others of a batch are not concerned. */
const ABOUT_ONE: readonly CronfenceErrorCode[] = [
  'STORE_DAMAGED_RECORD',
  'STORE_NEWER_SCHEMA',
  'STORE_TOKEN_CEILING',
]

/**
 * Runs `run` for all items at once and answers in their order. When one fails for a reason that is
 * not its own, it rejects: as outcome unknown, if others may have been written.
 */
export async function together<Item, R>(
  items: readonly Item[],
  { isWrite, run }: { isWrite: boolean; run: (item: Item) => Promise<R> },
): Promise<Answer<R>[]> {
  const failures: unknown[] = []
  let doneCount = 0
  const answers = await Promise.all(
    items.map(async (item): Promise<Answer<R> | undefined> => {
      try {
        const answer = await run(item)
        doneCount++
        return answer
      } catch (error) {
        if (error instanceof CronfenceError && ABOUT_ONE.includes(error.code)) return error
        failures.push(error)
        return undefined
      }
    }),
  )
  if (failures.length === 0) return answers as Answer<R>[]
  const failure = failures.find(isUnknown) ?? failures[0]
  if (!isWrite || doneCount === 0 || !(failure instanceof CronfenceError)) throw failure
  throw new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    `${failure.message}; of a batch of ${items.length}, ${failures.length} failed`,
    { cause: failure },
  )
}

function isUnknown(error: unknown): boolean {
  return error instanceof CronfenceError && error.code === 'STORE_OUTCOME_UNKNOWN'
}
