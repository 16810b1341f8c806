// Plain tasks: they live in memory, start when they are registered, and wait on the shared timer.
// A slot is run when it falls due. When several have passed unseen, because the machine slept, the
// process stalled or the clock was set forward, only the latest of them runs.

import type { Journal } from './journal.ts'
import type { Plan, SlotCount } from './plan.ts'
import { type Handler, type LiveRun, type PlainRun, plainRun } from './run.ts'
import type { Alarm, TimerQueue } from './timer-queue.ts'

/** What happens to a slot that falls due while the task's handler is running. */
export type OverlapPolicy = 'skip' | 'queue' | 'allow'

/** Slots that wait under `queue`; further ones are skipped, so that memory stays bounded. */
const QUEUED_MAX = 1000

/** How long a cron without a run waits before it is planned again. */
const DORMANT_MS = 86_400_000

/** A plain task: an alarm for its next slot, and its runs. */
export class PlainTask implements Alarm {
  dueAt = 0
  heapIndex = -1
  readonly order: number
  readonly plan: Plan
  readonly overlap: OverlapPolicy
  readonly handler: Handler<PlainRun>
  readonly loop: PlainLoop
  /** The next slot; `null` when there is none. */
  slot: number | null
  isDormant = false
  running = 0
  /** Slots that wait for the running handler; made when first needed. */
  queued: number[] | undefined

  constructor(loop: PlainLoop, plan: Plan, overlap: OverlapPolicy, handler: Handler<PlainRun>) {
    this.loop = loop
    this.plan = plan
    this.overlap = overlap
    this.handler = handler
    this.order = loop.timers.nextOrder()
    this.slot = plan.first(loop.timers.now())
  }

  onDue(): void {
    this.loop.onDue(this)
  }
}

/** Runs plain tasks. */
export class PlainLoop {
  readonly timers: TimerQueue
  readonly #journal: Journal
  readonly #tasks = new Set<PlainTask>()
  readonly #live = new Set<LiveRun<PlainRun>>()
  #isHalted = false
  #whenIdle: (() => void) | undefined

  constructor(timers: TimerQueue, journal: Journal) {
    this.timers = timers
    this.#journal = journal
    this.timers.onSetBack = (ms) => this.#setBack(ms)
  }

  add(plan: Plan, overlap: OverlapPolicy, handler: Handler<PlainRun>): PlainTask {
    const task = new PlainTask(this, plan, overlap, handler)
    this.#tasks.add(task)
    if (!this.#isHalted) this.#wait(task)
    return task
  }

  cancel(task: PlainTask): void {
    task.slot = null
    task.queued = undefined
    this.#remove(task)
  }

  /** Starts nothing more and aborts what runs. */
  halt(reason: Error): void {
    this.#isHalted = true
    for (const task of this.#tasks) {
      this.timers.clear(task)
      task.queued = undefined
    }
    for (const live of this.#live) live.abort(reason)
  }

  /** Goes on after `halt`: repeated tasks with their next slot, delays with their own. */
  resume(): void {
    if (!this.#isHalted) return
    this.#isHalted = false
    const now = this.timers.now()
    for (const task of this.#tasks) {
      if (task.slot !== null && task.slot <= now && task.plan.kind !== 'delay') {
        task.slot = task.plan.after(now, task.slot)
      }
      this.#wait(task)
      if (this.#isHalted) return
    }
  }

  /** Resolves when no handler is running. */
  async idle(): Promise<void> {
    if (this.#live.size === 0) return
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve
    })
  }

  /** The task's alarm went off: its slot is due, or a dormant task is to be planned again. */
  onDue(task: PlainTask): void {
    const now = this.timers.now()
    if (task.slot === null) {
      task.slot = task.plan.first(now)
      this.#wait(task)
      return
    }
    const from = task.slot
    const slot = task.plan.latest(now, from)
    task.slot = task.plan.after(now, from)
    // Whoever is told of it, or the handler, may end the task.
    if (slot > from) this.#skipped(from, task.plan.count(from, slot), 'missed')
    if (this.#goesOn(task)) this.#take(task, slot)
    if (this.#goesOn(task)) this.#wait(task)
  }

  #goesOn(task: PlainTask): boolean {
    return !this.#isHalted && this.#tasks.has(task)
  }

  /** Intervals and delays are lengths of time and go on as before; cron waits for its wall time. */
  #setBack(ms: number): void {
    for (const task of this.#tasks) {
      if (task.slot === null || task.plan.kind === 'cron') continue
      task.slot -= ms
      if (!this.#isHalted) this.timers.set(task, task.slot)
    }
  }

  #wait(task: PlainTask): void {
    if (task.slot !== null) {
      task.isDormant = false
      this.timers.set(task, task.slot)
    } else if (task.plan.kind === 'cron') {
      const isNews = !task.isDormant
      task.isDormant = true
      this.timers.set(task, this.timers.now() + DORMANT_MS)
      // Last, for a listener may end the task.
      if (isNews) this.#journal.dormant(undefined, task.plan.spec)
    } else {
      this.#remove(task)
    }
  }

  #take(task: PlainTask, slot: number): void {
    if (task.running === 0 || task.overlap === 'allow') {
      void this.#run(task, slot)
    } else if (task.overlap === 'queue' && (task.queued?.length ?? 0) < QUEUED_MAX) {
      task.queued ??= []
      task.queued.push(slot)
    } else {
      this.#skipped(slot, { count: 1 }, 'running')
    }
  }

  async #run(task: PlainTask, slot: number): Promise<void> {
    const live = plainRun(slot)
    this.#live.add(live)
    task.running++
    await live.execute(task.handler, this.#journal)
    task.running--
    this.#live.delete(live)
    const next = this.#isHalted ? undefined : task.queued?.shift()
    if (next !== undefined) void this.#run(task, next)
    if (this.#live.size === 0) this.#whenIdle?.()
  }

  #skipped(slot: number, count: SlotCount, reason: 'missed' | 'running'): void {
    this.#journal.skipped({ taskId: undefined, from: new Date(slot), ...count, reason })
  }

  #remove(task: PlainTask): void {
    this.timers.clear(task)
    this.#tasks.delete(task)
  }
}
