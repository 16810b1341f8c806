// Seeds that once failed by a mistake of the engine, each with what was wrong. The same mistakes
// are mutants too: should scenarios change, a seed may miss its mistake, and the mutant does not.

/** A seed and what it found. */
export interface Regression {
  readonly seed: number
  readonly found: string
}

/** All of them. */
export const REGRESSIONS: readonly Regression[] = [
  { seed: 63, found: 'a store that never answered its start was waited for, for ever' },
  { seed: 17, found: 'a commit that its client had sent twice was told as refused' },
  { seed: 75714, found: 'a task that was left was claimed, after those of a shorter lease' },
]
