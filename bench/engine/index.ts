// `npm run bench:engine [-- --store NAME]`: occurrences per second and lateness for 1, 2 and 4
// replicas on each store, and what an idle scheduler costs. Every answer is checked before it is
// printed: an occurrence that ran twice is a failure, whatever the speed.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Measured, measure, type Question } from './load.ts'
import { CONTESTANTS, type Contestant, contestant } from './stores.ts'

const REPLICAS = [1, 2, 4]
const THROUGHPUT: Question = { kind: 'throughput', tasks: 5000, seconds: 10 }
const BURST: Question = { kind: 'burst', tasks: 10_000, rounds: 3 }
const IDLE: Question = { kind: 'idle', tasks: 100_000, seconds: 20 }
const LATENESS_GOAL_MS = 250
const IDLE_GOAL = 0.02

const failures: string[] = []
function check(holds: boolean, what: string): void {
  console.log(`${holds ? 'PASS' : 'FAIL'}  ${what}`)
  if (!holds) failures.push(what)
}

async function ask(store: Contestant, replicas: number, question: Question): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-bench-'))
  try {
    return store.ownProcess
      ? await inProcesses(store, replicas, question, folder)
      : await inOneProcess(store, replicas, question, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function inOneProcess(
  store: Contestant,
  replicas: number,
  question: Question,
  folder: string,
): Promise<Measured[]> {
  const { schedules, close } = store.open(folder)
  const rows = await schedules.list()
  await Promise.all(rows.map(({ id }) => schedules.delete(id)))
  const ready = barrier(replicas)
  const measured = await Promise.all(
    Array.from({ length: replicas }, () => measure(schedules, question, ready)),
  )
  await close()
  return measured
}

/** A function that resolves for all its callers once it was called `count` times. */
function barrier(count: number): () => Promise<void> {
  const { promise, resolve } = withResolvers()
  let arrived = 0
  return () => {
    if (++arrived === count) resolve()
    return promise
  }
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

async function inProcesses(
  store: Contestant,
  replicas: number,
  question: Question,
  folder: string,
): Promise<Measured[]> {
  const script = fileURLToPath(new URL('replica.ts', import.meta.url))
  const children: ChildProcess[] = Array.from({ length: replicas }, () =>
    fork(script, [store.name, folder, JSON.stringify(question)], { serialization: 'advanced' }),
  )
  await Promise.all(children.map((child) => once(child, 'message')))
  const results = children.map((child) => once(child, 'message'))
  for (const child of children) child.send('go')
  const measured = await Promise.all(results)
  return measured.map(([message]) => message as Measured)
}

/** All runs are different occurrences. */
function checkOnce(store: string, replicas: number, measured: readonly Measured[]): number {
  const keys = measured.flatMap(({ runs }) => runs)
  const distinct = new Set(keys).size
  if (distinct !== keys.length) {
    check(false, `${store}, ${replicas} replicas: ${keys.length - distinct} occurrences ran twice`)
  }
  return keys.length
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

async function bench(store: Contestant): Promise<string[]> {
  const rows: string[] = []
  for (const replicas of REPLICAS) {
    const throughput = await ask(store, replicas, THROUGHPUT)
    const done = checkOnce(store.name, replicas, throughput)
    const perSecond = Math.round(done / (THROUGHPUT.kind === 'throughput' ? THROUGHPUT.seconds : 1))
    const burst = await ask(store, replicas, BURST)
    const started = checkOnce(store.name, replicas, burst)
    const lateness = burst.flatMap((each) => each.lateness).sort((a, b) => a - b)
    const [p50, p99, p100] = [0.5, 0.99, 1].map((share) => percentile(lateness, share))
    console.log(
      `${store.name}, ${replicas} replicas: ${perSecond} occurrences/s; ` +
        `${started} runs of bursts, late by p50 ${p50} ms, p99 ${p99} ms, at most ${p100} ms`,
    )
    if (replicas === 1) {
      check(perSecond >= store.goal, `${store.name}: ${perSecond} of ${store.goal} occurrences/s`)
      check((p99 ?? 0) < LATENESS_GOAL_MS, `${store.name}: p99 lateness ${p99} ms`)
    }
    check(
      started % BURST.tasks === 0 && started > 0,
      `${store.name}, ${replicas} replicas: every task of every burst ran (${started} runs)`,
    )
    rows.push(`| ${store.name} | ${replicas} | ${perSecond} | ${p50} | ${p99} | ${p100} |`)
  }
  return rows
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { store: { type: 'string' } } })
  const stores = values.store === undefined ? CONTESTANTS : [contestant(values.store)]
  const rows: string[] = []
  const idle: string[] = []
  for (const store of stores) {
    const endServer = await store.startServer?.()
    rows.push(...(await bench(store)))
    const [waiting] = await ask(store, 1, IDLE)
    const { cpu, storeCallsPerSecond } = waiting!
    const percent = (cpu * 100).toFixed(2)
    check(cpu < IDLE_GOAL, `${store.name}: ${IDLE.tasks} tasks at rest take ${percent} % of a core`)
    idle.push(`| ${store.name} | ${percent} | ${storeCallsPerSecond.toFixed(2)} |`)
    await endServer?.()
  }
  console.log('\n| store | replicas | occurrences/s | late p50 ms | p99 ms | most ms |')
  console.log(`| --- | ---: | ---: | ---: | ---: | ---: |\n${rows.join('\n')}`)
  console.log('\n| store | % of a core, 100,000 tasks at rest | store calls/s |')
  console.log(`| --- | ---: | ---: |\n${idle.join('\n')}`)
  if (failures.length > 0) process.exitCode = 1
}

await main()
