// A durable task and the registration that its runs go to. The task stays with its scheduler when
// the registration stops, and takes the next one of the same name and plan.

import type { ScheduledRun } from '../scheduler/run.ts'
import type { ScheduledTask } from '../scheduler/task.ts'
import type { TickChain } from './tick-chain.ts'

/** What runs of the task go to. */
export interface Sitter {
  readonly chain: TickChain
  /** The slot that a run stands for; `undefined`: it is passed over. */
  readonly slotOf: (run: ScheduledRun) => number | undefined
}

/** Holds a task. */
export class Seat {
  /** Equal plans can share the task. */
  readonly plan: string
  #task: ScheduledTask | undefined
  #sitter: Sitter | undefined
  #waiting: (() => void)[] = []

  constructor(plan: string) {
    this.plan = plan
  }

  get isFree(): boolean {
    return this.#sitter === undefined
  }

  get nextRunAt(): Date | undefined {
    return this.#task?.nextRunAt ?? undefined
  }

  has(chain: TickChain): boolean {
    return this.#sitter?.chain === chain
  }

  take(task: ScheduledTask): void {
    this.#task = task
  }

  sit(sitter: Sitter): void {
    this.#sitter = sitter
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  leave(chain: TickChain): void {
    if (this.has(chain)) this.#sitter = undefined
  }

  /** Deletes the task's row, for one of another plan to come. */
  remove(): void {
    // A store that does not answer is the scheduler's to report.
    this.#task?.cancel().catch(() => {})
  }

  /** Handles a run of the task. */
  async run(run: ScheduledRun): Promise<void> {
    const { chain, slotOf } = await this.#sitterFor(run)
    const slot = slotOf(run)
    if (slot !== undefined) await chain.take({ scheduledAt: slot, signal: run.signal })
  }

  /** Handles a run with a key of its own. */
  async runKey(key: string, run: ScheduledRun): Promise<void> {
    const { chain } = await this.#sitterFor(run)
    await chain.take({ key, scheduledAt: run.scheduledAt.getTime(), signal: run.signal })
  }

  /** Rejects with the signal's reason, upon which the scheduler hands the run back. */
  async #sitterFor({ signal }: ScheduledRun): Promise<Sitter> {
    for (;;) {
      if (this.#sitter) return this.#sitter
      if (signal.aborted) throw signal.reason
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }
}
