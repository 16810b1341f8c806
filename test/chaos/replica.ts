// One replica: a process that runs the chaos tasks over the given SQLite file and appends what it
// does to the given log, a line per fact, each written in one piece before the next thing happens.

import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { ScheduledRun } from '../../src/index.ts'
import { Scheduler } from '../../src/index.ts'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'
import type { Fact } from './checker.ts'
import { type ChaosTask, LEASE_MS, TASKS, TICK_MS } from './tasks.ts'

const [file = '', log = ''] = process.argv.slice(2)
const { pid } = process
const logFile = openSync(log, 'a')

function tell(what: Fact['what'], taskId = '', slot: Date | null = null, token = 0): void {
  const fact: Fact = { pid, what, taskId, slot: slot?.getTime() ?? null, token }
  writeSync(logFile, `${JSON.stringify(fact)}\n`)
}

const work =
  ({ workMs }: ChaosTask) =>
  async ({ taskId, scheduledAt, fencingToken, signal }: ScheduledRun): Promise<void> => {
    tell('run', taskId, scheduledAt, fencingToken)
    // A handler that gives up when it is told to, and one that does not.
    const options = fencingToken % 2 === 0 ? { signal } : {}
    await pause(Math.random() * workMs, undefined, options)
    tell('ran', taskId, scheduledAt, fencingToken)
  }

const store = new SQLiteStore({ file })
const scheduler = new Scheduler({
  store: store.schedules(),
  owner: String(pid),
  tickMs: TICK_MS,
  drainMs: 500,
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})
for (const task of TASKS) {
  const { id, kind, stepMs, policy: missed } = task
  const options = { id, missed, leaseMs: LEASE_MS, maxCatchUp: 100_000 }
  if (kind === 'every') scheduler.every(stepMs, options, work(task))
  else if (kind === 'delay') scheduler.delay(stepMs, options, work(task))
  else {
    const text = `*/${stepMs / 1000} * * * * *`
    const cron = { ...options, dialect: 'extended', timeZone: 'UTC' } as const
    scheduler.schedule(text, cron, work(task))
  }
}
for (const what of ['commit', 'commit-rejected', 'commit-unknown', 'lease-lost'] as const) {
  scheduler.on(what, ({ taskId, scheduledAt, fencingToken }) => {
    tell(what, taskId, scheduledAt, fencingToken)
  })
}
scheduler.on('store-error', ({ error }) => tell('store-error', String(error)))
process.once('SIGTERM', async () => {
  await scheduler.stop()
  await store.stop()
  process.exit()
})
process.stdout.write('listens\n')
await scheduler.start()
tell('started')
