// The tasks that all replicas of a chaos run register, and the checkers know.

/** A durable task whose slots are `stepMs` apart; a delay has one. */
export interface ChaosTask {
  readonly id: string
  readonly kind: 'every' | 'cron' | 'delay'
  readonly stepMs: number
  readonly policy: 'skip' | 'run-once' | 'catch-up'
  /** How long the handler works, at most. */
  readonly workMs: number
}

/** What the replicas of a run do, and at what pace. */
export interface Plan {
  readonly leaseMs: number
  readonly tickMs: number
  readonly tasks: readonly ChaosTask[]
}

const intervals = (
  policy: ChaosTask['policy'],
  rows: readonly (readonly [stepMs: number, workMs: number])[],
): ChaosTask[] =>
  rows.map(([stepMs, workMs], index) => ({
    ...{ id: `${policy} ${index}`, kind: 'every', policy, stepMs, workMs },
  }))

// Short work meets a fault before, between and after its writes; long work meets it while it runs.
const DENSE = [
  [200, 0],
  [250, 5],
  [300, 20],
  [500, 100],
  [700, 300],
  [1000, 700],
  [2000, 1800],
  [1500, 1200],
] as const

const AROUND: readonly ChaosTask[] = [
  { id: 'cron catch-up', kind: 'cron', policy: 'catch-up', stepMs: 1000, workMs: 10 },
  { id: 'cron run-once', kind: 'cron', policy: 'run-once', stepMs: 2000, workMs: 10 },
  { id: 'delay soon', kind: 'delay', policy: 'run-once', stepMs: 3000, workMs: 50 },
  { id: 'delay later', kind: 'delay', policy: 'catch-up', stepMs: 15_000, workMs: 50 },
]

/** The plans: `dense` for many faults in little time, `light` for hours beside other work. */
export const PLANS = {
  dense: {
    ...{ leaseMs: 600, tickMs: 200 },
    tasks: [
      ...intervals('catch-up', DENSE),
      ...intervals('run-once', DENSE),
      ...intervals('skip', DENSE.slice(0, 3)),
      ...AROUND,
    ],
  },
  light: {
    ...{ leaseMs: 1500, tickMs: 250 },
    tasks: [
      ...intervals('catch-up', [
        [1000, 100],
        [2000, 1900],
      ]),
      // Some that go on long after their lease is lost, if nobody tells them.
      ...intervals('run-once', [
        [1000, 0],
        [2000, 6000],
      ]),
      ...intervals('skip', [[1000, 700]]),
      ...AROUND,
    ],
  },
} satisfies Record<string, Plan>
