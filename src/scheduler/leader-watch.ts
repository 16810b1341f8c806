// What a replica that is not the leader leaves alone: due slots, until they are overdue. Should it
// become the leader meanwhile, it takes them at once. Without leadership nothing waits.

import type { Timer } from '../clock.ts'
import type { TimerQueue } from './timer-queue.ts'

/** What waits: something with a slot. */
interface Slotted {
  readonly nextRunAt: number | null
}

/** What the watch needs. */
export interface LeaderWatchOptions<Task> {
  /** `undefined`: there is no leader, all claim on time. */
  readonly leader: { isLeader(): boolean; readonly ttlMs: number } | undefined
  readonly timers: TimerQueue
  readonly tickMs: number
  /** Told when the question who leads has failed, once in a row. */
  readonly onError: (error: unknown) => void
  /** This replica has become the leader while the task waited. */
  readonly onElected: (task: Task) => void
}

/** The due tasks that are left to the leader. */
export class LeaderWatch<Task extends Slotted> {
  readonly #options: LeaderWatchOptions<Task>
  readonly #waiting = new Set<Task>()
  #timer: Timer | undefined
  #hasFailed = false

  constructor(options: LeaderWatchOptions<Task>) {
    this.#options = options
  }

  /** Whether slots may be claimed as soon as they are due. */
  mayClaimOnTime(): boolean {
    const { leader, onError } = this.#options
    if (!leader) return true
    try {
      const isLeader = leader.isLeader()
      this.#hasFailed = false
      return isLeader
    } catch (error) {
      if (!this.#hasFailed) onError(error)
      this.#hasFailed = true
      return false
    }
  }

  /** Whether the task's due slot is the leader's at `now`. */
  mustWait(task: Task, now: number): boolean {
    return !this.mayClaimOnTime() && now < this.overdueAt(task)
  }

  /** From when on any replica may claim the task's slot. */
  overdueAt(task: Task): number {
    return (task.nextRunAt ?? 0) + (this.#options.leader?.ttlMs ?? 0)
  }

  add(task: Task): void {
    this.#waiting.add(task)
    this.#arm()
  }

  delete(task: Task): void {
    this.#waiting.delete(task)
  }

  clear(): void {
    this.#waiting.clear()
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    if (this.#timer || this.#waiting.size === 0) return
    this.#timer = this.#options.timers.setTimer(() => {
      this.#timer = undefined
      if (this.mayClaimOnTime()) this.#elected()
      this.#arm()
    }, this.#options.tickMs)
  }

  #elected(): void {
    const tasks = [...this.#waiting]
    this.#waiting.clear()
    for (const task of tasks) this.#options.onElected(task)
  }
}
