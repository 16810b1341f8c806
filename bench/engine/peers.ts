// The libraries measured beside cronfence: on the same server, with the same number of replicas,
// under the same Node, after the same start. What counts as an occurrence on each side:
//   cronfence        a slot claimed under a lease, run, committed together with the next slot;
//   BullMQ, Agenda   a run of a repeating one: taken, run, its next run stored, completed;
//   pg-boss,         a run that the library's cron files as it falls due: filed, taken, run,
//   graphile-worker  completed. That cron has a minute's grain, so all fall due at once, and the
//                    time from then to the last run is what counts; so it does for cronfence.
// A backlog is printed beside them, not compared: work that waits, without a schedule. Whoever runs
// it stores no next run, and may take and complete it by the hundred.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PeerQuestion } from './peers/peer.ts'
import { inProcesses } from './replicas.ts'

/** A peer and what it is asked. */
export interface Peer {
  readonly name: string
  /** The contestant that it is compared with. */
  readonly store: string
  readonly question: PeerQuestion
}

const TASKS = 10_000

export const PEERS: readonly Peer[] = [
  {
    name: 'bullmq',
    store: 'redis',
    question: { kind: 'always due', tasks: 5000, seconds: 4 },
  },
  {
    name: 'bullmq',
    store: 'redis',
    question: { kind: 'backlog', tasks: 40_000, seconds: 4 },
  },
  {
    name: 'pg-boss',
    store: 'postgres',
    // It takes minutes for more, and is no faster then.
    question: { kind: 'due at once', tasks: 500, seconds: 8 },
  },
  {
    name: 'pg-boss',
    store: 'postgres',
    question: { kind: 'backlog', tasks: 40_000, seconds: 4 },
  },
  {
    name: 'graphile-worker',
    store: 'postgres',
    question: { kind: 'due at once', tasks: TASKS, seconds: 4 },
  },
  {
    name: 'graphile-worker',
    store: 'postgres',
    question: { kind: 'backlog', tasks: 40_000, seconds: 4 },
  },
  {
    name: 'agenda',
    store: 'mongo',
    question: { kind: 'always due', tasks: 50, seconds: 4 },
  },
]

/** What one replica of a peer saw. */
interface PeerMeasured {
  /** What names each run, different for all. */
  readonly runs: readonly string[]
  /** When each began. */
  readonly instants: readonly number[]
  /** When the workers began. */
  readonly startedAt: number
}

/** What a peer did. */
export interface PeerRate {
  readonly ran: number
  readonly ranTwice: number
  readonly perSecond: number
}

const FOLDER = new URL('./peers/', import.meta.url)
const MINUTE_MS = 60_000
/** A worker that has just begun is not at its speed. */
const WARM_UP_MS = 1000

/** Installs the peers on first use, as their lock file says. */
export function installPeers(): void {
  if (existsSync(new URL('node_modules', FOLDER))) return
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', ['ci', ...flags], { cwd: fileURLToPath(FOLDER), stdio: 'inherit' })
}

/** Asks a peer, with so many replicas, on a server that it need not have for itself. */
export async function askPeer(peer: Peer, replicas: number, url: string): Promise<PeerRate> {
  const { name, question } = peer
  const options = { url, name: `bench_${randomBytes(6).toString('hex')}`, question, replicas }
  const measured = (await inProcesses({
    script: new URL('./peers/replica.ts', import.meta.url),
    args: [name, JSON.stringify(options)],
    ...{ replicas, isNewNode: true },
  })) as PeerMeasured[]
  const runs = measured.flatMap((each) => each.runs)
  const instants = measured.flatMap((each) => each.instants).sort((a, b) => a - b)
  const startedAt = Math.min(...measured.map((each) => each.startedAt))
  return {
    ran: runs.length,
    ranTwice: runs.length - new Set(runs).size,
    perSecond: rate(question, instants, startedAt),
  }
}

function rate({ kind, seconds }: PeerQuestion, instants: readonly number[], startedAt: number) {
  const [first = Number.NaN, last = Number.NaN] = [instants[0], instants.at(-1)]
  let [from, until] = [first, Math.min(last, first + seconds * 1000)]
  if (kind === 'always due') [from, until] = [first + WARM_UP_MS, until + WARM_UP_MS]
  const counted = instants.filter((instant) => instant >= from && instant <= until).length
  if (kind === 'due at once') from = Math.max(startedAt, first - (first % MINUTE_MS))
  return Math.round((counted / (until - from)) * 1000)
}
