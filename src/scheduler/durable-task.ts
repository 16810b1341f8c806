// A durable task as this replica knows it: what code registered, what was last seen of its row, and
// which part of the engine has it in hand.

import type { Moment } from '../lease/trust-window.ts'
import type { ScheduleRecord } from '../store/store.ts'
import type { MissedPolicy } from './decide.ts'
import type { Plan } from './plan.ts'
import type { Handler, ScheduledRun } from './run.ts'
import type { ClaimAttempt } from './store-calls.ts'
import type { Alarm } from './timer-queue.ts'

/** What code registers. */
export interface Registration {
  readonly id: string
  /** The id with its namespace. */
  readonly storedId: string
  readonly plan: Plan
  readonly policy: MissedPolicy
  readonly maxCatchUp: number
  readonly leaseMs: number
  readonly handler: Handler<ScheduledRun>
}

/**
 * Who has the task in hand:
 * - `idle` nobody: the scheduler is not running, or the task has no slot any more
 * - `waiting` its alarm is set
 * - `registering`, `reading`, `claiming` it is in that lane
 * - `claimed` a claim of it is being run or committed
 * - `left` its row is no longer this scheduler's concern, save for a claim that goes on
 * - `closed` it was cancelled here or deleted elsewhere
 */
export type Stage =
  | 'idle'
  | 'waiting'
  | 'registering'
  | 'reading'
  | 'claiming'
  | 'claimed'
  | 'left'
  | 'closed'

/** A claim whose reply was lost. */
export interface UnknownAttempt extends ClaimAttempt {
  readonly sentAt: Moment
}

/** A registered durable task. It is its own alarm. */
export class DurableTask implements Alarm {
  dueAt = 0
  heapIndex = -1
  readonly order: number
  readonly registration: Registration
  readonly #onDue: (task: DurableTask) => void

  stage: Stage = 'idle'
  /** What the alarm is for. */
  wakeTo: 'register' | 'read' | 'claim' = 'register'
  /** The stored slot, as last seen. */
  nextRunAt: number | null = null
  fencingToken = 0
  /** The row last seen had a lease, live or lapsed: a claim of that slot takes it over. */
  isLeased = false
  attempt: UnknownAttempt | undefined
  /** A claim has just been refused: should the row look free, another replica is quicker. */
  isRefused = false
  /** The row was absent when last read; once may be the moment of somebody's rewriting it. */
  isAbsent = false
  isDormant = false
  /** Its row was deleted, as far as is known. */
  isDeleted = false
  isSuperseded = false

  constructor(registration: Registration, order: number, onDue: (task: DurableTask) => void) {
    this.registration = registration
    this.order = order
    this.#onDue = onDue
  }

  onDue(): void {
    this.#onDue(this)
  }

  /** Whether nothing moves it any more. */
  get hasEnded(): boolean {
    return this.stage === 'closed' || this.stage === 'left'
  }

  get id(): string {
    return this.registration.id
  }

  get storedId(): string {
    return this.registration.storedId
  }

  get plan(): Plan {
    return this.registration.plan
  }

  /** Remembers what a row says. */
  saw(row: ScheduleRecord): void {
    this.nextRunAt = row.nextRunAt
    this.fencingToken = row.fencingToken
    this.isLeased = row.leaseUntil !== undefined
    this.isAbsent = false
  }

  /** Whether the row has the plan that is registered here. */
  isPlanOf(row: ScheduleRecord): boolean {
    return row.kind === this.plan.kind && row.spec === this.plan.spec
  }
}
