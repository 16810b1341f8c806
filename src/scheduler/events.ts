// What a scheduler tells: the table of its events, and the emitter. A listener that throws is
// reported and disturbs neither the engine nor the other listeners; an `error` that nobody listens
// to does nothing.

import type { LossReason } from '../lease/lease-keeper.ts'
import type { PlainRun, ScheduledRun } from './run.ts'

/** The run of a durable or of a plain task. */
export type AnyRun = ScheduledRun | PlainRun

/** Names a task: its id, `undefined` for a plain one. */
export interface TaskEvent {
  readonly taskId: string | undefined
}

/** Names the claim of a durable task. */
export interface ClaimEvent {
  readonly taskId: string
  /** The slot that was claimed. */
  readonly scheduledAt: Date
  readonly fencingToken: number
}

/** Slots that will not run. */
export interface SkippedEvent extends TaskEvent {
  /** The first slot of them. */
  readonly from: Date
  readonly count: number
  /** So many at least: of a cron, no more than a million or a century is counted. */
  readonly isLeast?: true
  /** The policy dropped missed slots, or an earlier run was still going on. */
  readonly reason: 'missed' | 'running'
}

/** A request to the store that failed and is tried again. */
export interface StoreErrorEvent {
  readonly error: unknown
  readonly operation:
    | 'start'
    | 'register'
    | 'read'
    | 'claim'
    | 'renew'
    | 'commit'
    | 'hand back'
    | 'delete'
  readonly taskIds: readonly string[]
  /** Until the next try. */
  readonly retryInMs: number
}

/** Each event's name and its listeners' parameters. */
export interface SchedulerEvents {
  /** A handler threw or rejected. Its slot is done all the same. */
  error: [error: unknown, run: AnyRun]
  'run-start': [run: AnyRun]
  /** A handler is done; `error` is what it threw, if it did. */
  'run-end': [run: AnyRun, result: { readonly error?: unknown }]
  /** A claim was committed: its slots are done. */
  commit: [event: ClaimEvent & { readonly nextRunAt: Date | null }]
  /** The store refused a commit: another replica has taken the slot over, or the task is gone. */
  'commit-rejected': [event: ClaimEvent]
  /**
   * Whether a commit was made cannot be known: its reply was lost and the row has moved on, or it
   * was given up at the end of `stop()`. Where it was not made, the slot runs again as itself.
   */
  'commit-unknown': [event: ClaimEvent]
  skipped: [event: SkippedEvent]
  /** A run's lease was lost or can no longer be relied on; its signal is aborted. */
  'lease-lost': [event: ClaimEvent & { readonly reason: LossReason }]
  /** A slot was given back, to be run by another replica as itself. */
  'hand-back': [event: ClaimEvent]
  /** A claim's reply was lost, and the row shows that it was won. */
  'claim-adopted': [event: ClaimEvent]
  /** The task is stored; `nextRunAt` is what the store says. */
  registered: [event: { readonly taskId: string; readonly nextRunAt: Date | null }]
  /** A row was looked at: its slot, and until when somebody has a lease of it. */
  read: [
    event: {
      readonly taskId: string
      readonly nextRunAt: Date | null
      readonly leaseUntil: Date | undefined
    },
  ]
  /** A cron task has no run inside the horizon. It is planned again daily. */
  dormant: [event: TaskEvent]
  /** The stored plan is another one than this replica's: it waits until they agree again. */
  superseded: [event: { readonly taskId: string; readonly kind: string; readonly spec: string }]
  /** The row was deleted elsewhere: this scheduler forgets the task. */
  removed: [event: { readonly taskId: string }]
  /** Stored ids that no code registered. */
  orphans: [event: { readonly taskIds: readonly string[] }]
  'store-error': [event: StoreErrorEvent]
}

/** A listener of one event. */
export type Listener<Name extends keyof SchedulerEvents> = (...args: SchedulerEvents[Name]) => void

/** Calls listeners in the order in which they were added. */
export class Events {
  readonly #listeners = new Map<keyof SchedulerEvents, ReadonlySet<Listener<never>>>()
  readonly #onError: (error: unknown) => void

  /** `onError` hears of what listeners throw. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  on<Name extends keyof SchedulerEvents>(name: Name, listener: Listener<Name>): void {
    this.#listeners.set(name, new Set([...(this.#listeners.get(name) ?? []), listener]))
  }

  off<Name extends keyof SchedulerEvents>(name: Name, listener: Listener<Name>): void {
    const left = [...(this.#listeners.get(name) ?? [])].filter((other) => other !== listener)
    if (left.length > 0) this.#listeners.set(name, new Set(left))
    else this.#listeners.delete(name)
  }

  /** Whether it is worth the while to put an event together. */
  has(name: keyof SchedulerEvents): boolean {
    return this.#listeners.has(name)
  }

  emit<Name extends keyof SchedulerEvents>(name: Name, ...args: SchedulerEvents[Name]): void {
    const listeners = this.#listeners.get(name) as ReadonlySet<Listener<Name>> | undefined
    if (!listeners) return
    for (const listener of listeners) {
      try {
        // An async listener's rejection must not become an unhandled one.
        const result: unknown = listener(...args)
        if (result instanceof Promise) result.catch(this.#onError)
      } catch (error) {
        this.#onError(error)
      }
    }
  }
}
