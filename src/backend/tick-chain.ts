// The plumbing that all backends share: one run of a registration after the other in this process,
// what becomes of those that fall due meanwhile, who hears of failures, and how it ends. When runs
// are due, and whether they are this process's to do, is for the backend.

import type { Clock } from '../clock.ts'
import { consoleLogger, errorText, guardedLogger, quoted } from '../scheduler/logger.ts'
import type { TickRun } from './contract.ts'
import { Deferred, type Outcome, outcomeOf, SUCCESS } from './outcome.ts'
import { type CheckedSpec, checkText } from './registration-spec.ts'
import { manualKey, slotKey } from './run-key.ts'

/** A run that this process holds. */
export interface HeldRun {
  /** Called once, when the tick has ended; rejects when that could not be recorded. */
  settle(outcome: Outcome): Promise<void>
}

/** A run that waits for its turn. */
export interface WaitingRun {
  readonly scheduledAt: number
  /** `undefined`: the slot makes the key. */
  readonly key?: string
  /** Another process began it and died; nothing else makes it due here. */
  readonly isAbandoned?: boolean
  /** Once aborted, the run does not begin any more. */
  readonly signal?: AbortSignal
}

/** What a backend adds to the chain. */
export interface TickChainOptions {
  readonly spec: CheckedSpec
  readonly clock: Clock
  /** Awaited before each run is chosen; when it rejects, so does that run. */
  readonly prepare?: () => Promise<void>
  /** Resolves to `undefined` when the run is not this process's to do. Without it, all are. */
  readonly claim?: (run: TickRun, waiting: WaitingRun) => Promise<HeldRun | undefined>
  /** Does a trigger with a key in place of the chain, which may be handed it back by `take`. */
  readonly triggerOnce?: (dedupKey: string) => Promise<void>
}

interface Entry extends WaitingRun {
  /** Somebody waits for its end. */
  readonly ended?: Deferred
  /** It was triggered, with or without a key. */
  readonly trigger?: { readonly dedupKey: string | undefined }
}

/** The runs of one registration in this process. */
export class TickChain {
  readonly #options: TickChainOptions
  readonly #spec: CheckedSpec
  readonly #queue: Entry[] = []
  /** Slots to replay, taken one by one, before all that is queued. */
  #replay: Iterator<number> | undefined
  #isBusy = false
  #claiming: Entry | undefined
  #running: Deferred | undefined
  /** When the latest tick ran: a slot in between fell due while it did. */
  #ranFrom = Infinity
  #ranUntil = Infinity
  #stopped: Deferred | undefined

  constructor(options: TickChainOptions) {
    this.#options = options
    this.#spec = options.spec
  }

  /** A slot has fallen due, just now or a while ago. */
  offer(slot: number): void {
    if (!this.#isOverlap(slot)) this.add({ scheduledAt: slot })
  }

  /** Puts a run last, whatever the policy for overlaps. */
  add(run: WaitingRun): void {
    if (this.#stopped) return
    this.#push(run)
  }

  /**
   * As `offer`, or as `add` for a run with a key. Resolves when the run has ended or was dropped;
   * rejects with what the tick threw, or with the signal's reason when it came first.
   */
  take(run: WaitingRun): Promise<void> {
    const ended = new Deferred()
    if (run.key === undefined && this.#isOverlap(run.scheduledAt)) ended.end(SUCCESS)
    else this.#push({ ...run, ended })
    return ended.promise
  }

  /** Replays slots in their order, before what is queued; `undefined` ends a replay. */
  replay(slots: Iterable<number> | undefined): void {
    if (this.#stopped) return
    this.#replay = slots?.[Symbol.iterator]()
    this.#advance()
  }

  /** See `Registration.trigger`. */
  trigger(dedupKey: string | undefined): Promise<void> {
    const ended = new Deferred()
    const refusal = this.#refusal(dedupKey)
    if (refusal) {
      ended.end({ ok: false, error: refusal })
      return ended.promise
    }
    const joined = this.#spec.overlap === 'skip' ? this.#joinable(dedupKey) : undefined
    if (joined) return joined.promise
    const { clock, triggerOnce } = this.#options
    if (triggerOnce && dedupKey !== undefined) return triggerOnce(dedupKey)
    const key = manualKey(this.#spec.name, dedupKey ?? crypto.randomUUID())
    this.#push({ scheduledAt: clock.now(), key, ended, trigger: { dedupKey } })
    return ended.promise
  }

  /** Nothing is added from now on; resolves when all that runs or is queued has ended. */
  stop(): Promise<void> {
    this.#replay = undefined
    this.#stopped ??= new Deferred()
    if (!this.#isBusy) this.#stopped.end(SUCCESS)
    return this.#stopped.promise
  }

  #refusal(dedupKey: string | undefined): Error | undefined {
    const name = quoted(this.#spec.name)
    if (this.#stopped) return new Error(`trigger: ${name} was stopped; register it again`)
    try {
      if (dedupKey !== undefined) checkText('dedupKey', dedupKey)
    } catch (error) {
      return error as TypeError
    }
    return undefined
  }

  /** The tick that runs, or a trigger that waits to do just what another one would. */
  #joinable(dedupKey: string | undefined): Deferred | undefined {
    if (this.#running) return this.#running
    const waiting = this.#claiming ? [this.#claiming, ...this.#queue] : this.#queue
    return waiting.find(({ trigger }) => trigger && trigger.dedupKey === dedupKey)?.ended
  }

  #isOverlap(slot: number): boolean {
    return this.#spec.overlap === 'skip' && slot >= this.#ranFrom && slot < this.#ranUntil
  }

  #push(entry: Entry): void {
    this.#queue.push(entry)
    this.#advance()
  }

  /** Begins the next run: at once, when there is nothing to wait for. */
  #advance(): void {
    if (this.#isBusy || (!this.#replay && this.#queue.length === 0)) return
    this.#isBusy = true
    void this.#step().then(() => {
      this.#isBusy = false
      this.#advance()
      if (!this.#isBusy) this.#stopped?.end(SUCCESS)
    })
  }

  async #step(): Promise<void> {
    const { prepare } = this.#options
    const ready = prepare ? await outcomeOf(prepare) : SUCCESS
    const entry = this.#next()
    if (!entry) return
    if (entry.signal?.aborted) {
      entry.ended?.end({ ok: false, error: entry.signal.reason })
      return
    }
    const run = this.#runOf(entry)
    if (!ready.ok) {
      this.#unclaimable(entry, run, ready.error)
      return
    }
    const { claim } = this.#options
    let held: HeldRun | undefined
    if (claim) {
      this.#claiming = entry
      const claimed = await outcomeOf(async () => {
        held = await claim(run, entry)
      })
      this.#claiming = undefined
      if (!claimed.ok) {
        this.#unclaimable(entry, run, claimed.error)
        return
      }
      if (!held) {
        entry.ended?.end(SUCCESS)
        return
      }
    }
    this.#running = entry.ended ?? new Deferred()
    this.#end(this.#running, run, await this.#perform(run, held))
  }

  #next(): Entry | undefined {
    const slot = this.#replay?.next()
    if (slot && !slot.done) return { scheduledAt: slot.value }
    this.#replay = undefined
    return this.#queue.shift()
  }

  #runOf({ scheduledAt, key }: Entry): TickRun {
    return {
      key: key ?? slotKey(this.#spec.name, scheduledAt),
      scheduledAt: new Date(scheduledAt),
    }
  }

  async #perform(run: TickRun, held: HeldRun | undefined): Promise<Outcome> {
    this.#ranFrom = this.#options.clock.now()
    this.#ranUntil = Infinity
    const outcome = await outcomeOf(() => this.#spec.tick(run))
    this.#ranUntil = this.#options.clock.now()
    const settled = await outcomeOf(async () => held?.settle(outcome))
    // Of a tick that failed, its own error is what counts.
    return outcome.ok ? settled : outcome
  }

  #end(ended: Deferred | undefined, run: TickRun, outcome: Outcome): void {
    this.#running = undefined
    if (!outcome.ok) this.#report(outcome.error, run)
    ended?.end(outcome)
  }

  /**
   * The run could not be claimed. What fell due in the meantime fails with it when it would else
   * pile up: a slow refusal takes longer than the next slot.
   */
  #unclaimable(entry: Entry, run: TickRun, error: unknown): void {
    const outcome = { ok: false, error } as const
    const isPile = this.#spec.overlap === 'skip' || this.#stopped !== undefined
    const waiting = isPile ? this.#queue.splice(0) : []
    this.#end(entry.ended, run, outcome)
    for (const other of waiting) this.#end(other.ended, this.#runOf(other), outcome)
  }

  #report(error: unknown, run: TickRun): void {
    const { onError, name } = this.#spec
    if (!onError) return
    const told = outcomeOf(async () => onError(error, run))
    void told.then((outcome) => {
      if (outcome.ok) return
      const text = `onError of ${quoted(name)} failed: ${errorText(outcome.error)}`
      guardedLogger(consoleLogger).error(text)
    })
  }
}
