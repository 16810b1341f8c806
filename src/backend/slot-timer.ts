// Calls a registration at its slots. Slots that the process was too late to see, because it slept
// or stalled, are told as such and not one by one.

import type { Clock } from '../clock.ts'
import { type Alarm, TimerQueue } from '../scheduler/timer-queue.ts'
import type { Slots } from './cadence.ts'

/** How late a slot may be noticed and still count as due now. */
const LATE_MS_MAX = 10_000

/** How long a cadence without a slot waits before it is asked again. */
const DORMANT_MS = 86_400_000

/** What a timer needs. */
export interface SlotTimerOptions {
  readonly slots: Slots
  readonly onSlot: (slot: number) => void
  /** Slots have passed that were noticed too late. */
  readonly onMissed?: () => void
}

/** The timers of one backend. */
export class SlotTimers {
  readonly queue: TimerQueue
  readonly #timers = new Set<SlotTimer>()

  constructor(clock: Clock) {
    this.queue = new TimerQueue(clock)
    this.queue.onSetBack = () => {
      for (const timer of this.#timers) timer.clockWasSetBack()
    }
  }

  /** Calls `onSlot` for each slot that falls due from now on. */
  start(options: SlotTimerOptions): SlotTimer {
    const timer = new SlotTimer(this.queue, options, () => this.#timers.delete(timer))
    this.#timers.add(timer)
    return timer
  }
}

/** The alarm of one registration. */
export class SlotTimer implements Alarm {
  dueAt = 0
  heapIndex = -1
  readonly order: number
  readonly #queue: TimerQueue
  readonly #options: SlotTimerOptions
  readonly #onStop: () => void
  #slot: number | null = null
  #isStopped = false

  constructor(queue: TimerQueue, options: SlotTimerOptions, onStop: () => void) {
    this.#queue = queue
    this.#options = options
    this.#onStop = onStop
    this.order = queue.nextOrder()
    this.#waitAfter(queue.now())
  }

  /** The next slot; `undefined` when there is none, and once it is stopped. */
  get next(): Date | undefined {
    return this.#slot === null ? undefined : new Date(this.#slot)
  }

  stop(): void {
    this.#isStopped = true
    this.#slot = null
    this.#queue.clear(this)
    this.#onStop()
  }

  onDue(): void {
    const { slots, onSlot, onMissed } = this.#options
    const now = this.#queue.now()
    const earliest = now - LATE_MS_MAX
    if (this.#slot !== null && this.#slot < earliest) {
      this.#slot = slots.after(earliest - 1)
      onMissed?.()
    }
    while (this.#slot !== null && this.#slot <= now) {
      const slot = this.#slot
      this.#slot = slots.after(slot)
      onSlot(slot)
    }
    if (!this.#isStopped) this.#waitAfter(now)
  }

  /** Intervals are lengths of time and go on; a cron waits for its wall time. */
  clockWasSetBack(): void {
    if (this.#options.slots.isInterval) this.#waitAfter(this.#queue.now())
  }

  #waitAfter(now: number): void {
    this.#slot = this.#options.slots.after(now)
    this.#queue.set(this, this.#slot ?? now + DORMANT_MS)
  }
}
