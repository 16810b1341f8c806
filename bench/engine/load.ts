// What one replica does under each question, and what it measured.

import { setTimeout as delay } from 'node:timers/promises'
import { type ScheduledRun, Scheduler, type ScheduleStore } from 'cronfence'
import type { OpenStore } from './stores.ts'

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

/** What a replica is to measure, and how. */
export interface Load {
  readonly question: Question
  /** Whether one replica leads, by a lease in the same store. */
  readonly hasLeader: boolean
  /** Resolves, once all replicas have registered, with the instant of the first burst. */
  readonly start: () => Promise<number>
}

/** Bursts are this far apart. */
export const BURST_MS = 5000
/** So long after the last burst its runs still count. */
const LATE_MS_MAX = 4000
const LEASE_MS = 30_000

/** Runs one replica to its end. */
export async function measure(store: OpenStore, load: Load): Promise<Measured> {
  const { question, hasLeader, start } = load
  const runs: string[] = []
  const lateness: number[] = []
  const calls = { count: 0 }
  /** Slots that count: none before all replicas are ready. */
  let [from, until] = [Infinity, Infinity]
  const scheduler = new Scheduler({
    store: counted(store.schedules, calls),
    ...(hasLeader ? { lease: store.leases } : {}),
    drainMs: 30_000,
    // Tasks that are always late tell of skipped slots thousands of times a second.
    logger: { warn() {}, error: console.error },
  })
  const handler = ({ scheduledAt, occurrenceKey }: ScheduledRun) => {
    const slot = scheduledAt.getTime()
    if (slot < from || slot >= until) return
    runs.push(occurrenceKey)
    lateness.push(Date.now() - slot)
  }
  register(scheduler, question, handler)
  await scheduler.start()
  const firstBurst = await start()
  calls.count = 0
  const [cpuBefore, startedAt] = [process.cpuUsage(), performance.now()]
  if (question.kind === 'burst') {
    ;[from, until] = [firstBurst, firstBurst + question.rounds * BURST_MS]
    await delay(until - BURST_MS + LATE_MS_MAX - Date.now())
  } else {
    from = -Infinity
    await delay(question.seconds * 1000)
  }
  until = -Infinity
  const { user, system } = process.cpuUsage(cpuBefore)
  const seconds = (performance.now() - startedAt) / 1000
  const storeCallsPerSecond = calls.count / seconds
  await scheduler.stop()
  return { runs, lateness, cpu: (user + system) / 1e6 / seconds, storeCallsPerSecond }
}

function register(
  scheduler: Scheduler,
  { kind, tasks }: Question,
  handler: (run: ScheduledRun) => void,
): void {
  for (let task = 0; task < tasks; task++) {
    const common = { id: `task-${task}`, leaseMs: LEASE_MS } as const
    if (kind === 'throughput') {
      scheduler.every(1, { ...common, missed: 'run-once' }, handler)
    } else if (kind === 'burst') {
      const everyBurst = `*/${BURST_MS / 1000} * * * * *`
      const options = { ...common, missed: 'catch-up', dialect: 'extended' } as const
      scheduler.schedule(everyBurst, options, handler)
    } else {
      scheduler.every('365d', { ...common }, handler)
    }
  }
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
