// Options as users write them: checked at once, unknown names refused with the nearest right one.

import { type Duration, positiveMs } from '../duration.ts'
import type { CronOptions } from './cron-plan.ts'
import type { MissedPolicy } from './decide.ts'
import type { OverlapPolicy } from './plain-loop.ts'

/** Options of a plain task: one without an id. */
export interface PlainOptions {
  readonly id?: undefined
  /** What happens to a slot that falls due while the handler runs; default `'skip'`. */
  readonly overlap?: OverlapPolicy | undefined
}

/** Options of a durable task. */
export interface DurableOptions {
  /** Well-formed Unicode without NUL; with the namespace at most 1024 bytes of UTF-8. */
  readonly id: string
  /** What becomes of missed slots; default `'skip'`. */
  readonly missed?: MissedPolicy | undefined
  /** At most so many missed slots run under one claim; default 10. */
  readonly maxCatchUp?: number | undefined
  /** How long a claim holds unless it is renewed; default 60 s. Far above the skew of clocks. */
  readonly leaseMs?: Duration | undefined
}

/** Options of a plain cron task. */
export interface PlainCronOptions extends PlainOptions, CronOptions {}

/** Options of a durable cron task. */
export interface DurableCronOptions extends DurableOptions, CronOptions {}

/** Options of any task, as they are checked. */
export interface TaskOptions extends CronOptions {
  readonly id?: string | undefined
  readonly overlap?: OverlapPolicy | undefined
  readonly missed?: MissedPolicy | undefined
  readonly maxCatchUp?: number | undefined
  readonly leaseMs?: Duration | undefined
}

const CRON_NAMES = ['timeZone', 'dialect', 'gap', 'fold']
const DURABLE_NAMES = ['missed', 'maxCatchUp', 'leaseMs']
const PLAIN_NAMES = ['overlap']
const TASK_NAMES = ['id', ...DURABLE_NAMES, ...PLAIN_NAMES, ...CRON_NAMES]

const MISSED_POLICIES: readonly unknown[] = ['skip', 'run-once', 'catch-up']
const OVERLAP_POLICIES: readonly unknown[] = ['skip', 'queue', 'allow']

const LEASE_MS = 60_000
const CATCH_UP_MAX = 10

/** Throws a `TypeError` for options that such a task does not have. */
export function checkTaskOptions(options: TaskOptions, isCron: boolean): void {
  checkNames('task', options, TASK_NAMES)
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : name,
  )
  const refuse = (names: readonly string[], why: string) => {
    const name = given.find((other) => names.includes(other))
    if (name !== undefined) throw new TypeError(`${name}: ${why}`)
  }
  if (!isCron) refuse(CRON_NAMES, 'only cron tasks have it; intervals and delays know no zone')
  if (options.id === undefined) refuse(DURABLE_NAMES, 'only durable tasks have it; give an id')
  else refuse(PLAIN_NAMES, 'only plain tasks have it; runs of a durable task never overlap')
}

/** The policy for overlaps, with its default. */
export function overlapOf({ overlap = 'skip' }: TaskOptions): OverlapPolicy {
  return oneOf('overlap', overlap, OVERLAP_POLICIES)
}

/** What the options of a durable task come to, with their defaults. */
export function durableSetting(options: TaskOptions): {
  policy: MissedPolicy
  maxCatchUp: number
  leaseMs: number
} {
  const { missed = 'skip', maxCatchUp = CATCH_UP_MAX, leaseMs = LEASE_MS } = options
  if (typeof maxCatchUp !== 'number') {
    throw new TypeError(`maxCatchUp: must be a number, not ${typeof maxCatchUp}`)
  }
  if (!Number.isSafeInteger(maxCatchUp) || maxCatchUp < 1) {
    throw new RangeError(`maxCatchUp: must be a positive integer, not ${maxCatchUp}`)
  }
  return {
    policy: oneOf('missed', missed, MISSED_POLICIES),
    maxCatchUp,
    leaseMs: positiveMs(leaseMs, 'leaseMs'),
  }
}

/** Throws a `TypeError` for an option that is not among `names`, and tells the nearest that is. */
export function checkNames(what: string, options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${what} options: must be an object, not ${String(options)}`)
  }
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue
    const shown = JSON.stringify(name)
    throw new TypeError(
      `${what} options: there is no ${shown}, did you mean '${nearest(name, names)}'? ` +
        `Allowed are ${names.join(', ')}`,
    )
  }
}

function oneOf<Value>(name: string, value: Value, allowed: readonly unknown[]): Value {
  if (allowed.includes(value)) return value
  const list = allowed.map((other) => `'${other}'`).join(', ')
  throw new TypeError(`${name}: must be one of ${list}, not ${String(value)}`)
}

function nearest(name: string, names: readonly string[]): string {
  const text = name.slice(0, 40).toLowerCase()
  const byDistance = names.map((other) => ({
    other,
    distance: distance(text, other.toLowerCase()),
  }))
  return byDistance.reduce((best, next) => (next.distance < best.distance ? next : best)).other
}

/** Levenshtein's distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, substituted))
    }
    row = next
  }
  return row[b.length]!
}
