// BullMQ: a scheduler of the queue per task; its worker stores the next run as one begins. The
// worker drops what is done, and takes 20 at once: the rate fell with 5 and with 50.

import { Queue, Worker } from 'bullmq'
import type { PeerOptions, PeerReplica } from './peer.ts'

const CONCURRENCY = 20
const DROPPED = { removeOnComplete: true, removeOnFail: true } as const
/** Requests under way at once while schedulers are stored. */
const PIECE = 500

/** Stores what is to run. */
export async function open({
  url,
  name,
  question,
  replicas,
  ran,
}: PeerOptions): Promise<PeerReplica> {
  const connection = { url, maxRetriesPerRequest: null }
  const queue = new Queue(name, { connection, defaultJobOptions: DROPPED })
  const { kind, tasks } = question
  const isBacklog = kind === 'backlog'
  const count = isBacklog ? tasks / replicas : tasks
  for (let from = 0; from < count; from += PIECE) {
    const names = Array.from({ length: Math.min(PIECE, count - from) }, (_, at) => `t${from + at}`)
    if (isBacklog) await queue.addBulk(names.map((task) => ({ name: task, data: {} })))
    else {
      const repeat = kind === 'always due' ? { every: 1 } : { pattern: '0 * * * * *' }
      const template = { name: 'task', opts: DROPPED }
      await Promise.all(names.map((task) => queue.upsertJobScheduler(task, repeat, template)))
    }
  }
  const handler = async ({ id }: { id?: string }) => ran(id ?? '')
  const worker = new Worker(name, handler, { connection, concurrency: CONCURRENCY, autorun: false })
  worker.on('error', console.error)
  return {
    async start() {
      void worker.run()
    },
    async stop() {
      await worker.close()
      await queue.close()
    },
  }
}
