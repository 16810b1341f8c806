// A cadence as slots. Reading the text is all that is done here; clocks and timers are elsewhere.

import { parseCron } from '../../bindings/index.ts'
import type { Cadence } from './contract.ts'

/** The slots of a registration. */
export interface Slots {
  readonly isInterval: boolean
  /** The first slot later than `instant`; `null` when there is none inside the horizon. */
  after(instant: number): number | null
  /** The last slot not later than `instant`; `null` when there is none inside the horizon. */
  latest(instant: number): number | null
}

/** What separates the epoch from the last instant of a `Date`. */
const INSTANT_MAX = 8.64e15

/**
 * The slots of a cadence: those of an interval are `anchor` and every multiple of it from there.
 * @throws {TypeError} for anything that is no cadence, `CronSyntaxError` for a bad expression
 */
export function slotsOf(
  cadence: Cadence,
  { name, anchor }: { name: string; anchor: number },
): Slots {
  const { cron, every } = fieldsOf(cadence)
  if (cron === undefined) return intervalSlots(everyMs(every), anchor)
  const expression = parseCron(cron as string, { dialect: 'extended', seed: name })
  return {
    isInterval: false,
    after: (instant) => expression.next(instant)?.getTime() ?? null,
    latest: (instant) => expression.prev(instant + 1)?.getTime() ?? null,
  }
}

function intervalSlots(intervalMs: number, anchor: number): Slots {
  const latest = (instant: number) =>
    anchor + Math.floor((instant - anchor) / intervalMs) * intervalMs
  return {
    isInterval: true,
    latest,
    after(instant) {
      const next = latest(instant) + intervalMs
      return next <= INSTANT_MAX ? next : null
    },
  }
}

/**
 * The ms of an `every`.
 * @throws {TypeError} unless it is a decimal string above zero
 */
export function everyMs(every: unknown): number {
  const ms = typeof every === 'string' && /^\d{1,16}$/.test(every) ? Number(every) : 0
  if (ms > 0 && ms <= INSTANT_MAX) return ms
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
