// Agenda: one definition, and a document per task that repeats by the shortest interval it takes.
// It polls at its fastest, locks without a limit and runs 100 at once.

import { MongoBackend } from '@agendajs/mongo-backend'
import { Agenda } from 'agenda'
import type { PeerOptions, PeerReplica } from './peer.ts'

const NAME = 'tick'
const CONCURRENCY = 100
const INTERVAL_MS = 1

/** Stores what is to run. */
export async function open(options: PeerOptions): Promise<PeerReplica> {
  const { url, name, question, ran } = options
  const { kind, tasks } = question
  if (kind !== 'always due') throw new Error(`agenda is not asked for "${kind}"`)
  const agenda = new Agenda({
    backend: new MongoBackend({ address: url, collection: name }),
    processEvery: 100,
    maxConcurrency: CONCURRENCY,
    defaultConcurrency: CONCURRENCY,
    defaultLockLimit: 0,
    lockLimit: 0,
  })
  agenda.on('error', console.error)
  await agenda.ready
  agenda.define(NAME, async ({ attrs }) => {
    ran(`${attrs._id}@${attrs.nextRunAt?.getTime()}@${attrs.lockedAt?.getTime()}`)
  })
  for (let task = 0; task < tasks; task++) {
    const each = agenda.create(NAME, { task }).unique({ 'data.task': task })
    await each.repeatEvery(INTERVAL_MS).save()
  }
  return { start: () => agenda.start(), stop: () => agenda.stop() }
}
