// One call of a handler: what it is given, and how its end is told. Whether its slot is done is
// decided elsewhere.

import type { Journal } from './journal.ts'

/** What the handler of a plain task receives. */
export interface PlainRun {
  /** The slot, not the clock. */
  readonly scheduledAt: Date
  readonly missed: boolean
  /** Aborted when the scheduler stops or, for a durable task, when the lease is lost. */
  readonly signal: AbortSignal
}

/** What the handler of a durable task receives. */
export interface ScheduledRun extends PlainRun {
  readonly taskId: string
  /** `<taskId>@<scheduledAt, ISO 8601>`: the same for every attempt at this occurrence. */
  readonly occurrenceKey: string
  /** Strictly increasing per id; the runs of one catch-up share it. Send it with every write. */
  readonly fencingToken: number
}

/** Called for every run; a promise it returns is awaited, and what it resolves to is ignored. */
export type Handler<Run> = (run: Run) => unknown

/** How a run ended: `aborted` when the handler gave up because its signal said so. */
export type RunEnd = 'done' | 'aborted'

/** A run that goes on: what its handler holds, and the means to abort it. */
export class LiveRun<Run extends PlainRun> {
  readonly run: Run
  #controller: AbortController | undefined
  #abortReason: Error | undefined

  /** `make` builds what the handler receives; `signal` is made when the handler asks for it. */
  constructor(make: (live: LiveRun<Run>) => Run) {
    this.run = make(this)
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#abortReason) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#abortReason ??= reason
    this.#controller?.abort(this.#abortReason)
  }

  /** Calls the handler, which starts before this returns. Never rejects. */
  async execute(handler: Handler<Run>, journal: Journal): Promise<RunEnd> {
    journal.runStarted(this.run)
    try {
      await handler(this.run)
    } catch (error) {
      if (this.#isOwnAbort(error)) {
        journal.runEnded(this.run, { error })
        return 'aborted'
      }
      journal.runFailed(this.run, error)
      journal.runEnded(this.run, { error })
      return 'done'
    }
    journal.runEnded(this.run, {})
    return 'done'
  }

  /** `fetch` and its like reject with the signal's reason, others with their own `AbortError`. */
  #isOwnAbort(error: unknown): boolean {
    if (!this.#abortReason) return false
    if (error === this.#abortReason) return true
    return error instanceof Error && error.name === 'AbortError'
  }
}

/** What a handler holds: made for every occurrence, so of few and like parts. */
class RunView {
  declare readonly signal: AbortSignal
  readonly #live: LiveRun<PlainRun>

  // A getter that all runs share: one of its own would cost each of them a hidden class.
  static readonly #signal: PropertyDescriptor & ThisType<RunView> = {
    enumerable: true,
    get() {
      return this.#live.signal
    },
  }

  constructor(live: LiveRun<PlainRun>) {
    this.#live = live
    // An own property, so that a handler may spread its run.
    Object.defineProperty(this, 'signal', RunView.#signal)
  }
}

class PlainRunView extends RunView implements PlainRun {
  readonly scheduledAt: Date
  readonly missed: boolean = false

  constructor(slot: number, live: LiveRun<PlainRun>) {
    super(live)
    this.scheduledAt = new Date(slot)
  }
}

/** What tells one run of a durable task from another. */
export interface RunIdentity {
  readonly taskId: string
  readonly slot: number
  readonly fencingToken: number
  readonly missed: boolean
}

class ScheduledRunView extends RunView implements ScheduledRun {
  readonly taskId: string
  readonly scheduledAt: Date
  readonly occurrenceKey: string
  readonly fencingToken: number
  readonly missed: boolean

  constructor({ taskId, slot, fencingToken, missed }: RunIdentity, live: LiveRun<ScheduledRun>) {
    super(live)
    this.taskId = taskId
    this.scheduledAt = new Date(slot)
    this.occurrenceKey = `${taskId}@${this.scheduledAt.toISOString()}`
    this.fencingToken = fencingToken
    this.missed = missed
  }
}

/** A run of a plain task. */
export function plainRun(slot: number): LiveRun<PlainRun> {
  return new LiveRun((live) => new PlainRunView(slot, live))
}

/** A run of a durable task. */
export function durableRun(identity: RunIdentity): LiveRun<ScheduledRun> {
  return new LiveRun((live) => new ScheduledRunView(identity, live))
}
