// What to do with a claimed slot (SPEC §2.4): a pure function of the stored row, the time of the
// claim and the task's options, so that all replicas decide alike. The loop around it only carries
// out the answer. Whatever lies between the last slot that ran and the next one is skipped.

import type { Plan } from './plan.ts'

/** What becomes of missed slots: none runs, the first one runs, or all of them. */
export type MissedPolicy = 'skip' | 'run-once' | 'catch-up'

/** All that a decision rests on. */
export interface ClaimedSlot {
  readonly plan: Plan
  /** The row's `nextRunAt`. */
  readonly slot: number
  /** The `now` of the claim; not before `slot`. */
  readonly claimedAt: number
  /** The slot's runner died, stalled or handed it back. */
  readonly takenOver: boolean
  readonly policy: MissedPolicy
  /** At most so many missed slots run under one claim. */
  readonly maxCatchUp: number
  /** How late a claim may be and the slot not be missed. */
  readonly graceMs: number
}

/** What to run under one claim, and where the task goes on. */
export interface Decision {
  /** The slots to run, one after the other; made one by one, for there may be many. */
  readonly slots: Iterable<number>
  /** Whether those slots were missed. */
  readonly missed: boolean
  /** The `nextRunAt` to commit when all of them ran, the last one until `endedAt`. */
  next(endedAt: number): number | null
}

/** Decides. Given the same arguments, it gives the same answer on every replica. */
export function decide(claimed: ClaimedSlot): Decision {
  const { plan, slot, claimedAt, takenOver, policy, graceMs } = claimed
  const isMissed = !takenOver && claimedAt - slot > graceMs
  if (!isMissed) {
    // The wall clock may have been set back during the run: never return to the slot that ran.
    return policy === 'skip'
      ? { slots: [slot], missed: false, next: (end) => plan.after(Math.max(end, slot), slot) }
      : { slots: [slot], missed: false, next: () => plan.after(slot, slot) }
  }
  switch (policy) {
    case 'skip':
      return { slots: [], missed: true, next: () => plan.after(claimedAt, slot) }
    case 'run-once':
      return { slots: [slot], missed: true, next: () => plan.after(claimedAt, slot) }
    case 'catch-up':
      return catchUp(claimed)
  }
}

function catchUp({ plan, slot, claimedAt, graceMs, maxCatchUp }: ClaimedSlot): Decision {
  const lastMissed = Math.ceil(claimedAt - graceMs) - 1
  function* slots(): Iterable<number> {
    let next: number | null = slot
    for (let count = 0; count < maxCatchUp && next !== null && next <= lastMissed; count++) {
      yield next
      next = plan.after(next, next)
    }
  }
  return {
    slots: { [Symbol.iterator]: () => slots()[Symbol.iterator]() },
    missed: true,
    next: () => plan.after(lastMissed, slot),
  }
}
