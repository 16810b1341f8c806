// The slots of a cron task: the engine's runs as a plan. The only file of the scheduler that knows
// the engine.

import { type CronExpression, type ExpressionOptions, parseCron } from '../../bindings/index.ts'
import type { Plan, SlotCount } from './plan.ts'
import { cronSpec } from './spec.ts'

const COUNT_MAX = 1_000_000
const COUNT_STEP_MS = 7 * 86_400_000
/** A century. */
const COUNT_SPAN_MS = 36_525 * 86_400_000

/** How a cron task reads its text. `seed` is chosen by the scheduler. */
export type CronOptions = Omit<ExpressionOptions, 'seed'>

/** The runs of a cron expression. */
export class CronPlan implements Plan {
  readonly kind = 'cron'
  readonly spec: string
  readonly #cron: CronExpression

  /**
   * `seed` spreads the tasks of the extended dialect. Throws a `CronSyntaxError` (a `TypeError`)
   * for a text that is no expression, a `TypeError` for a wrong option, a `RangeError` for an
   * unknown zone.
   */
  constructor(text: string, options: CronOptions, seed?: string) {
    this.#cron = parseCron(text, { ...options, seed })
    this.spec = cronSpec(text, options)
  }

  get timeZone(): string {
    return this.#cron.timeZone
  }

  first(now: number): number | null {
    return this.after(now)
  }

  after(instant: number): number | null {
    return this.#cron.next(instant)?.getTime() ?? null
  }

  latest(instant: number, slot: number): number {
    const next = this.after(slot)
    if (next === null || next > instant) return slot
    return Math.max(slot, this.#cron.prev(instant + 1)?.getTime() ?? slot)
  }

  /**
   * Stops at a million or soon after, and at a century: to count ten years of seconds, or all years
   * since the first instant, would keep the process from all else for seconds.
   */
  count(from: number, until: number): SlotCount {
    const end = Math.min(until, from + COUNT_SPAN_MS)
    let count = 0
    let start = from
    for (; start < end && count < COUNT_MAX; start += COUNT_STEP_MS) {
      count += this.#cron.count(start, Math.min(end, start + COUNT_STEP_MS))
    }
    return Math.min(start, end) < until ? { count, isLeast: true } : { count }
  }
}
