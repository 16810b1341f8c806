// npm run fuzz -- --minutes N [--seed S]: what the tests of laws do, in both dialects, for as long
// as wanted. Prints its seed, and at the first mismatch the smallest sample that shows it; exit 1
// then. The other targets of the command are in test/fuzz/run.ts.
import { parseArgs } from 'node:util'
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

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } },
  strict: false,
})
const minutes = Number(values.minutes)
const firstSeed = Number(values.seed ?? Date.now() % 2 ** 31)
if (!(minutes > 0) || !Number.isInteger(firstSeed)) {
  console.error('Usage: npm run fuzz -- --minutes N [--seed S], N above 0, S an integer')
  process.exit(2)
}

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
    process.exit(1)
  }
  seed++
  if (performance.now() - reported < PROGRESS_MS) continue
  reported = performance.now()
  console.log(`${tally.comparisons} comparisons`)
}
console.log(`${tally.comparisons} comparisons, no mismatch`)
