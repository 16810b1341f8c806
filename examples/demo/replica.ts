// One replica of the demo: a scheduler on the SQLite file, telling what happens to whoever watches.

import { Scheduler } from 'cronfence'
import { SQLiteStore } from 'cronfence/sqlite'
import { registerTasks } from './tasks.ts'

/** What a replica tells. Instants are ms since the epoch. */
export type DemoEvent =
  | { type: 'next'; taskId: string; nextRunAt: number | null }
  | {
      type: 'start'
      taskId: string
      scheduledAt: number
      token: number
      missed: boolean
      at: number
    }
  | { type: 'end'; taskId: string; scheduledAt: number; token: number; result: string }
  | { type: 'note'; text: string }

/** A running replica. */
export interface Replica {
  /** Drains and closes the file. */
  stop(): Promise<void>
}

/** Starts a replica on `file`; resolves when its tasks are stored. */
export async function startReplica(
  file: string,
  tell: (event: DemoEvent) => void,
): Promise<Replica> {
  const store = new SQLiteStore({ file })
  const note = (text: string) => tell({ type: 'note', text })
  const scheduler = new Scheduler({
    store: store.schedules(),
    drainMs: '8s',
    logger: { warn: note, error: note },
  })
  registerTasks(scheduler)
  scheduler.on('registered', ({ taskId, nextRunAt }) => {
    tell({ type: 'next', taskId, nextRunAt: nextRunAt?.getTime() ?? null })
  })
  scheduler.on('commit', ({ taskId, nextRunAt }) => {
    tell({ type: 'next', taskId, nextRunAt: nextRunAt?.getTime() ?? null })
  })
  scheduler.on('run-start', (run) => {
    if (!('taskId' in run)) return
    const { taskId, scheduledAt, fencingToken: token, missed } = run
    const slot = scheduledAt.getTime()
    tell({ type: 'start', taskId, scheduledAt: slot, token, missed, at: Date.now() })
  })
  scheduler.on('run-end', (run, { error }) => {
    if (!('taskId' in run)) return
    const { taskId, scheduledAt, fencingToken: token } = run
    const result = error === undefined ? 'done' : run.signal.aborted ? 'aborted' : 'failed'
    tell({ type: 'end', taskId, scheduledAt: scheduledAt.getTime(), token, result })
  })
  scheduler.on('skipped', ({ taskId, from, count }) => {
    note(`${taskId}: ${count} missed slots skipped, from ${from.toISOString()}`)
  })
  scheduler.on('hand-back', ({ taskId, scheduledAt }) => {
    note(`${taskId}: handed back ${scheduledAt.toISOString()}`)
  })
  await scheduler.start()
  return {
    async stop() {
      await scheduler.stop()
      await store.stop()
    },
  }
}
