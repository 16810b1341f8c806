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

/** A run of a plain task. */
export function plainRun(slot: number): LiveRun<PlainRun> {
  return new LiveRun((live) => ({
    scheduledAt: new Date(slot),
    missed: false,
    get signal() {
      return live.signal
    },
  }))
}

/** What tells one run of a durable task from another. */
export interface RunIdentity {
  readonly taskId: string
  readonly slot: number
  readonly fencingToken: number
  readonly missed: boolean
}

/** A run of a durable task. */
export function durableRun(identity: RunIdentity): LiveRun<ScheduledRun> {
  const { taskId, slot, fencingToken, missed } = identity
  const scheduledAt = new Date(slot)
  return new LiveRun((live) => ({
    taskId,
    scheduledAt,
    occurrenceKey: `${taskId}@${scheduledAt.toISOString()}`,
    fencingToken,
    missed,
    get signal() {
      return live.signal
    },
  }))
}
