// The engine against the slow reference on random expressions, zones, instants and policies, and
// the laws of its answers. The seed is printed; SEED=n tries another. `npm run fuzz` goes on.
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { nearExpressions, samples } from './arbitraries.ts'
import { checkLaws, compareAcceptance, compareBatch, compareWithReference } from './comparisons.ts'

const seed = Number(process.env.SEED ?? 20_260_101)
const withReference = { comparisons: 0 }
const withItself = { comparisons: 0 }

describe(`the engine on random samples, seed ${seed}`, () => {
  test('next, prev, matches, between, count and occurrences are the reference’s', () => {
    fc.assert(
      fc.property(samples, (sample) => compareWithReference(sample, withReference)),
      { seed, numRuns: 3000 },
    )
  }, 120_000)

  test('a batch answers as each expression alone, in any order', () => {
    fc.assert(
      fc.property(fc.array(samples, { minLength: 1, maxLength: 12 }), (all) =>
        compareBatch(all, withItself),
      ),
      { seed, numRuns: 100 },
    )
  }, 120_000)

  test('next, prev and between keep their laws', () => {
    fc.assert(
      fc.property(samples, (sample) => checkLaws(sample, withItself)),
      { seed, numRuns: 1500 },
    )
  }, 120_000)

  test('a text near the grammar is accepted or refused as the reference does', () => {
    fc.assert(
      fc.property(nearExpressions, (text) => compareAcceptance(text, withItself)),
      { seed, numRuns: 5000 },
    )
  })

  test('at least 20,000 answers were compared with the reference', () => {
    expect(withReference.comparisons).toBeGreaterThanOrEqual(20_000)
  })

  afterAll(() => {
    const { comparisons } = withReference
    console.log(`seed ${seed}: ${comparisons} answers compared, ${withItself.comparisons} laws`)
  })
})
