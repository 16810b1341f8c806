// The extended dialect on random texts: against its own slow reference, against batches, and its
// promise to read every standard text as the standard dialect does. SEED=n repeats a run.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'
import { samples } from './arbitraries.ts'
import { expectedRuns, readCases } from './cases.ts'
import { checkLaws, compareAcceptance, compareBatch, compareWithReference } from './comparisons.ts'
import { extendedSamples, nearExtended } from './extended-arbitraries.ts'
import { ExtendedReference, readExtended } from './reference-extended.ts'

const seed = Number(process.env.SEED ?? 20_260_101)
const dialect = 'extended'
const tally = { comparisons: 0 }

/** Gives `step` its own answers, `count` times or up to none. */
function walk(from: number, count: number, step: (at: number) => Date | number | null) {
  const runs: (number | null)[] = []
  let at: number | null = from
  for (let i = 0; i < count && at !== null; i++) {
    const run: Date | number | null = step(at)
    at = run === null ? null : Number(run)
    runs.push(at)
  }
  return runs
}

describe('the reference of the extended dialect', () => {
  // The other files are left to the reference of the standard dialect, to save time.
  test.each(['cases_calendar.jsonl', 'public.jsonl'])('gives every value of %s', (file) => {
    for (const one of readCases().get(file)!) {
      if (one.error) continue
      const reference = new ExtendedReference(one.expr, { timeZone: one.zone! })
      const runs = expectedRuns(one)
      const got = walk(Date.parse(one.from!), runs.length, (at) => reference.next(at))
      expect(got, one.id).toEqual(runs)
    }
  })

  test('refuses what the cases of the extended dialect say is refused', () => {
    const lines = [...readCases().values()].flat()
    const refused = lines.filter((one) => one.dialect === 'E' && one.error)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.map((one) => readExtended(one.expr))).toEqual(refused.map(() => null))
  })
})

describe(`the extended dialect on random samples, seed ${seed}`, () => {
  test('every answer is the reference’s', () => {
    fc.assert(
      fc.property(extendedSamples, (sample) => compareWithReference(sample, tally)),
      { seed, numRuns: 1500 },
    )
  }, 120_000)

  test('every law is kept', () => {
    fc.assert(
      fc.property(extendedSamples, (sample) => checkLaws(sample, tally)),
      { seed, numRuns: 500 },
    )
  }, 120_000)

  test('a batch answers as each expression alone, and equal ones are one', () => {
    fc.assert(
      fc.property(fc.array(extendedSamples, { minLength: 1, maxLength: 20 }), (all) =>
        compareBatch(all, tally),
      ),
      { seed, numRuns: 150 },
    )
  }, 120_000)

  test('a standard text has the same runs in both dialects', () => {
    fc.assert(
      fc.property(samples, ({ expression, timeZone, at, gap, fold }) => {
        const standard = parseCron(expression, { timeZone, gap, fold })
        const extended = parseCron(expression, { dialect, timeZone, gap, fold })
        expect(walk(at, 5, (from) => extended.next(from))).toEqual(
          walk(at, 5, (from) => standard.next(from)),
        )
        expect(extended.fields).toEqual(standard.fields)
      }),
      { seed, numRuns: 1000 },
    )
  }, 120_000)

  test('a text near the grammar is accepted or refused as the reference does', () => {
    fc.assert(
      fc.property(nearExtended, (text) => compareAcceptance(text, tally, dialect)),
      { seed, numRuns: 8000 },
    )
  }, 120_000)
})
