// The tasks that all replicas of the chaos test register, and the checker knows.

/** A durable task whose slots are `stepMs` apart; a delay has one. */
export interface ChaosTask {
  readonly id: string
  readonly kind: 'every' | 'cron' | 'delay'
  readonly stepMs: number
  readonly policy: 'skip' | 'run-once' | 'catch-up'
  /** How long the handler works, at most. */
  readonly workMs: number
}

export const LEASE_MS = 600
export const TICK_MS = 200

const intervals = (
  policy: ChaosTask['policy'],
  rows: readonly (readonly [stepMs: number, workMs: number])[],
): ChaosTask[] =>
  rows.map(([stepMs, workMs], index) => ({
    ...{ id: `${policy} ${index}`, kind: 'every', policy, stepMs, workMs },
  }))

// Short work meets a fault before, between and after its writes; long work meets it while it runs.
const ROWS = [
  [200, 0],
  [250, 5],
  [300, 20],
  [500, 100],
  [700, 300],
  [1000, 700],
  [2000, 1800],
  [1500, 1200],
] as const

export const TASKS: readonly ChaosTask[] = [
  ...intervals('catch-up', ROWS),
  ...intervals('run-once', ROWS),
  ...intervals('skip', ROWS.slice(0, 3)),
  { id: 'cron catch-up', kind: 'cron', policy: 'catch-up', stepMs: 1000, workMs: 10 },
  { id: 'cron run-once', kind: 'cron', policy: 'run-once', stepMs: 2000, workMs: 10 },
  { id: 'delay soon', kind: 'delay', policy: 'run-once', stepMs: 3000, workMs: 50 },
  { id: 'delay later', kind: 'delay', policy: 'catch-up', stepMs: 15_000, workMs: 50 },
]
