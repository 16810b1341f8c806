// One replica: a process that runs the tasks of a plan over the given store, and tells the log what
// it asks of the store, what it is answered, and what its handlers do.

import { setTimeout as pause } from 'node:timers/promises'
import { type ScheduledRun, Scheduler } from '../../src/index.ts'
import { type EventFact, openLog, type RunFact } from './facts.ts'
import { RecordedStore } from './recorded-store.ts'
import { openStore, type StoreName } from './store-names.ts'
import { type ChaosTask, PLANS } from './tasks.ts'

/** What a replica is told on its command line, as JSON. */
export interface ReplicaArguments {
  readonly store: StoreName
  /** Where the store is, as this replica reaches it. */
  readonly url: string
  readonly log: string
  /** Different for every process of a run. */
  readonly name: string
  readonly plan: keyof typeof PLANS
}

const told = process.argv[2] ?? '{}'
const { store: storeName, url, log, name, plan } = JSON.parse(told) as ReplicaArguments
const { leaseMs, tickMs, tasks } = PLANS[plan]
const tell = openLog(log, name)

const work =
  ({ workMs }: ChaosTask) =>
  async ({ taskId: id, scheduledAt, fencingToken: token, missed, signal }: ScheduledRun) => {
    const told = (what: RunFact['what']) =>
      tell({ what, id, token, slot: scheduledAt.getTime(), missed })
    told('run')
    signal.addEventListener('abort', () => told('aborted'))
    // A handler that gives up when it is told to, and one that does not.
    const options = token % 2 === 0 ? { signal } : {}
    try {
      await pause(Math.random() * workMs, undefined, options)
    } catch (error) {
      told('gave up')
      throw error
    }
    told('ran')
  }

const store = openStore(storeName, { url, timeoutMs: leaseMs / 3 })
const scheduler = new Scheduler({
  store: new RecordedStore(store.schedules(), tell),
  owner: name,
  tickMs,
  drainMs: 500,
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
for (const task of tasks) {
  const { id, kind, stepMs, policy: missed } = task
  const options = { id, missed, leaseMs, maxCatchUp: 100_000 }
  if (kind === 'every') scheduler.every(stepMs, options, work(task))
  else if (kind === 'delay') scheduler.delay(stepMs, options, work(task))
  else {
    const text = `*/${stepMs / 1000} * * * * *`
    const cron = { ...options, dialect: 'extended', timeZone: 'UTC' } as const
    scheduler.schedule(text, cron, work(task))
  }
}

const EVENTS: readonly EventFact['event'][] = [
  ...(['commit', 'commit-rejected', 'commit-unknown', 'lease-lost', 'claim-adopted'] as const),
]
for (const event of EVENTS) {
  scheduler.on(event, ({ taskId: id, scheduledAt, fencingToken: token }) => {
    tell({ what: 'event', event, id, token, slot: scheduledAt.getTime() })
  })
}
scheduler.on('registered', ({ taskId: id, nextRunAt }) => {
  tell({ what: 'registered', id, slot: nextRunAt?.getTime() ?? null })
})
scheduler.on('store-error', ({ error, operation }) => {
  tell({ what: 'store error', text: `${operation}: ${error}` })
})

// A machine with other work to do lets a process wait; the checker must know of it.
const BEAT_MS = 100
let beatAt = Date.now()
setInterval(() => {
  const from = beatAt
  beatAt = Date.now()
  if (beatAt - from > 2 * BEAT_MS) tell({ what: 'stalled', from })
}, BEAT_MS)

process.stdin.once('end', () => process.exit()).resume()
process.once('SIGTERM', async () => {
  await scheduler.stop()
  await store.stop()
  process.exit()
})
process.stdout.write('listens\n')
await scheduler.start()
tell({ what: 'started' })
