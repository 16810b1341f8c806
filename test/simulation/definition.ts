// What code registers, and what it means: slots and decisions written from SPEC §1.4 and §2.4 on
// top of the slow reference of cron, sharing nothing with the engine. This is the oracle.

import type { TaskKind } from '../../src/index.ts'
import { Reference } from '../core/reference.ts'

/** The reference is asked for so much at a time. */
const STRETCH_MS = 2 * 3_600_000

/** A task as a deploy registers it. */
export interface Definition {
  readonly id: string
  readonly kind: TaskKind
  /** What the store must keep of it. */
  readonly spec: string
  /** Of an interval or delay. */
  readonly ms: number
  /** Of a cron task. */
  readonly cron: string
  readonly timeZone: string
  readonly missed: 'skip' | 'run-once' | 'catch-up'
  readonly maxCatchUp: number
  readonly leaseMs: number
  /** Which handlers it gets; see `handlers.ts`. */
  readonly temper: 'quick' | 'mixed' | 'poison'
}

/** The runs of cron texts by spec and stretch: the reference is slow, and seeds share them. */
const knownSlots = new Map<string, Map<number, number[]>>()

function slotsIn(stretch: number, { spec, cron, timeZone }: Definition): number[] {
  let known = knownSlots.get(spec)
  if (!known) {
    known = new Map()
    knownSlots.set(spec, known)
  }
  let slots = known.get(stretch)
  if (!slots) {
    const from = stretch * STRETCH_MS
    slots = new Reference(cron, { timeZone }).between(from, from + STRETCH_MS)
    known.set(stretch, slots)
  }
  return slots
}

function nextCron(definition: Definition, after: number): number {
  for (let stretch = Math.floor(after / STRETCH_MS); ; stretch++) {
    const slots = slotsIn(stretch, definition)
    const last = slots.at(-1)
    if (last === undefined || last <= after) continue
    return slots.find((slot) => slot > after)!
  }
}

/** The first slot of a task that is planned at `now`. */
export function firstSlot(definition: Definition, now: number): number {
  return definition.kind === 'cron' ? nextCron(definition, now) : now + definition.ms
}

/** The first slot after `instant`, of a task one of whose slots is `slot`. */
export function slotAfter(definition: Definition, instant: number, slot: number): number | null {
  if (definition.kind === 'delay') return null
  if (definition.kind === 'cron') return nextCron(definition, instant)
  const { ms } = definition
  return slot + (Math.floor((instant - slot) / ms) + 1) * ms
}

/** What is to become of a claimed slot. */
export interface Decision {
  readonly slots: readonly number[]
  readonly isMissed: boolean
  /** What the commit writes when all of them ran, the last until `endedAt`. */
  next(endedAt: number): number | null
}

/** Decides from the stored slot and the time of the claim alone. */
export function decision(
  definition: Definition,
  claim: { slot: number; claimedAt: number; takenOver: boolean },
  graceMs: number,
): Decision {
  const { slot, claimedAt, takenOver } = claim
  const isLate = (due: number) => claimedAt - due > graceMs
  const after = (instant: number) => slotAfter(definition, instant, slot)
  if (takenOver || !isLate(slot)) {
    const isSkip = definition.missed === 'skip'
    const next = (endedAt: number) => after(isSkip ? Math.max(slot, endedAt) : slot)
    return { slots: [slot], isMissed: false, next }
  }
  if (definition.missed !== 'catch-up') {
    const slots = definition.missed === 'skip' ? [] : [slot]
    return { slots, isMissed: true, next: () => after(claimedAt) }
  }
  const slots: number[] = []
  let open: number | null = slot
  while (open !== null && isLate(open)) {
    if (slots.length < definition.maxCatchUp) slots.push(open)
    open = slotAfter(definition, open, open)
  }
  return { slots, isMissed: true, next: () => open }
}
