// The slots of a cron task: the engine's runs as a plan. The only file of the scheduler that knows
// the engine.

import { type CronExpression, type ExpressionOptions, parseCron } from '../../bindings/index.ts'
import type { Plan } from './plan.ts'
import { cronSpec } from './spec.ts'

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

  count(from: number, until: number): number {
    return this.#cron.count(from, until)
  }
}
