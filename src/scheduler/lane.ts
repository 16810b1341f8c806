// One kind of request to the store: items gather while a batch is on its way, the next batch takes
// them all, and what failed waits with back-off and is tried again. One batch at a time, so a burst
// costs round trips per thousand items and a slow store is not flooded; but one that stays without
// an answer holds up the next only for a while, and items whose own rows are locked hold up nobody.

import { Backoff } from '../backoff.ts'
import type { Timer } from '../clock.ts'
import type { DurableTask } from './durable-task.ts'
import type { StoreErrorEvent } from './events.ts'
import type { Journal } from './journal.ts'
import { BATCH_MAX, isLocked } from './store-calls.ts'
import type { TimerQueue } from './timer-queue.ts'

/** A batch that takes longer no longer holds up the next one. */
const PATIENCE_MS = 500

/** What could not be done and why; those items are tried again. */
export interface Failed<Item> {
  readonly items: readonly Item[]
  readonly error: Error
  /** Another lane has taken the items over; this one only waits. */
  readonly isMoved?: boolean
  /** The store is well, only the rows of these items are locked: others need not wait. */
  readonly isLocked?: boolean
}

/** What a lane needs. */
export interface LaneOptions<Item> {
  readonly timers: TimerQueue
  /** The first wait after a failure; later ones are longer, up to ten times that. */
  readonly retryMs: number
  /** Does a batch. A rejection counts as a failure of all of it. */
  readonly work: (batch: Item[]) => Promise<Failed<Item> | undefined>
  /** Awaited before each batch: something else should go first. */
  readonly hold?: () => Promise<void>
  /** Told of each failure that is followed by another try. */
  readonly onFailed: (failed: Failed<Item>, retryInMs: number) => void
  /** Told of what is tried no more, because the lane was closed. */
  readonly onDropped?: (items: readonly Item[]) => void
}

/** A queue of requests and the loop that sends them. */
export class Lane<Item> {
  readonly #options: LaneOptions<Item>
  readonly #backoff: Backoff
  #items: Item[] = []
  /** Batches without an answer. */
  #sent = 0
  #isWorking = false
  #isOpen = true
  #pause: Timer | undefined
  /** Items whose rows are locked, by the timer that brings them back. */
  readonly #aside = new Map<Timer, readonly Item[]>()
  #whenIdle: (() => void)[] = []

  constructor(options: LaneOptions<Item>) {
    this.#options = options
    this.#backoff = new Backoff({ baseMs: options.retryMs, maxMs: 10 * options.retryMs })
  }

  /** Sends it soon; a closed lane drops it. */
  push(item: Item): void {
    if (!this.#isOpen) {
      this.#drop([item])
      return
    }
    this.#items.push(item)
    this.#start()
  }

  /** Resolves when nothing waits and nothing is on its way; at once when that is so now. */
  async idle(): Promise<void> {
    if (this.#isIdle) return
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  /** Drops what waits, and what fails or is pushed from now on, and sends nothing more. */
  close(): void {
    this.#isOpen = false
    const dropped = [...this.#items, ...[...this.#aside.values()].flat()]
    this.#items = []
    for (const timer of this.#aside.keys()) timer.cancel()
    this.#aside.clear()
    this.#endPause()
    this.#drop(dropped)
    this.#tellIdle()
  }

  /** Sends again after `close`. */
  open(): void {
    this.#isOpen = true
    this.#backoff.succeed()
  }

  get #isIdle(): boolean {
    const isWaiting = this.#items.length > 0 || this.#aside.size > 0
    return !isWaiting && !this.#isWorking && this.#sent === 0
  }

  #start(): void {
    if (this.#isWorking || this.#pause || !this.#isOpen) return
    this.#isWorking = true
    // What is pushed in this same turn goes along.
    queueMicrotask(() => void this.#loop())
  }

  async #loop(): Promise<void> {
    while (this.#items.length > 0 && !this.#pause) {
      await this.#options.hold?.()
      const batch = this.#items.splice(0, BATCH_MAX)
      if (batch.length === 0) break
      await this.#options.timers.within(PATIENCE_MS, this.#send(batch))
      await this.#options.timers.pace(batch.length)
    }
    this.#isWorking = false
    this.#tellIdle()
  }

  async #send(batch: Item[]): Promise<void> {
    this.#sent++
    const failed = await this.#try(batch)
    this.#sent--
    if (failed) this.#fail(failed)
    else this.#backoff.succeed()
    this.#tellIdle()
  }

  async #try(batch: Item[]): Promise<Failed<Item> | undefined> {
    try {
      return await this.#options.work(batch)
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      return { items: batch, error }
    }
  }

  #fail(failed: Failed<Item>): void {
    const { timers, retryMs, onFailed } = this.#options
    const retryInMs = failed.isLocked ? retryMs : this.#backoff.fail()
    if (this.#isOpen) onFailed(failed, Math.round(retryInMs))
    // Closed before, or by a listener just now.
    if (!this.#isOpen) {
      if (!failed.isMoved) this.#drop(failed.items)
      return
    }
    if (failed.isLocked) {
      if (!failed.isMoved) this.#setAside(failed.items, retryInMs)
      return
    }
    if (!failed.isMoved) this.#items = [...failed.items, ...this.#items]
    this.#endPause()
    this.#pause = timers.setTimer(() => {
      this.#pause = undefined
      this.#start()
    }, retryInMs)
  }

  #setAside(items: readonly Item[], ms: number): void {
    const timer = this.#options.timers.setTimer(() => {
      this.#aside.delete(timer)
      this.#items.push(...items)
      this.#start()
    }, ms)
    this.#aside.set(timer, items)
  }

  #drop(items: readonly Item[]): void {
    if (items.length > 0) this.#options.onDropped?.(items)
  }

  #endPause(): void {
    this.#pause?.cancel()
    this.#pause = undefined
  }

  #tellIdle(): void {
    if (!this.#isIdle) return
    const waiting = this.#whenIdle
    this.#whenIdle = []
    for (const resolve of waiting) resolve()
  }
}

/** Gathers the items of a batch that have to be sent again. */
export class LostReplies<Item> {
  readonly #items: Item[] = []
  readonly #errors: Error[] = []

  add(item: Item, error: Error): void {
    this.#items.push(item)
    this.#errors.push(error)
  }

  get failed(): Failed<Item> | undefined {
    const error = this.#errors.find((each) => !isLocked(each)) ?? this.#errors[0]
    return error && { items: this.#items, error, isLocked: isLocked(error) }
  }
}

/** A lane of durable tasks; its failures are told with the names of the tasks. */
export function taskLane(
  operation: StoreErrorEvent['operation'],
  options: { readonly timers: TimerQueue; readonly tickMs: number; readonly journal: Journal },
  work: LaneOptions<DurableTask>['work'],
): Lane<DurableTask> {
  const { timers, tickMs, journal } = options
  return new Lane({
    timers,
    retryMs: tickMs,
    work,
    onFailed: ({ items, error }, retryInMs) => {
      const taskIds = items.map(({ id }) => id)
      journal.storeFailed({ error, operation, taskIds, retryInMs })
    },
  })
}
