// A chaos run: replicas as processes on a real server, faults by a seed, the verdict of the log.

import { mkdirSync, openSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { build } from 'esbuild'
import { wasmAsHex } from '../../tsup.config.ts'
import { check, type Verdict } from './checker.ts'
import { type Fact, openLog, readLog } from './facts.ts'
import { type FaultKind, Faults } from './faults.ts'
import { randomStream } from './random.ts'
import { Seat } from './seat.ts'
import { type OpenStore, openStore, type StoreName } from './store-names.ts'
import { startTarget, type Target } from './target.ts'
import { PLANS } from './tasks.ts'

/** What is run. */
export interface ChaosOptions {
  readonly store: StoreName
  readonly plan: keyof typeof PLANS
  readonly seed: number
  readonly replicas: number
  /** It ends after so many faults, or so many ms, whichever comes first. */
  readonly rounds: number
  readonly lengthMs: number
  /** Between one fault and the next, at least and at most. */
  readonly pauseMs: readonly [least: number, most: number]
  /** An empty folder, for all that the run needs; the caller removes it. */
  readonly folder: string
  /** Called once the store is set up and before there are replicas. */
  readonly onReady?: (url: string) => void
}

/** What came of it. */
export interface ChaosResult extends Verdict {
  readonly faults: Readonly<Record<FaultKind, number>>
  readonly facts: readonly Fact[]
  /** What went wrong with processes. */
  readonly failures: readonly string[]
  readonly url: string
  /** Ends the server; its data go with it unless `keepsData`. */
  end(keepsData: boolean): Promise<void>
}

const CAUGHT_UP_MS_MAX = 120_000
const POLL_MS = 100

/** Runs it. Rejects only when it cannot be run. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { folder, plan, seed, store: name } = options
  const log = join(folder, 'log.jsonl')
  const tell = openLog(log, 'director')
  const random = randomStream(seed)
  const program = await bundle(folder)
  const target = await startTarget(name, join(folder, 'store'))
  const seats: Seat[] = []
  const store = openStore(name, { url: target.url, timeoutMs: 5000 })
  try {
    await store.start()
    options.onReady?.(target.url)
    const errors = openSync(join(folder, 'replicas.err'), 'a')
    const replica = { store: name, log, plan }
    for (let index = 0; index < options.replicas; index++) {
      const way = { target, random: randomStream(seed + index + 1) }
      seats.push(await Seat.take({ index, program, replica, errors, tell, ...way }))
    }
    const faults = new Faults({ seats, target, random, tell, leaseMs: PLANS[plan].leaseMs })
    await faults.happen(options)
    tell({ what: 'calm' })
    await caughtUp(store, plan)
    await Promise.all(seats.map((seat) => seat.stop()))
    await tellRows(store, tell)
    const facts = readLog(log)
    return {
      ...check(PLANS[plan], facts),
      ...{ faults: faults.counts, facts, url: target.url },
      failures: seats.flatMap(({ violations }) => violations),
      end: (keepsData) => endTarget(target, keepsData),
    }
  } catch (error) {
    await endTarget(target, true)
    throw error
  } finally {
    await Promise.all(seats.map((seat) => seat.leave()))
    await store.stop()
  }
}

/** The replica as one file, in a folder from where packages are found. */
async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'replica.mjs')
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
  await build({
    entryPoints: [join(import.meta.dirname, 'replica.ts')],
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', packages: 'external' },
    plugins: [wasmAsHex],
    outfile,
    logLevel: 'error',
  })
  return outfile
}

/** Waits until each task has gone on; whether one has not is for the checker to say. */
async function caughtUp(store: OpenStore, plan: keyof typeof PLANS): Promise<void> {
  const calmAt = Date.now()
  const { tasks } = PLANS[plan]
  for (;;) {
    const rows = await store.schedules().list()
    const hasGoneOn = tasks.every((task) => {
      const row = rows.find(({ id }) => id === task.id)
      if (!row) return false
      return row.nextRunAt === null || (task.kind !== 'delay' && row.nextRunAt > calmAt)
    })
    if (hasGoneOn || Date.now() - calmAt > CAUGHT_UP_MS_MAX) return
    await pause(POLL_MS)
  }
}

async function tellRows(store: OpenStore, tell: ReturnType<typeof openLog>): Promise<void> {
  for (const { id, nextRunAt: slot, fencingToken: token, leaseUntil } of await store
    .schedules()
    .list()) {
    const lease = leaseUntil === undefined ? {} : { leaseUntil }
    tell({ what: 'row at the end', id, slot, token, ...lease })
  }
}

async function endTarget({ server }: Target, keepsData: boolean): Promise<void> {
  if (keepsData) await server?.pause()
  else await server?.stop()
}
