// `npm run bench:engine [-- --store NAME] [--quick] [--alone]`: occurrences per second and lateness
// for 1, 2 and 4 replicas on each store, with and without a leader, and what an idle scheduler
// costs. Every answer is checked before it is printed: an occurrence that ran twice, or that did
// not run at all, is a failure, whatever the speed.

import { parseArgs } from 'node:util'
import type { Measured, Question } from './load.ts'
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
  throughput: { kind: 'throughput', tasks: 5000, seconds: 4 },
  burst: { kind: 'burst', tasks: 10_000, rounds: 1 },
  idle: { kind: 'idle', tasks: 100_000, seconds: 10 },
}

const QUICK: Sizes = {
  replicas: [2],
  throughput: { kind: 'throughput', tasks: 5000, seconds: 2 },
  burst: { kind: 'burst', tasks: 2000, rounds: 1 },
  idle: { kind: 'idle', tasks: 10_000, seconds: 3 },
}

const IDLE_GOAL = 0.02

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

/** What was measured with so many replicas, as a row of the table. */
async function row(store: Contestant, url: string, sizes: Sizes, ways: Ways): Promise<string> {
  const { replicas, hasLeader } = ways
  const { throughput, burst } = sizes
  const who = `${store.name}, ${replicas} replicas${hasLeader ? ' with a leader' : ''}`
  const busy = await ask(store, { replicas, load: { question: throughput, hasLeader }, url })
  const perSecond = Math.round(checkOnce(who, busy) / throughput.seconds)
  const bursts = await ask(store, { replicas, load: { question: burst, hasLeader }, url })
  const [ran, due] = [checkOnce(who, bursts), burst.tasks * burst.rounds]
  const lateness = bursts.flatMap((each) => each.lateness).sort((a, b) => a - b)
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(lateness, share))
  console.log(`${who}: ${perSecond} occurrences/s; late by ${p50}, ${p99}, ${most} ms`)
  check(ran === due, `${who}: ${ran} of ${due} occurrences of bursts ran, each once`)
  const { goal, latenessGoalMs = Infinity } = store
  if (replicas === goal.replicas) {
    check(perSecond >= goal.perSecond, `${who}: ${perSecond} of ${goal.perSecond} occurrences/s`)
  }
  if (replicas === 1) check((p99 ?? 0) < latenessGoalMs, `${who}: p99 lateness ${p99} ms`)
  const leader = hasLeader ? 'yes' : 'no'
  return `| ${store.name} | ${replicas} | ${leader} | ${perSecond} | ${p50} | ${p99} | ${most} |`
}

interface Ways {
  readonly replicas: number
  readonly hasLeader: boolean
}

async function idleRow(store: Contestant, url: string, { idle }: Sizes): Promise<string> {
  const load = { question: idle, hasLeader: false }
  const [waiting] = await ask(store, { replicas: 1, load, url })
  const { cpu, storeCallsPerSecond } = waiting!
  const percent = (cpu * 100).toFixed(2)
  check(cpu < IDLE_GOAL, `${store.name}: ${idle.tasks} tasks at rest take ${percent} % of a core`)
  return `| ${store.name} | ${percent} | ${storeCallsPerSecond.toFixed(2)} |`
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { store: { type: 'string' }, quick: { type: 'boolean' } },
  })
  const stores = values.store === undefined ? CONTESTANTS : [contestant(values.store)]
  const sizes = values.quick ? QUICK : FULL
  const rows: string[] = []
  const idle: string[] = []
  for (const store of stores) {
    const server: BenchServer | undefined = await store.startServer?.()
    const url = server?.url ?? ''
    for (const hasLeader of [false, true]) {
      for (const replicas of sizes.replicas) {
        rows.push(await row(store, url, sizes, { replicas, hasLeader }))
      }
    }
    idle.push(await idleRow(store, url, sizes))
    await server?.stop()
  }
  console.log('\n| store | replicas | leader | occurrences/s | late p50 ms | p99 ms | most ms |')
  console.log(`| --- | ---: | --- | ---: | ---: | ---: | ---: |\n${rows.join('\n')}`)
  console.log(`\n| store | % of a core, ${sizes.idle.tasks} tasks at rest | store calls/s |`)
  console.log(`| --- | ---: | ---: |\n${idle.join('\n')}`)
  if (failures.length > 0) process.exitCode = 1
}

await main()
