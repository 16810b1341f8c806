// Deletes rows. A delete names the token it saw, so that one that arrives late cannot end a newer
// claim; therefore the row is read first, and again afterwards, until it is gone.

import type { Journal } from './journal.ts'
import { type Failed, Lane, LostReplies } from './lane.ts'
import { isAboutOneRow, type StoreCalls } from './store-calls.ts'
import type { TimerQueue } from './timer-queue.ts'

interface Removal {
  readonly storedId: string
  resolve(): void
  reject(error: Error): void
}

/** What the remover needs. */
export interface RemoverOptions {
  readonly calls: StoreCalls
  readonly timers: TimerQueue
  readonly journal: Journal
  readonly tickMs: number
}

/** Deletes rows, however often the store fails. */
export class Remover {
  readonly #calls: StoreCalls
  readonly #journal: Journal
  readonly #lane: Lane<Removal>
  readonly #pending = new Map<string, Promise<void>>()
  #retries = false
  #lastError: Error | undefined

  constructor({ calls, timers, journal, tickMs: retryMs }: RemoverOptions) {
    this.#calls = calls
    this.#journal = journal
    this.#lane = new Lane({
      timers,
      retryMs,
      work: (batch) => this.#work(batch),
      onFailed: ({ error }, retryInMs) => {
        journal.storeFailed({ error, operation: 'delete', taskIds: [], retryInMs })
      },
      onDropped: (removals) => {
        const error =
          this.#lastError ?? new Error('The scheduler stopped before the store answered')
        for (const removal of removals) removal.reject(error)
      },
    })
  }

  /** The deletion of that id which is under way. */
  pending(storedId: string): Promise<void> | undefined {
    return this.#pending.get(storedId)
  }

  /**
   * Begins when `ready` resolves, which is not asked for under an earlier removal of the same id;
   * resolves when there is no such row. Rejects when the row cannot be read, when the store fails
   * while the scheduler is not running, or when it is stopped before the store answered.
   */
  remove(storedId: string, ready: () => Promise<unknown>): Promise<void> {
    const earlier = this.#pending.get(storedId)
    if (earlier) return earlier
    const removal = this.#remove(storedId, ready).finally(() => this.#pending.delete(storedId))
    // Whoever does not wait for it has the log; it must not end the process.
    removal.catch(() => {})
    this.#pending.set(storedId, removal)
    return removal
  }

  /** From now on failures are retried. */
  open(): void {
    this.#retries = true
  }

  /** After `close`: deletes again, but tries each only once. */
  reopen(): void {
    this.#lane.open()
  }

  /** Resolves when all removals have ended, also those that were not ready yet. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#pending.values())
  }

  /** Gives up on what is not deleted yet, and on what is asked for until `reopen`. */
  close(): void {
    this.#retries = false
    this.#lane.close()
  }

  async #remove(storedId: string, ready: () => Promise<unknown>): Promise<void> {
    await ready()
    await new Promise<void>((resolve, reject) => {
      this.#lane.push({ storedId, resolve, reject })
    })
  }

  async #work(batch: Removal[]): Promise<Failed<Removal> | undefined> {
    const lost = new LostReplies<Removal>()
    let left = batch
    while (left.length > 0) {
      const rows = await this.#calls.get(left.map(({ storedId }) => storedId))
      const present: { removal: Removal; storedId: string; fencingToken: number }[] = []
      for (const [index, removal] of left.entries()) {
        const row = rows[index]
        const { storedId } = removal
        if (row instanceof Error) this.#failed(removal, row, lost)
        else if (row) present.push({ removal, storedId, fencingToken: row.fencingToken })
        else removal.resolve()
      }
      const answers = await this.#calls.delete(present)
      left = []
      for (const [index, { removal }] of present.entries()) {
        const answer = answers[index]
        if (answer instanceof Error) this.#failed(removal, answer, lost)
        else left.push(removal)
      }
    }
    return lost.failed
  }

  /** A failure of one row is no matter of the others, and only whoever mends it can help. */
  #failed(removal: Removal, error: Error, lost: LostReplies<Removal>): void {
    this.#lastError = error
    if (this.#retries && !isAboutOneRow(error)) {
      lost.add(removal, error)
      return
    }
    if (this.#retries) this.#journal.warn('a task cannot be deleted', error)
    removal.reject(error)
  }
}
