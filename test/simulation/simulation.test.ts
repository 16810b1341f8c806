// Simulates 5,000 seeds: none violates anything, and everything that is to happen sometimes does.
// What is simulated: world.ts and scenario.ts; what is checked, and where: judge.ts.

import { expect, test } from 'vitest'
import { fly, replay } from './fleet.ts'
import { REGRESSIONS } from './regressions.ts'
import { SOMETIMES } from './tally.ts'

const SEEDS = 5000
/** Run twice, to compare histories. */
const TWICE = [1, 2, 3, 17, 63]

test(`no seed of ${SEEDS} violates an invariant, and every fault really happens`, async () => {
  const { failed, tally } = await fly({ from: 1, seeds: SEEDS, workers: 2, name: 'ci' })
  const [first] = failed
  if (first) {
    const { history } = await replay(first.seed, 'ci-replay')
    console.log(history.slice(-100).join('\n'))
  }
  expect(first && `seed ${first.seed}: ${first.violations}`).toBeUndefined()
  console.log(SOMETIMES.map((name) => `${tally.counts.get(name) ?? 0} ${name}`).join('\n'))
  const never = SOMETIMES.filter((name) => !tally.counts.get(name))
  expect(never).toEqual([])
})

test.each(REGRESSIONS)('seed $seed is clean: $found', async ({ seed }) => {
  const { violations } = await replay(seed, `regression-${seed}`)
  expect(violations).toEqual([])
})

test.each(TWICE)('seed %i has the same history twice', async (seed) => {
  const [first, second] = await Promise.all([
    replay(seed, `first-${seed}`),
    replay(seed, `second-${seed}`),
  ])
  expect(first.history.length).toBeGreaterThan(100)
  expect(second.history.join('\n')).toBe(first.history.join('\n'))
})
