// What a user holds of a task.

import type { TaskKind } from '../store/store.ts'
import type { DurableLoop } from './durable-loop.ts'
import type { DurableTask } from './durable-task.ts'
import type { PlainTask } from './plain-loop.ts'

/** A registered task. */
export interface ScheduledTask {
  /** `undefined` for a plain task. */
  readonly id: string | undefined
  readonly kind: TaskKind
  /** The zone a cron task is read in; `undefined` for intervals and delays. */
  readonly timeZone: string | undefined
  /** The next slot; `null` when there is none, or, of a durable task, when it is not stored yet. */
  readonly nextRunAt: Date | null
  /**
   * Ends the task: it does not start again once this is called. A run that goes on is not aborted.
   * Resolves when the row of a durable task is deleted; rejects when the store could not be reached
   * before the scheduler stopped.
   */
  cancel(): Promise<void>
  /**
   * Ends the task in this scheduler and keeps its row, for other replicas or a later registration
   * of the id. A run that goes on is not aborted, and is committed; what was claimed and has not
   * begun is handed back. A plain task has no row: it ends.
   */
  leave(): void
}

/** What a user holds of a plain task. */
export class PlainHandle implements ScheduledTask {
  readonly #task: PlainTask

  constructor(task: PlainTask) {
    this.#task = task
  }

  get id(): undefined {
    return undefined
  }

  get kind(): TaskKind {
    return this.#task.plan.kind
  }

  get timeZone(): string | undefined {
    return this.#task.plan.timeZone
  }

  get nextRunAt(): Date | null {
    return dateOf(this.#task.slot)
  }

  async cancel(): Promise<void> {
    this.leave()
  }

  leave(): void {
    this.#task.loop.cancel(this.#task)
  }
}

/** What a user holds of a durable task. */
export class DurableHandle implements ScheduledTask {
  readonly #task: DurableTask
  readonly #loop: DurableLoop

  constructor(task: DurableTask, loop: DurableLoop) {
    this.#task = task
    this.#loop = loop
  }

  get id(): string {
    return this.#task.id
  }

  get kind(): TaskKind {
    return this.#task.plan.kind
  }

  get timeZone(): string | undefined {
    return this.#task.plan.timeZone
  }

  get nextRunAt(): Date | null {
    return dateOf(this.#task.nextRunAt)
  }

  cancel(): Promise<void> {
    return this.#loop.cancel(this.#task)
  }

  leave(): void {
    this.#loop.leave(this.#task)
  }
}

function dateOf(slot: number | null): Date | null {
  return slot === null ? null : new Date(slot)
}
