// What one replica does under each question, and what it measured.

import { type ScheduledRun, Scheduler, type ScheduleStore } from 'cronfence'

/** What is asked. */
export type Question =
  /** Tasks that are always due, for `seconds`: how many occurrences are done. */
  | { readonly kind: 'throughput'; readonly tasks: number; readonly seconds: number }
  /** Tasks that fall due at one instant, `rounds` times: how late they start. */
  | { readonly kind: 'burst'; readonly tasks: number; readonly rounds: number }
  /** Tasks that are due next year, for `seconds`: what waiting costs. */
  | { readonly kind: 'idle'; readonly tasks: number; readonly seconds: number }

/** What one replica saw. */
export interface Measured {
  /** `<task>@<slot>` of every run, to be counted over all replicas. */
  readonly runs: readonly string[]
  /** Ms from slot to start, of every run. */
  readonly lateness: readonly number[]
  /** Share of one core, 0 to 1. */
  readonly cpu: number
  readonly storeCallsPerSecond: number
}

/** Bursts are this far apart, so that one is over before the next. */
const BURST_MS = 5000
const LEASE_MS = 30_000

/** Runs one replica to its end. `start` resolves when all replicas have registered. */
export async function measure(
  schedules: ScheduleStore,
  question: Question,
  start: () => Promise<void>,
): Promise<Measured> {
  const runs: string[] = []
  const lateness: number[] = []
  const calls = { count: 0 }
  const scheduler = new Scheduler({
    store: counted(schedules, calls),
    drainMs: 30_000,
    // Tasks that are always late tell of skipped slots thousands of times a second.
    logger: { warn() {}, error: console.error },
  })
  const handler = (run: ScheduledRun) => {
    runs.push(run.occurrenceKey)
    lateness.push(Date.now() - run.scheduledAt.getTime())
  }
  for (let task = 0; task < question.tasks; task++) {
    const common = { id: `task-${task}`, leaseMs: LEASE_MS } as const
    if (question.kind === 'throughput') {
      scheduler.every(1, { ...common, missed: 'run-once' }, handler)
    } else if (question.kind === 'burst') {
      scheduler.every(BURST_MS, { ...common, missed: 'catch-up' }, handler)
    } else {
      scheduler.every('365d', { ...common }, handler)
    }
  }
  await scheduler.start()
  await start()
  runs.length = lateness.length = calls.count = 0
  const cpuBefore = process.cpuUsage()
  // Half a turn more, so that the end does not cut a burst in two.
  const seconds =
    question.kind === 'burst' ? ((question.rounds + 0.5) * BURST_MS) / 1000 : question.seconds
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const { user, system } = process.cpuUsage(cpuBefore)
  const result = {
    runs: runs.slice(),
    lateness: lateness.slice(),
    cpu: (user + system) / 1e6 / seconds,
    storeCallsPerSecond: calls.count / seconds,
  }
  await scheduler.stop()
  return result
}

/** The same store, counting the calls of its methods. */
function counted(store: ScheduleStore, calls: { count: number }): ScheduleStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        calls.count++
        return member.apply(target, args)
      }
    },
  })
}
