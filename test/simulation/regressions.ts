// Seeds that once failed, each with what was wrong. Seeds of mistakes in the engine; the same
// mistakes are mutants too, so that they stay telling should scenarios change.

/** A seed and what it found. */
export interface Regression {
  readonly seed: number
  readonly found: string
}

/** All of them. */
export const REGRESSIONS: readonly Regression[] = [
  { seed: 63, found: 'a store that never answered its start was waited for, for ever' },
  { seed: 17, found: 'a commit that its client had sent twice was told as refused' },
]
