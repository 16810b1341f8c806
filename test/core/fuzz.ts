// The target `reference` of npm run fuzz: what the tests of laws do, in both dialects, for as long
// as wanted. Prints its seed, and at the first mismatch the smallest sample that shows it. The
// command, with its other targets, is test/fuzz/run.ts.

import fc from 'fast-check'
import { nearExpressions, samples } from './arbitraries.ts'
import {
  checkLaws,
  compareAcceptance,
  compareBatch,
  compareWithReference,
  Mismatch,
} from './comparisons.ts'
import { extendedSamples, nearExtended } from './extended-arbitraries.ts'

const ROUND_RUNS = 200
const PROGRESS_MS = 30_000

const bothDialects = fc.oneof(samples, extendedSamples)
const tally = { comparisons: 0 }
const rounds = {
  'the engine differs from the reference': (seed: number) =>
    fc.check(
      fc.property(bothDialects, (sample) => compareWithReference(sample, tally)),
      { seed, numRuns: ROUND_RUNS },
    ),
  'a law is broken': (seed: number) =>
    fc.check(
      fc.property(bothDialects, (sample) => checkLaws(sample, tally)),
      { seed, numRuns: ROUND_RUNS },
    ),
  'a batch differs from single calls': (seed: number) =>
    fc.check(
      fc.property(fc.array(bothDialects, { minLength: 1, maxLength: 12 }), (all) =>
        compareBatch(all, tally),
      ),
      { seed, numRuns: ROUND_RUNS / 10 },
    ),
  'a standard text is wrongly accepted or refused': (seed: number) =>
    fc.check(
      fc.property(nearExpressions, (text) => compareAcceptance(text, tally)),
      { seed, numRuns: ROUND_RUNS * 5 },
    ),
  'an extended text is wrongly accepted or refused': (seed: number) =>
    fc.check(
      fc.property(nearExtended, (text) => compareAcceptance(text, tally, 'extended')),
      { seed, numRuns: ROUND_RUNS * 5 },
    ),
}

/** Compares for so long, or up to the first mismatch: then it is `false`. */
export function fuzzReference({ minutes, seed: firstSeed }: { minutes: number; seed: number }) {
  console.log(`seed ${firstSeed}, ${minutes} min`)
  const started = performance.now()
  let reported = started
  let seed = firstSeed
  while (performance.now() - started < minutes * 60_000) {
    for (const [what, check] of Object.entries(rounds)) {
      const result = check(seed)
      if (!result.failed) continue
      const cause = result.errorInstance
      console.error(`${what}, after ${tally.comparisons} comparisons:`)
      console.error(cause instanceof Mismatch ? cause.message : cause)
      console.error(`Sample: ${fc.stringify(result.counterexample)}`)
      console.error(`Again: npm run fuzz -- --seed ${seed}`)
      return false
    }
    seed++
    if (performance.now() - reported < PROGRESS_MS) continue
    reported = performance.now()
    console.log(`${tally.comparisons} comparisons`)
  }
  console.log(`${tally.comparisons} comparisons, no mismatch`)
  return true
}
