// What the transitions of a zone do to an expression: which slots are moved, skipped or doubled.
// The slots in a gap or fold come from the engine, asked in UTC, where a wall time is an instant.
// Comparing runs under the gap policies would not do: a slot skipped at 02:15 and one moved to
// 03:15 look alike where 03:15 is a slot anyway.

import { type CronExpression, type ParseOptions, parseCron } from '../../bindings/index.ts'
import type { WallClock } from './wall-clock.ts'

const SECOND_MS = 1000
const DAY_MS = 86_400_000

const YEAR_MS = 365.25 * DAY_MS

/** Beyond it a wall time may be no `Date`. */
const WALL_TIME_MAX = 8.64e15 - 2 * DAY_MS

/** A change of a zone's offset; the offsets are wall time minus UTC, in ms. */
export interface Transition {
  readonly at: number
  readonly before: number
  readonly after: number
}

/**
 * - `moved`: the wall time does not exist; the run is later by the gap's length.
 * - `skipped`: the wall time does not exist; no run.
 * - `doubled`: the wall time happens twice, and so does the run.
 * - `once`: the wall time happens twice, the run once.
 */
export type EffectKind = 'moved' | 'skipped' | 'doubled' | 'once'

/** One slot as a wall time (ms, as if in UTC) and the instants it runs at. */
export interface AffectedSlot {
  readonly wall: number
  readonly runs: readonly number[]
}

/** What one transition does to an expression; there is at least one slot. */
export interface TransitionEffect {
  readonly transition: Transition
  readonly kind: EffectKind
  readonly slots: readonly AffectedSlot[]
}

/** Transitions of a year from `from` on, in order. Two in one day that cancel out are not seen. */
export function transitionsOfYear(clock: WallClock, from: number): Transition[] {
  const found: Transition[] = []
  const until = Math.min(from + YEAR_MS, WALL_TIME_MAX)
  let start = Math.floor(from / SECOND_MS) * SECOND_MS
  while (start < until) {
    const end = Math.min(start + DAY_MS, until)
    const at = clock.offset(start) === clock.offset(end) ? end : changeIn(clock, start, end)
    const before = clock.offset(start)
    const after = clock.offset(at)
    if (before !== after) found.push({ at, before, after })
    start = at
  }
  return found
}

/** The first second with another offset than `start`'s; `end` has another one. */
function changeIn(clock: WallClock, start: number, end: number): number {
  let low = start / SECOND_MS
  let high = Math.ceil(end / SECOND_MS)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (clock.offset(middle * SECOND_MS) === clock.offset(start)) low = middle
    else high = middle
  }
  return high * SECOND_MS
}

/** The effect of each transition that touches a slot; `options` are those `cron` was made with. */
export function transitionEffects(
  cron: CronExpression,
  options: ParseOptions,
  found: readonly Transition[],
): TransitionEffect[] {
  const inUtc = parseCron(cron.expression, { ...options, timeZone: 'UTC' })
  const isRun = (instant: number) => cron.count(instant, instant + 1) > 0
  return found.flatMap((transition) => {
    const { at, before, after } = transition
    const walls = inUtc
      .between(at + Math.min(before, after), at + Math.max(before, after))
      .map((wall) => wall.getTime())
    const slots =
      after > before
        ? gapSlots(walls, before, skipsGaps(cron, options))
        : walls.map((wall) => ({ wall, runs: [wall - before, wall - after].filter(isRun) }))
    return byKind(transition, slots)
  })
}

function gapSlots(walls: readonly number[], before: number, skipped: boolean): AffectedSlot[] {
  return walls.map((wall) => ({ wall, runs: skipped ? [] : [wall - before] }))
}

/** By default an hour that starts with `*` skips and a fixed one moves (SPEC §1.4). */
function skipsGaps(cron: CronExpression, { gap }: ParseOptions): boolean {
  if (gap !== undefined) return gap === 'skip'
  const fields = cron.expression.trim().split(/[ \t]+/)
  return fields.length === 1 ? fields[0] === '@hourly' : hourOf(fields).startsWith('*')
}

function hourOf(fields: readonly string[]): string {
  return (fields.length === 5 ? fields[1] : fields[2]) ?? ''
}

function byKind(transition: Transition, slots: readonly AffectedSlot[]): TransitionEffect[] {
  const isGap = transition.after > transition.before
  const kindOf = ({ runs }: AffectedSlot): EffectKind =>
    isGap ? (runs.length > 0 ? 'moved' : 'skipped') : runs.length > 1 ? 'doubled' : 'once'
  const kinds: EffectKind[] = ['moved', 'skipped', 'doubled', 'once']
  return kinds
    .map((kind) => ({ transition, kind, slots: slots.filter((slot) => kindOf(slot) === kind) }))
    .filter((effect) => effect.slots.length > 0)
}
