// Triggers with a key over a scheduler: a delay of no time under an id of its own, whose row says
// to all replicas and for ever that it ran. How such a run goes is for the chain of its
// registration.

import type { Clock } from '../clock.ts'
import type { Listener } from '../scheduler/events.ts'
import type { ScheduledRun } from '../scheduler/run.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { ScheduledTask } from '../scheduler/task.ts'
import { Deferred, type Outcome, outcomeOf, SUCCESS } from './outcome.ts'
import { manualKey } from './run-key.ts'
import type { TickChain } from './tick-chain.ts'

/** What is needed of a scheduler. */
export type DurableScheduler = Pick<Scheduler, 'schedule' | 'every' | 'delay' | 'on' | 'off'>

/** What the keys of a registration need. */
export interface OnceKeysOptions {
  readonly scheduler: DurableScheduler
  readonly clock: Clock
  readonly chain: TickChain
  readonly name: string
}

interface OnceKey {
  task?: ScheduledTask
  readonly ended: Deferred
  isRunning: boolean
}

/** The keys that this process was asked to run, until it is known that somebody did. */
export class OnceKeys {
  readonly #options: OnceKeysOptions
  readonly #keys = new Map<string, OnceKey>()
  readonly #onRead: Listener<'read'> = ({ taskId, nextRunAt, leaseUntil }) => {
    const key = this.#keys.get(taskId)
    if (!key || key.isRunning) return
    if (nextRunAt === null) this.#end(taskId, key, SUCCESS)
    // Somebody else's. Ours again should they die: the task stays until the run has ended.
    else if (leaseUntil && leaseUntil.getTime() > this.#options.clock.now()) key.ended.end(SUCCESS)
  }

  constructor(options: OnceKeysOptions) {
    this.#options = options
  }

  /** Resolves when the run has ended, or is another's; rejects with what its tick threw. */
  trigger(dedupKey: string): Promise<void> {
    const { scheduler, name } = this.#options
    const id = manualKey(name, dedupKey)
    const known = this.#keys.get(id)
    // Whoever asks first hears how it went; to the others it is somebody else's.
    if (known) return known.ended.promise.catch(() => {})
    const key: OnceKey = { ended: new Deferred(), isRunning: false }
    if (this.#keys.size === 0) scheduler.on('read', this.#onRead)
    this.#keys.set(id, key)
    try {
      key.task = scheduler.delay(0, { id, missed: 'run-once' }, (run: ScheduledRun) =>
        this.#run(id, key, run),
      )
    } catch (error) {
      this.#end(id, key, { ok: false, error })
    }
    return key.ended.promise
  }

  /** The registration stops: those that wait for their turn elsewhere are not waited for. */
  leave(): void {
    const error = new Error('trigger: stopped before it ran here; another replica may run it')
    for (const [id, key] of this.#keys) {
      if (!key.isRunning) this.#end(id, key, { ok: false, error })
    }
  }

  async #run(id: string, key: OnceKey, { signal, scheduledAt }: ScheduledRun): Promise<void> {
    key.isRunning = true
    const outcome = await outcomeOf(() =>
      this.#options.chain.take({ key: id, scheduledAt: scheduledAt.getTime(), signal }),
    )
    key.isRunning = false
    // It has not begun and is handed back: it may come again.
    if (!outcome.ok && signal.aborted && outcome.error === signal.reason) throw outcome.error
    this.#end(id, key, outcome)
    if (!outcome.ok) throw outcome.error
  }

  #end(id: string, { task, ended }: OnceKey, outcome: Outcome): void {
    task?.leave()
    this.#forget(id)
    ended.end(outcome)
  }

  #forget(id: string): void {
    this.#keys.delete(id)
    if (this.#keys.size === 0) this.#options.scheduler.off('read', this.#onRead)
  }
}
