// graphile-worker: a line of crontab per task; its cron has a minute's grain. The worker's batching
// is on: it locks 500 at a time into a queue of its own, and completes what has ended together.
// Without it a backlog took seven times as long here.

import { EventEmitter } from 'node:events'
import { Logger, makeWorkerUtils, parseCronItems, run } from 'graphile-worker'
import type { PeerOptions, PeerReplica } from './peer.ts'

const CONCURRENCY = 50
const LOCAL_QUEUE = 500
const INSERT_MAX = 5000
const TASK = 'tick'

/** Stores what is to run. */
export async function open({
  url,
  name,
  question,
  replicas,
  ran,
}: PeerOptions): Promise<PeerReplica> {
  const { kind, tasks } = question
  if (kind === 'always due') throw new Error('graphile-worker has no schedule finer than a minute')
  const logger = new Logger(() => (level, text) => {
    if (level === 'error') console.error(text)
  })
  const preset = {
    worker: {
      ...{ connectionString: url, schema: name, logger, concurrentJobs: CONCURRENCY },
      ...{
        maxPoolSize: 10,
        pollInterval: 500,
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
      localQueue: { size: LOCAL_QUEUE },
    },
  }
  const utils = await makeWorkerUtils({ preset })
  await utils.migrate()
  if (kind === 'backlog') {
    for (let left = tasks / replicas; left > 0; left -= INSERT_MAX) {
      const piece = Array.from({ length: Math.min(left, INSERT_MAX) }, () => ({
        identifier: TASK,
        payload: {},
      }))
      await utils.addJobs(piece)
    }
  }
  await utils.release()
  const lines = Array.from({ length: kind === 'due at once' ? tasks : 0 }, (_, task) => {
    return { task: TASK, match: '* * * * *', identifier: `t${task}` }
  })
  const events = new EventEmitter()
  let runner: Awaited<ReturnType<typeof run>> | undefined
  return {
    async start() {
      runner = await run({
        ...{ preset, events, noHandleSignals: true, parsedCronItems: parseCronItems(lines) },
        taskList: { [TASK]: async (_payload, { job: { id } }) => ran(id) },
      })
    },
    async stop() {
      await runner?.stop()
    },
  }
}
