// The simulation can fail: engines that are wrong on purpose are caught, each within 500 seeds, and
// the very same build without a mutation is clean on the seeds that caught them.

import { afterAll, expect, test } from 'vitest'
import { fly } from './fleet.ts'
import { MUTANTS } from './mutants.ts'

const SEEDS_MAX = 500

/** The seeds that caught something. */
const telling = new Set<number>()
const lines: string[] = []

test.each(MUTANTS)('an engine that $name is caught', async ({ name, ...mutation }) => {
  const index = MUTANTS.findIndex((mutant) => mutant.name === name)
  const { failed } = await fly({
    from: 1,
    seeds: SEEDS_MAX,
    workers: 2,
    name: `mutant-${index}`,
    mutations: [mutation],
  })
  const [first] = failed
  expect(first, `no violation in ${SEEDS_MAX} seeds`).toBeDefined()
  telling.add(first!.seed)
  lines.push(`seed ${first!.seed}: ${name} (${first!.violations[0]})`)
})

test('the engine without a mutation is clean on all those seeds', async () => {
  expect(telling.size).toBeGreaterThan(0)
  const seeds = Math.max(...telling)
  const { failed } = await fly({ from: 1, seeds, workers: 2, name: 'canary' })
  expect(failed.map(({ seed, violations }) => `${seed}: ${violations}`)).toEqual([])
})

afterAll(() => {
  console.log(lines.join('\n'))
})
