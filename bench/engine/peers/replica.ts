// A replica of a peer in a process of its own; it speaks as cronfence's replica.ts does.

import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { PeerOptions, PeerReplica } from './peer.ts'

type Open = (options: PeerOptions) => Promise<PeerReplica>

const PEERS: Readonly<Record<string, () => Promise<{ open: Open }>>> = {
  bullmq: () => import('./bullmq.ts'),
  'pg-boss': () => import('./pg-boss.ts'),
  'graphile-worker': () => import('./graphile-worker.ts'),
  agenda: () => import('./agenda.ts'),
}

/** A full minute comes, and with it the first run. */
const FIRST_MS_MAX = 80_000
/** Another replica may have begun later, by its pause between two polls. */
const SLACK_MS = 2500

const [peer, settings] = process.argv.slice(2)
const load = PEERS[peer ?? '']
if (!load || !settings) throw new Error('started by peers.ts only')

const runs: string[] = []
const instants: number[] = []
let tellFirst = () => {}
const first = new Promise<void>((resolve) => {
  tellFirst = resolve
})
const options: Omit<PeerOptions, 'ran'> = JSON.parse(settings)
const { open } = await load()
const replica = await open({
  ...options,
  ran(key) {
    runs.push(key)
    instants.push(Date.now())
    tellFirst()
  },
})
process.send?.('ready')
await once(process, 'message')
const startedAt = Date.now()
await replica.start()
await Promise.race([first, delay(FIRST_MS_MAX, undefined, { ref: false })])
await delay(options.question.seconds * 1000 + SLACK_MS)
// Ending in an orderly way can take a peer long, and nothing more is asked of it.
process.send?.({ runs, instants, startedAt }, () => process.exit())
