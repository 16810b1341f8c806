// What a user holds of a task.

import type { TaskKind } from '../store/store.ts'

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
}

/** A task whose slot is asked for each time. */
export class TaskHandle implements ScheduledTask {
  readonly id: string | undefined
  readonly kind: TaskKind
  readonly timeZone: string | undefined
  readonly #nextSlot: () => number | null
  readonly #cancel: () => Promise<void>

  constructor(options: {
    id: string | undefined
    kind: TaskKind
    timeZone: string | undefined
    nextSlot: () => number | null
    cancel: () => Promise<void>
  }) {
    this.id = options.id
    this.kind = options.kind
    this.timeZone = options.timeZone
    this.#nextSlot = options.nextSlot
    this.#cancel = options.cancel
  }

  get nextRunAt(): Date | null {
    const slot = this.#nextSlot()
    return slot === null ? null : new Date(slot)
  }

  cancel(): Promise<void> {
    return this.#cancel()
  }
}
