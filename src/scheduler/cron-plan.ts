// The slots of a cron task: the engine's runs as a plan. The only file of the scheduler that knows
// the engine.

import { type ExpressionOptions, parseCron } from '../../bindings/index.ts'
import type { Plan } from './plan.ts'
import { cronSpec } from './spec.ts'

/** How a cron task reads its text. `seed` is chosen by the scheduler. */
export type CronOptions = Omit<ExpressionOptions, 'seed'>

/** A plan, and the zone its text is read in. */
export interface CronPlan extends Plan {
  readonly timeZone: string
}

/**
 * Throws a `CronSyntaxError` (a `TypeError`) for a text that is no expression, a `TypeError` for a
 * wrong option, a `RangeError` for an unknown zone.
 */
export function cronPlan(text: string, options: CronOptions, seed: string | undefined): CronPlan {
  const cron = parseCron(text, seed === undefined ? options : { ...options, seed })
  const after = (instant: number) => cron.next(instant)?.getTime() ?? null
  return {
    kind: 'cron',
    spec: cronSpec(text, options),
    timeZone: cron.timeZone,
    first: after,
    after,
    latest: (instant, slot) => {
      const next = after(slot)
      if (next === null || next > instant) return slot
      return Math.max(slot, cron.prev(instant + 1)?.getTime() ?? slot)
    },
    count: (from, until) => cron.count(from, until),
  }
}
