// Where slots come from: a plan knows the slots of one task and nothing of runs, rows or clocks.
// Instants are whole ms. Intervals and delays are here; cron is in `cron-plan.ts`.

import type { TaskKind } from '../store/store.ts'

/** The slots of a task. `null` stands for: none inside the horizon. */
export interface Plan {
  readonly kind: TaskKind
  /** What the store keeps of it: the same text, the same slots. */
  readonly spec: string
  /** The first slot of a task that is planned at `now`; later than `now`, or at it for a delay. */
  first(now: number): number | null
  /** The first slot later than `instant`, which is not before `slot`, a slot of the task. */
  after(instant: number, slot: number): number | null
  /** The last slot not later than `instant`, which is not before `slot`, a slot of the task. */
  latest(instant: number, slot: number): number
  /** How many slots there are in `[from, until)`; `from` is one of them. */
  count(from: number, until: number): number
}

/** The last instant of a `Date`: there are no slots after it. */
const INSTANT_MAX = 8.64e15

/** Slots every `intervalMs`, counted from the first. */
export function intervalPlan(intervalMs: number): Plan {
  const latest = (instant: number, slot: number) =>
    slot + Math.floor((instant - slot) / intervalMs) * intervalMs
  return {
    kind: 'every',
    spec: String(intervalMs),
    first: (now) => insideTime(now + intervalMs),
    after: (instant, slot) => insideTime(latest(instant, slot) + intervalMs),
    latest,
    count: (from, until) => Math.ceil((until - from) / intervalMs),
  }
}

/** One slot, `delayMs` after it is planned. */
export function delayPlan(delayMs: number): Plan {
  return {
    kind: 'delay',
    spec: String(delayMs),
    first: (now) => insideTime(now + delayMs),
    after: () => null,
    latest: (_, slot) => slot,
    count: () => 1,
  }
}

function insideTime(instant: number): number | null {
  return instant <= INSTANT_MAX ? instant : null
}
