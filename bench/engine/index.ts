// `npm run bench:engine [-- --store NAME] [--quick] [--alone]`: occurrences per second and lateness
// for 1, 2 and 4 replicas on each store, with and without a leader; beside them the store's peers,
// unless `--alone`; and what an idle scheduler costs. Every answer is checked before it is printed:
// an occurrence that ran twice, or of a burst not at all, is a failure, whatever the speed.

import { misuse, readArguments } from '../../test/support/arguments.ts'
import type { Measured, Question } from './load.ts'
import { askPeer, installPeers, PEERS } from './peers.ts'
import { ask } from './replicas.ts'
import { type BenchServer, CONTESTANTS, type Contestant, contestant } from './stores.ts'

/** How much is asked. */
interface Sizes {
  readonly replicas: readonly number[]
  readonly throughput: Question & { kind: 'throughput' }
  readonly burst: Question & { kind: 'burst' }
  readonly idle: Question & { kind: 'idle' }
}

const FULL: Sizes = {
  replicas: [1, 2, 4],
  throughput: { kind: 'throughput', tasks: 5000, seconds: 3 },
  burst: { kind: 'burst', tasks: 10_000, rounds: 1 },
  idle: { kind: 'idle', tasks: 100_000, seconds: 5 },
}

const QUICK: Sizes = {
  replicas: [2],
  throughput: { kind: 'throughput', tasks: 5000, seconds: 2 },
  burst: { kind: 'burst', tasks: 10_000, rounds: 1 },
  idle: { kind: 'idle', tasks: 10_000, seconds: 3 },
}

const IDLE_GOAL = 0.02

/** Peers are asked with as many, and compared to as many without a leader. */
const PEER_REPLICAS = 2

/** What issue 4 asks of each store: so many times the rate of its peer. */
const PEER_FACTOR = 5

const failures: string[] = []
function check(holds: boolean, what: string): void {
  console.log(`${holds ? 'PASS' : 'FAIL'}  ${what}`)
  if (!holds) failures.push(what)
}

/** How many occurrences ran. Each may have run only once, over all replicas. */
function checkOnce(who: string, measured: readonly Measured[]): number {
  const keys = measured.flatMap(({ runs }) => runs)
  const twice = keys.length - new Set(keys).size
  if (twice > 0) check(false, `${who}: ${twice} occurrences ran twice`)
  return keys.length
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** So many replicas on a store. */
interface Setup {
  readonly store: Contestant
  /** Of the server, or `''`. */
  readonly url: string
  readonly replicas: number
  readonly hasLeader: boolean
}

/** What a store did. */
interface Rates {
  /** Of tasks that are always due. */
  readonly perSecond: number
  /** Of tasks that fall due at once, from then to the last run. */
  readonly burstPerSecond: number
  /** Of a burst, in ms: the median, the 99th percentile and the most. */
  readonly lateness: readonly number[]
}

async function measureStore(setup: Setup, { throughput, burst }: Sizes): Promise<Rates> {
  const { store, replicas, hasLeader } = setup
  const who = nameOf(setup)
  const busy = await ask(store, { ...setup, load: { question: throughput, hasLeader } })
  const perSecond = Math.round(checkOnce(who, busy) / throughput.seconds)
  const bursts = await ask(store, { ...setup, load: { question: burst, hasLeader } })
  const [ran, due] = [checkOnce(who, bursts), burst.tasks * burst.rounds]
  const sorted = bursts.flatMap((each) => each.lateness).sort((a, b) => a - b)
  const lateness = [0.5, 0.99, 1].map((share) => percentile(sorted, share))
  const [p50, p99 = Number.NaN, most = Number.NaN] = lateness
  console.log(`${who}: ${perSecond} occurrences/s; late by ${p50}, ${p99}, ${most} ms`)
  check(ran === due, `${who}: ${ran} of ${due} occurrences of bursts ran in time`)
  const { goal, latenessGoalMs = Infinity } = store
  if (replicas === goal?.replicas) {
    check(perSecond >= goal.perSecond, `${who}: ${perSecond} of ${goal.perSecond} occurrences/s`)
  }
  if (replicas === 1 && latenessGoalMs < Infinity) {
    check(p99 < latenessGoalMs, `${who}: p99 lateness ${p99} ms`)
  }
  return { perSecond, burstPerSecond: Math.round((burst.tasks / most) * 1000), lateness }
}

function nameOf({ store, replicas, hasLeader }: Setup): string {
  const processes = replicas === 1 ? '1 replica' : `${replicas} replicas`
  return `${store.name}, ${processes}${hasLeader ? ' with a leader' : ''}`
}

/** Asks the store's peers what two replicas of cronfence were asked before. */
async function peerRows(store: Contestant, url: string, ours: Rates): Promise<string[]> {
  const rows: string[] = []
  for (const peer of PEERS.filter((each) => each.store === store.name)) {
    const { kind } = peer.question
    const { ran, ranTwice, perSecond } = await askPeer(peer, PEER_REPLICAS, url)
    const who = `${peer.name}, ${kind}`
    console.log(`${who}: ${perSecond} runs/s, ${ran} runs, ${ranTwice} of them twice`)
    const own = kind === 'due at once' ? ours.burstPerSecond : ours.perSecond
    const factor = (own / perSecond).toFixed(1)
    if (kind !== 'backlog' && store.goal) {
      check(own >= PEER_FACTOR * perSecond, `${store.name}: ${own}/s, ${factor} times ${who}`)
    }
    rows.push(`| ${store.name} | ${peer.name} | ${kind} | ${perSecond} | ${own} | ${factor} |`)
  }
  return rows
}

async function idleRow(store: Contestant, url: string, { idle }: Sizes): Promise<string> {
  const load = { question: idle, hasLeader: false }
  const [waiting] = await ask(store, { replicas: 1, load, url })
  const { cpu, storeCallsPerSecond } = waiting!
  const percent = (cpu * 100).toFixed(2)
  check(cpu < IDLE_GOAL, `${store.name}: ${idle.tasks} tasks at rest take ${percent} % of a core`)
  return `| ${store.name} | ${idle.tasks} | ${percent} | ${storeCallsPerSecond.toFixed(2)} |`
}

/** The rows of the three tables. */
interface Tables {
  readonly stores: string[]
  readonly peers: string[]
  readonly idle: string[]
}

/** The sizes for a store that is asked for fewer tasks. */
function scaled(sizes: Sizes, scale = 1): Sizes {
  const by = <Q extends Question>(question: Q): Q => {
    return { ...question, tasks: question.tasks * scale }
  }
  return {
    ...sizes,
    throughput: by(sizes.throughput),
    burst: by(sizes.burst),
    idle: by(sizes.idle),
  }
}

async function bench(store: Contestant, full: Sizes, tables: Tables, isAlone: boolean) {
  const sizes = scaled(full, store.scale)
  const server: BenchServer | undefined = await store.startServer?.()
  const url = server?.url ?? ''
  try {
    for (const hasLeader of [false, true]) {
      for (const replicas of sizes.replicas) {
        const rates = await measureStore({ store, url, replicas, hasLeader }, sizes)
        const cells = [replicas, hasLeader ? 'yes' : 'no', rates.perSecond, ...rates.lateness]
        tables.stores.push(`| ${store.name} | ${cells.join(' | ')} |`)
        if (isAlone || hasLeader || replicas !== PEER_REPLICAS) continue
        tables.peers.push(...(await peerRows(store, url, rates)))
      }
    }
    tables.idle.push(await idleRow(store, url, sizes))
  } finally {
    await server?.stop()
  }
}

async function main(): Promise<void> {
  const values = readArguments({
    store: { type: 'string' },
    quick: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
  })
  const stores = values.store === undefined ? CONTESTANTS : [chosen(values.store)]
  const sizes = values.quick ? QUICK : FULL
  if (!values.alone) installPeers()
  const tables: Tables = { stores: [], peers: [], idle: [] }
  for (const store of stores) await bench(store, sizes, tables, values.alone)
  print(
    ['store', 'replicas', 'leader', 'occurrences/s', 'late p50 ms', 'p99 ms', 'most ms'],
    tables.stores,
  )
  print(['store', 'peer', 'what', "the peer's runs/s", 'cronfence', 'times'], tables.peers)
  print(['store', 'tasks at rest', '% of a core', 'store calls/s'], tables.idle)
  if (failures.length > 0) {
    console.log(`\n${failures.length} failed:\n${failures.join('\n')}`)
    process.exitCode = 1
  }
}

function chosen(name: string): Contestant {
  try {
    return contestant(name)
  } catch (error) {
    return misuse((error as Error).message)
  }
}

function print(heads: readonly string[], rows: readonly string[]): void {
  if (rows.length === 0) return
  console.log(`\n| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}\n${rows.join('\n')}`)
}

await main()
