// A cadence as slots. Reading the text is all that is done here; clocks and timers are elsewhere.

import { cronPlan } from '../scheduler/cron-plan.ts'
import { intervalPlan } from '../scheduler/plan.ts'
import type { Cadence } from './contract.ts'

/** The slots of a registration. */
export interface Slots {
  readonly isInterval: boolean
  /** The first slot later than `instant`; `null` when there is none inside the horizon. */
  after(instant: number): number | null
  /** The last slot not later than `instant`, which is not before `slot`, a slot. */
  latest(instant: number, slot: number): number
}

/** The longest interval there is: what separates the epoch from the last instant of a `Date`. */
const EVERY_MS_MAX = 8.64e15

/**
 * The slots of a cadence: those of an interval are `anchor` plus a multiple of it.
 * @throws {TypeError} for anything that is no cadence, `CronSyntaxError` for a bad expression
 */
export function slotsOf(
  cadence: Cadence,
  { name, anchor }: { name: string; anchor: number },
): Slots {
  const { cron, every } = fieldsOf(cadence)
  if (cron === undefined) {
    const plan = intervalPlan(everyMs(every))
    const after = (instant: number) => plan.after(instant, anchor)
    return { isInterval: true, after, latest: plan.latest }
  }
  const plan = cronPlan(cron as string, { dialect: 'extended' }, name)
  const after = (instant: number) => plan.after(instant, instant)
  return { isInterval: false, after, latest: plan.latest }
}

/**
 * The ms of an `every`.
 * @throws {TypeError} unless it is a decimal string above zero
 */
export function everyMs(every: unknown): number {
  const ms = typeof every === 'string' && /^\d{1,16}$/.test(every) ? Number(every) : 0
  if (ms > 0 && ms <= EVERY_MS_MAX) return ms
  const shown = typeof every === 'string' ? JSON.stringify(every.slice(0, 40)) : String(every)
  throw new TypeError(
    `cadence.every: must be a plain string with a positive number of milliseconds, ` +
      `such as '5000', not ${shown}`,
  )
}

function fieldsOf(cadence: unknown): { cron?: unknown; every?: unknown } {
  if (typeof cadence === 'object' && cadence !== null) {
    const names = Object.keys(cadence)
    if (names.length === 1 && (names[0] === 'cron' || names[0] === 'every')) return cadence
  }
  throw new TypeError("cadence: must be { cron: '<expression>' } or { every: '<ms>' }, one of them")
}
