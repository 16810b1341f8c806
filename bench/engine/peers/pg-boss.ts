// pg-boss: a schedule per task. Its cron has a minute's grain and a pass a second at best, which
// files each due schedule in a queue of its own, from where 50 a second and instance go on to
// the queue they are for. A schedule of the last minute is due at once.

import { PgBoss } from 'pg-boss'
import type { PeerOptions, PeerReplica } from './peer.ts'

const QUEUE = 'tasks'
const WORK = {
  batchSize: 500,
  localConcurrency: 2,
  pollingIntervalSeconds: 0.5,
  burstWhenBatchFull: true,
} as const
const INSERT_MAX = 5000

/** Stores what is to run. */
export async function open({
  url,
  name,
  question,
  replicas,
  ran,
}: PeerOptions): Promise<PeerReplica> {
  const settings = { connectionString: url, schema: name, max: 10, supervise: false } as const
  const filler = new PgBoss({ ...settings, schedule: false })
  filler.on('error', console.error)
  await filler.start()
  await filler.createQueue(QUEUE)
  const { kind, tasks } = question
  if (kind === 'always due') throw new Error('pg-boss has no schedule finer than a minute')
  if (kind === 'due at once') {
    for (let task = 0; task < tasks; task++) {
      await filler.schedule(QUEUE, '* * * * *', { task }, { key: `t${task}` })
    }
  } else {
    for (let left = tasks / replicas; left > 0; left -= INSERT_MAX) {
      await filler.insert(
        QUEUE,
        Array.from({ length: Math.min(left, INSERT_MAX) }, () => ({})),
      )
    }
  }
  await filler.stop()
  const boss = new PgBoss({
    ...settings,
    schedule: kind === 'due at once',
    cronMonitorIntervalSeconds: 1,
    cronWorkerIntervalSeconds: 1,
  })
  boss.on('error', console.error)
  return {
    async start() {
      await boss.start()
      await boss.work(QUEUE, WORK, async (batch) => {
        for (const { id } of batch) ran(id)
      })
    },
    stop: () => boss.stop(),
  }
}
