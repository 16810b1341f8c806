// Runs one seed from its beginning to its end, or to the first violation. Chance and names that the
// engine draws from the host (`Math.random` in its back-off, `crypto.randomUUID` in its owner) come
// from the seed meanwhile, so the same seed gives the same history, byte for byte.

import type { Engine } from './engine.ts'
import { Random } from './random.ts'
import { World } from './world.ts'

/** What became of a seed. */
export interface Outcome {
  readonly seed: number
  readonly violations: readonly string[]
  /** Empty unless it was asked for. */
  readonly history: readonly string[]
  readonly counts: ReadonlyMap<string, number>
}

/** Simulates a seed. Not to be called again before it resolves: it borrows the host's chance. */
export async function simulate(
  seed: number,
  engine: Engine,
  { keepsHistory = false }: { keepsHistory?: boolean } = {},
): Promise<Outcome> {
  const world = new World(seed, engine, { keepsHistory })
  const { random: hostRandom } = Math
  const hostUuid = globalThis.crypto.randomUUID
  const chance = new Random(seed ^ 0x27d4eb2f)
  const onUnhandled = (error: unknown) => world.ledger.violated('unhandled', String(error))
  process.on('unhandledRejection', onUnhandled)
  Math.random = () => chance.next()
  globalThis.crypto.randomUUID = () => chance.uuid()
  try {
    await world.run()
  } finally {
    process.off('unhandledRejection', onUnhandled)
    Math.random = hostRandom
    globalThis.crypto.randomUUID = hostUuid
  }
  const { tally, ledger, history, timeline, scenario, replicas } = world
  tally.count('total: seeds')
  tally.count('total: virtual ms', timeline.now - scenario.start)
  tally.count(
    'total: requests',
    replicas.reduce((sum, { requests }) => sum + requests, 0),
  )
  tally.count('total: claims', ledger.claims.size)
  return { seed, violations: ledger.violations, history, counts: tally.counts }
}
