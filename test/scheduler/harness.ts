// Schedulers on virtual time, and a record of what their handlers did.

import { expect } from 'vitest'
import type { ScheduledRun, SchedulerOptions } from '../../src/index.ts'
import { MemoryScheduleStore, Scheduler } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

/** One call of a handler. */
export interface RecordedRun {
  readonly taskId: string
  /** ISO 8601, to be read in failures. */
  readonly slot: string
  readonly missed: boolean
  readonly token: number
  readonly replica: string
  readonly startedAt: number
  endedAt: number | undefined
  readonly signal: AbortSignal
}

/** One clock, one store, and as many replicas as a test asks for. */
export class World {
  readonly clock: VirtualClock
  readonly store: MemoryScheduleStore
  readonly runs: RecordedRun[] = []
  readonly lines: string[] = []
  readonly schedulers: Scheduler[] = []
  #replicas = 0

  constructor(start: string | number = '2026-03-02T10:00:00Z') {
    this.clock = new VirtualClock(start)
    this.store = new MemoryScheduleStore()
  }

  /** A scheduler that is not started. */
  replica(options: SchedulerOptions = {}): Scheduler {
    const write = (line: string) => void this.lines.push(line)
    const scheduler = new Scheduler({
      clock: this.clock,
      store: this.store,
      timeZone: 'UTC',
      logger: { warn: write, error: write, info: write },
      ...options,
    })
    this.schedulers.push(scheduler)
    return scheduler
  }

  /** A handler that records its runs and takes `ms` of virtual time. */
  handler(ms = 0): (run: ScheduledRun) => Promise<void> {
    const replica = String.fromCharCode(65 + this.#replicas++)
    return async (run) => {
      const record: RecordedRun = {
        taskId: run.taskId,
        slot: run.scheduledAt.toISOString(),
        missed: run.missed,
        token: run.fencingToken,
        replica,
        startedAt: this.clock.now(),
        endedAt: undefined,
        signal: run.signal,
      }
      this.runs.push(record)
      if (ms > 0) await this.sleep(ms)
      record.endedAt = this.clock.now()
    }
  }

  /** Virtual time. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(resolve, ms))
  }

  /** Resolves with the promise's value while time is advanced by at most `ms`, a bit at a time. */
  async within<Value>(ms: number, promise: Promise<Value>, stepMs = 10): Promise<Value> {
    let done = false
    const settled = promise.finally(() => {
      done = true
    })
    settled.catch(() => {})
    await this.clock.settle()
    for (let passed = 0; !done && passed < ms; passed += stepMs) await this.clock.advance(stepMs)
    expect(done, `nothing after ${ms} virtual ms`).toBe(true)
    return settled
  }

  slots(taskId?: string): string[] {
    const runs = this.runs.filter((run) => taskId === undefined || run.taskId === taskId)
    return runs.map(({ slot }) => slot.slice(11, -5))
  }

  /** Slot and `missed` of each run, as `10:05:00!` when missed. */
  marked(taskId?: string): string[] {
    const runs = this.runs.filter((run) => taskId === undefined || run.taskId === taskId)
    return runs.map(({ slot, missed }) => slot.slice(11, -5) + (missed ? '!' : ''))
  }

  /** What holds in every scenario. */
  checkInvariants(): void {
    for (const taskId of new Set(this.runs.map((run) => run.taskId))) {
      const runs = this.runs.filter((run) => run.taskId === taskId)
      for (const [index, run] of runs.entries()) {
        const earlier = runs[index - 1]
        if (!earlier) continue
        expect(run.token, `tokens of ${taskId} never go back`).toBeGreaterThanOrEqual(earlier.token)
        if (run.token === earlier.token) expect(run.slot > earlier.slot).toBe(true)
      }
    }
  }
}
