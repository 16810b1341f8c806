// Moves durable tasks from stage to stage: a task waits for its alarm, or is in one lane, or is
// claimed. Every other part says what it found out about a task and lets this decide what follows.

import type { DurableTask } from './durable-task.ts'
import type { Journal } from './journal.ts'
import { LeaderWatch } from './leader-watch.ts'
import type { TimerQueue } from './timer-queue.ts'

/** How long a row that is not ours to run, or that cannot be read, is left alone. */
export const ASIDE_MS = 30_000

/** How long a cron without a run waits before it is planned again. */
const DORMANT_MS = 86_400_000

/** What the stages need. */
export interface StagesOptions {
  readonly timers: TimerQueue
  readonly journal: Journal
  readonly tickMs: number
  /** `undefined`: there is no leader, all claim on time. */
  readonly leader: { isLeader(): boolean; readonly ttlMs: number } | undefined
  /** Where the tasks go whose stage is `registering`, `reading` or `claiming`. */
  readonly register: (task: DurableTask) => void
  readonly read: (task: DurableTask) => void
  readonly claim: (task: DurableTask) => void
}

/** The stages of all tasks of one scheduler. */
export class Stages {
  /** Whether tasks move at all. */
  isRunning = false
  readonly #options: StagesOptions
  readonly #timers: TimerQueue
  readonly #leader: LeaderWatch<DurableTask>

  constructor(options: StagesOptions) {
    const { leader, timers, tickMs, journal } = options
    this.#options = options
    this.#timers = timers
    const onElected = (task: DurableTask) => this.approach(task)
    const onError = (error: unknown) =>
      journal.warn('the coordinator failed to say who leads', error)
    this.#leader = new LeaderWatch({ leader, timers, tickMs, onElected, onError })
  }

  /** The task's alarm went off. */
  onDue(task: DurableTask): void {
    if (task.stage !== 'waiting') return
    const isLeaders = this.#leader.mustWait(task, this.#timers.now())
    if (task.wakeTo === 'register') this.register(task)
    else if (task.wakeTo === 'claim' && (isLeaders || this.#leader.mayClaimOnTime())) {
      this.approach(task)
    } else {
      // Also when there is a leader, who has most likely run this slot: look before claiming.
      this.read(task)
    }
  }

  register(task: DurableTask): void {
    task.stage = 'registering'
    this.#options.register(task)
  }

  read(task: DurableTask): void {
    this.#leader.delete(task)
    task.stage = 'reading'
    this.#options.read(task)
  }

  wait(task: DurableTask, wakeTo: DurableTask['wakeTo'], instant: number): void {
    task.stage = 'waiting'
    task.wakeTo = wakeTo
    this.#timers.set(task, instant)
  }

  /** Another look at the row, a tick from now. */
  waitATick(task: DurableTask): void {
    this.wait(task, 'read', this.#timers.now() + this.#options.tickMs)
  }

  /** The slot is due as far as is known: claims it, or leaves it to the leader for a while. */
  approach(task: DurableTask): void {
    if (this.#leader.mustWait(task, this.#timers.now())) {
      this.wait(task, 'read', this.#leader.overdueAt(task))
      this.#leader.add(task)
      return
    }
    this.#timers.clear(task)
    task.stage = 'claiming'
    this.#options.claim(task)
  }

  /** What is known of the row says how the task goes on. */
  goOn(task: DurableTask): void {
    if (!this.isRunning) task.stage = 'idle'
    else if (task.nextRunAt === null) this.rest(task)
    else if (task.nextRunAt > this.#timers.now()) this.wait(task, 'claim', task.nextRunAt)
    else this.approach(task)
  }

  /** There is no slot: a delay is done, a cron is dormant. */
  rest(task: DurableTask): void {
    task.stage = 'idle'
    if (task.plan.kind !== 'cron') return
    const isNews = !task.isDormant
    task.isDormant = true
    this.wait(task, 'read', this.#timers.now() + DORMANT_MS)
    // Last, for a listener may end the task.
    if (isNews) this.#options.journal.dormant(task.id, task.plan.spec)
  }

  /** Nothing can be done about the task now, and nothing is urgent. */
  setAside(task: DurableTask): void {
    if (task.hasEnded || !this.isRunning) return
    this.wait(task, 'read', this.#timers.now() + ASIDE_MS)
  }

  /** The task is cancelled, its row is gone, or it is left to others. */
  close(task: DurableTask, stage: 'closed' | 'left'): void {
    task.stage = stage
    task.nextRunAt = null
    this.#timers.clear(task)
    this.#leader.delete(task)
  }

  /** Takes the tasks out of everything but their claims. */
  halt(tasks: Iterable<DurableTask>): void {
    this.isRunning = false
    this.#leader.clear()
    for (const task of tasks) {
      this.#timers.clear(task)
      if (task.stage !== 'claimed') task.stage = 'idle'
    }
  }
}
