// Where slots come from: a plan knows the slots of one task and nothing of runs, rows or clocks.
// Instants are whole ms. Intervals and delays are here; cron is in `cron-plan.ts`.

import type { TaskKind } from '../store/store.ts'

/** How many slots there are. */
export interface SlotCount {
  readonly count: number
  /** So many at least: not all of them were counted. */
  readonly isLeast?: true
}

/** The slots of a task. `null` stands for: none inside the horizon. */
export interface Plan {
  readonly kind: TaskKind
  /** What the store keeps of it: the same text, the same slots. */
  readonly spec: string
  /** The zone a cron text is read in; `undefined` for intervals and delays. */
  readonly timeZone: string | undefined
  /** The first slot of a task that is planned at `now`; later than `now`, or at it for a delay. */
  first(now: number): number | null
  /** The first slot later than `instant`, which is not before `slot`, a slot of the task. */
  after(instant: number, slot: number): number | null
  /** The last slot not later than `instant`, which is not before `slot`, a slot of the task. */
  latest(instant: number, slot: number): number
  /** How many slots there are in `[from, until)`; `from` is one of them. For reports only. */
  count(from: number, until: number): SlotCount
}

/** The last instant of a `Date`: there are no slots after it. */
const INSTANT_MAX = 8.64e15

/** Slots every `intervalMs`, counted from the first. */
export class IntervalPlan implements Plan {
  readonly #intervalMs: number

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  get kind(): 'every' {
    return 'every'
  }

  get spec(): string {
    return String(this.#intervalMs)
  }

  get timeZone(): undefined {
    return undefined
  }

  first(now: number): number | null {
    return insideTime(now + this.#intervalMs)
  }

  after(instant: number, slot: number): number | null {
    return insideTime(this.latest(instant, slot) + this.#intervalMs)
  }

  latest(instant: number, slot: number): number {
    return slot + Math.floor((instant - slot) / this.#intervalMs) * this.#intervalMs
  }

  count(from: number, until: number): SlotCount {
    return { count: Math.ceil((until - from) / this.#intervalMs) }
  }
}

/** One slot, `delayMs` after it is planned. */
export class DelayPlan implements Plan {
  readonly #delayMs: number

  constructor(delayMs: number) {
    this.#delayMs = delayMs
  }

  get kind(): 'delay' {
    return 'delay'
  }

  get spec(): string {
    return String(this.#delayMs)
  }

  get timeZone(): undefined {
    return undefined
  }

  first(now: number): number | null {
    return insideTime(now + this.#delayMs)
  }

  after(): null {
    return null
  }

  latest(_: number, slot: number): number {
    return slot
  }

  count(): SlotCount {
    return { count: 1 }
  }
}

function insideTime(instant: number): number | null {
  return instant <= INSTANT_MAX ? instant : null
}
