// One registration on a bucket: its slots and triggers go to the chain, the chain's claims to the
// bucket. Beside that it finds what else there is to do: runs whose holder died, and missed slots.

import type { Timer } from '../clock.ts'
import type { Alarm } from '../scheduler/timer-queue.ts'
import type { Registration, TickRun } from './contract.ts'
import { advanceLast, readLast } from './nats-last.ts'
import { seenMarker } from './nats-marker.ts'
import type { NatsRuns } from './nats-runs.ts'
import type { CheckedSpec } from './registration-spec.ts'
import { readRunKey, runFilter } from './run-key.ts'
import type { SlotTimer, SlotTimers } from './slot-timer.ts'
import { type HeldRun, TickChain, type WaitingRun } from './tick-chain.ts'

/** What a registration needs. */
export interface NatsRegistrationOptions {
  readonly spec: CheckedSpec
  readonly timers: SlotTimers
  readonly lockTtlMs: number
  /** Opens the bucket, or answers with the open one. */
  readonly open: () => Promise<NatsRuns>
  /** The bucket failed: the next `open` opens it anew. */
  readonly forget: () => void
}

/** A run that was begun and has not ended. */
interface Unfinished {
  readonly scheduledAt: number
  readonly staleAt: number
}

/** A schedule whose runs are claimed in a bucket. */
export class NatsRegistration implements Registration {
  readonly #options: NatsRegistrationOptions
  readonly #chain: TickChain
  readonly #timer: SlotTimer
  /** Runs of other processes, and when each would be stale. */
  readonly #watched = new Map<string, Alarm>()
  #caughtUp: Promise<void> | undefined
  #searching: Promise<void> | undefined
  #search: { stop(): void } | undefined
  #searchAgain: Timer | undefined
  /** Slots may have passed that nobody ran. */
  #isBehind = false
  #isStopped = false

  constructor(options: NatsRegistrationOptions) {
    this.#options = options
    const { spec, timers } = options
    this.#chain = new TickChain({
      spec,
      clock: timers.queue,
      prepare: () => this.#catchUp(),
      claim: (run, waiting) => this.#claim(run, waiting),
    })
    this.#timer = timers.start({
      slots: spec.slots,
      onSlot: (slot) => {
        this.#resume()
        this.#chain.offer(slot)
      },
      onMissed: () => {
        this.#isBehind = true
        this.#resume()
      },
    })
    this.#catchUpSoon()
  }

  trigger(dedupKey?: string): Promise<void> {
    return this.#chain.trigger(dedupKey)
  }

  next(): Date | undefined {
    return this.#timer.next
  }

  stop(): Promise<void> {
    this.#isStopped = true
    this.#timer.stop()
    this.#search?.stop()
    this.#searchAgain?.cancel()
    for (const alarm of this.#watched.values()) this.#options.timers.queue.clear(alarm)
    this.#watched.clear()
    return this.#chain.stop()
  }

  async #claim({ key }: TickRun, waiting: WaitingRun): Promise<HeldRun | undefined> {
    const { spec, timers, lockTtlMs } = this.#options
    try {
      const runs = await this.#options.open()
      const slot = readRunKey(spec.name, key)
      const claimed = await runs.claim(key, {
        mustExist: waiting.isAbandoned ?? false,
        onCompleted: async () => {
          if (typeof slot === 'number') await advanceLast(runs.options.bucket, spec.name, slot)
        },
      })
      if (!claimed) return undefined
      if ('held' in claimed) return claimed.held
      this.#watch({ ...waiting, key }, claimed.staleAt)
      return undefined
    } catch (error) {
      // The claim may have been made, or be made late, and then nobody runs it.
      this.#watch({ ...waiting, key }, timers.queue.now() + lockTtlMs)
      this.#chain.replay(undefined)
      this.#isBehind = true
      // What is queued behind it would move `last` past it: that is read again first.
      this.#caughtUp = undefined
      this.#options.forget()
      throw error
    }
  }

  /** Once, and again when slots may have passed. */
  #catchUp(): Promise<void> {
    this.#caughtUp ??= this.#enter().catch((error) => {
      this.#caughtUp = undefined
      throw error
    })
    return this.#caughtUp
  }

  /** An error is no tick's yet: the next one tries again, and tells it. */
  #catchUpSoon(): void {
    this.#catchUp().catch(() => {})
  }

  /** Not at once after a failure: what has failed would most likely do so again. */
  #resume(): void {
    if (!this.#isBehind || this.#options.spec.catchUp === 'skip') return
    this.#isBehind = false
    this.#caughtUp = undefined
    this.#catchUpSoon()
  }

  async #enter(): Promise<void> {
    const { spec, timers, open } = this.#options
    const runs = await open()
    this.#searching ??= this.#searchUnfinished(runs)
    if (spec.catchUp === 'skip') return
    const last = await readLast(runs.options.bucket, spec.name)
    if (last !== undefined) this.#chain.replay(missedSlots(spec, last, timers.queue.now()))
  }

  /**
   * Runs that were begun and have not ended: their holders may have died long ago. Beside the
   * ticks, which do not wait, for a long history takes long to read.
   */
  async #searchUnfinished(runs: NatsRuns): Promise<void> {
    const { timers, lockTtlMs } = this.#options
    try {
      for (const [key, { scheduledAt, staleAt }] of await this.#unfinished(runs)) {
        this.#watch({ key, scheduledAt }, staleAt)
      }
    } catch {
      if (this.#isStopped) return
      // Told by the ticks, if it lasts.
      this.#searchAgain = timers.queue.setTimer(() => {
        this.#searching = this.#searchUnfinished(runs)
      }, lockTtlMs / 4)
    }
  }

  async #unfinished(runs: NatsRuns): Promise<Map<string, Unfinished>> {
    const { name } = this.#options.spec
    const unfinished = new Map<string, Unfinished>()
    const entries = await runs.options.bucket.history({ key: runFilter(name) })
    if (this.#isStopped) entries.stop()
    this.#search = entries
    for await (const entry of entries) {
      const { key } = entry
      const seen = seenMarker(entry)
      const slot = readRunKey(name, key)
      const staleAt = seen && runs.staleAt(seen)
      if (slot === undefined || staleAt === undefined) unfinished.delete(key)
      else {
        const scheduledAt = slot === 'manual' ? entry.created.getTime() : slot
        unfinished.set(key, { scheduledAt, staleAt })
      }
    }
    return unfinished
  }

  /** Looks at a run once it would be stale. */
  #watch(run: WaitingRun & { readonly key: string }, staleAt: number): void {
    if (this.#isStopped || this.#watched.has(run.key)) return
    const { queue } = this.#options.timers
    const alarm: Alarm = {
      dueAt: 0,
      heapIndex: -1,
      order: queue.nextOrder(),
      onDue: () => {
        this.#watched.delete(run.key)
        void this.#look(run)
      },
    }
    this.#watched.set(run.key, alarm)
    queue.set(alarm, staleAt)
  }

  async #look(run: WaitingRun & { readonly key: string }): Promise<void> {
    const { open, timers, lockTtlMs } = this.#options
    let staleAt: number | undefined
    try {
      const runs = await open()
      staleAt = await runs.look(run.key)
      this.#resume()
    } catch {
      // What keeps us from looking is told by the ticks that fail.
      staleAt = timers.queue.now() + lockTtlMs / 4
    }
    if (staleAt === undefined) return
    if (staleAt > timers.queue.now()) this.#watch(run, staleAt)
    else this.#chain.add({ ...run, isAbandoned: true })
  }
}

/** What `catchUp` replays of the slots between `last` and `now`. */
function missedSlots({ slots, catchUp }: CheckedSpec, last: number, now: number) {
  const first = slots.after(last)
  if (first === null || first > now) return undefined
  return catchUp === 'last' ? [slots.latest(now) ?? first] : slotsThrough(first)

  function* slotsThrough(from: number): Iterable<number> {
    for (let slot: number | null = from; slot !== null && slot <= now; slot = slots.after(slot)) {
      yield slot
    }
  }
}
