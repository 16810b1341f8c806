// Batches cut into pieces that one statement can take: not too long, and no id twice, since a
// statement changes a row only once while a batch is one call after the other.

import { BatchError, CronfenceError } from '../errors.ts'

/** The most items of one statement. */
const WAVE_MAX = 1000

/**
 * Runs `run` over `items` in pieces, one after the other, and answers in the order of the items.
 * `run` answers in the order of its piece. When a later one fails, what the earlier ones did is not
 * forgotten: a `BatchError` has their answers.
 */
export async function inWaves<Item, Result>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  run: (wave: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const wave of wavesOf(items, idOf)) {
    try {
      results.push(...(await run(wave)))
    } catch (error) {
      if (results.length === 0 || !(error instanceof CronfenceError)) throw error
      if (!(error instanceof BatchError)) throw new BatchError(error, results)
      const { failure, answers } = error
      throw new BatchError(failure, [...results, ...answers])
    }
  }
  return results
}

function wavesOf<Item>(items: readonly Item[], idOf: (item: Item) => string): Item[][] {
  const waves: Item[][] = []
  let wave: Item[] = []
  let ids = new Set<string>()
  for (const item of items) {
    if (wave.length === WAVE_MAX || ids.has(idOf(item))) {
      waves.push(wave)
      wave = []
      ids = new Set()
    }
    wave.push(item)
    ids.add(idOf(item))
  }
  if (wave.length > 0) waves.push(wave)
  return waves
}
