// The demo's tasks: one for each thing that a durable task can do.

import type { ScheduledRun, Scheduler } from 'cronfence'

/** A task as the table shows it. */
export interface DemoTask {
  readonly id: string
  readonly plan: string
  readonly about: string
}

export const TASKS: readonly DemoTask[] = [
  { id: 'heartbeat', plan: 'every 2s', about: 'skip: what was missed is gone' },
  { id: 'ledger', plan: 'every 5s', about: 'catch-up: every slot runs, up to 20 at a time' },
  { id: 'digest', plan: '* * * * *', about: 'run-once: one run for all that was missed' },
  {
    id: 'slow-import',
    plan: 'every 15s',
    about: 'takes 6 s: kill its runner and see it taken over',
  },
  {
    id: 'backup',
    plan: '30 2 * * * Europe/Madrid',
    about: '02:30 there, moved where the clock jumps',
  },
  { id: 'welcome', plan: 'in 20s', about: 'a delay: runs once, and never again on this file' },
]

/** Registers the tasks; every replica does so at boot, with the same ids and plans. */
export function registerTasks(scheduler: Scheduler): void {
  scheduler.every('2s', { id: 'heartbeat', missed: 'skip' }, nothing)
  scheduler.every('5s', { id: 'ledger', missed: 'catch-up', maxCatchUp: 20 }, nothing)
  scheduler.schedule('* * * * *', { id: 'digest', missed: 'run-once' }, nothing)
  scheduler.every('15s', { id: 'slow-import', missed: 'run-once', leaseMs: '5s' }, slowly)
  scheduler.schedule(
    '30 2 * * *',
    { id: 'backup', missed: 'run-once', timeZone: 'Europe/Madrid' },
    nothing,
  )
  scheduler.delay('20s', { id: 'welcome', missed: 'run-once' }, nothing)
}

function nothing(): void {}

/** Six seconds of work that ends at once when the run is aborted. */
async function slowly({ signal }: ScheduledRun): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, 6000)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}
