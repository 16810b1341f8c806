// Puts a question to replicas that start together: processes, or schedulers beside each other in
// this one. Processes are cronfence's or a peer's; all speak alike: 'ready' when registered, then
// the instant of the first burst comes back, and at the end what was measured.

import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeBinary } from '../../test/support/node-versions.ts'
import { BURST_MS, type Load, type Measured, measure } from './load.ts'
import type { Contestant, Place } from './stores.ts'

/** A peer needs a newer Node than the package does, so all that share a server run under it. */
const SERVER_NODE = 24

/** All replicas must hear of the first burst before it comes. */
const AHEAD_MS = 500

/** A question with all it depends on. */
export interface Ask {
  readonly replicas: number
  readonly load: Omit<Load, 'start'>
  /** Of the server, or `''`. */
  readonly url: string
}

/** Asks the replicas of a store, in a place of their own. */
export async function ask(store: Contestant, { replicas, load, url }: Ask): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-bench-'))
  const place = { url, folder, name: `bench_${randomBytes(6).toString('hex')}_` }
  try {
    if (!store.ownProcess) return await inThisProcess(store, place, replicas, load)
    const script = new URL('replica.ts', import.meta.url)
    const args = [store.name, JSON.stringify(place), JSON.stringify(load)]
    const isNewNode = url !== ''
    return (await inProcesses({ script, args, replicas, isNewNode })) as Measured[]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function inThisProcess(
  store: Contestant,
  place: Place,
  replicas: number,
  load: Omit<Load, 'start'>,
): Promise<Measured[]> {
  let begin = (_firstBurst: number) => {}
  const begun = new Promise<number>((resolve) => {
    begin = resolve
  })
  let ready = 0
  const start = () => {
    if (++ready === replicas) begin(firstBurst())
    return begun
  }
  const each = () => measure(store.open(place), { ...load, start })
  return Promise.all(Array.from({ length: replicas }, each))
}

/** Runs a script as so many processes. What each has measured; rejects when one ends before. */
export async function inProcesses(options: {
  readonly script: URL
  readonly args: readonly string[]
  readonly replicas: number
  readonly isNewNode: boolean
}): Promise<unknown[]> {
  const { script, args, replicas, isNewNode } = options
  const execPath = isNewNode ? nodeBinary(SERVER_NODE) : process.execPath
  const children = Array.from({ length: replicas }, () =>
    fork(fileURLToPath(script), args, { serialization: 'advanced', execPath }),
  )
  try {
    await Promise.all(children.map(message))
    const measured = children.map(message)
    const from = firstBurst()
    for (const child of children) child.send(from)
    return await Promise.all(measured)
  } finally {
    for (const child of children) if (child.connected) child.kill()
  }
}

async function message(child: ChildProcess): Promise<unknown> {
  const answer = once(child, 'message').then(([value]) => value)
  const end = once(child, 'exit').then(([code]) => {
    throw new Error(`a replica ended early, with code ${code}`)
  })
  return Promise.race([answer, end])
}

function firstBurst(): number {
  return Math.ceil((Date.now() + AHEAD_MS) / BURST_MS) * BURST_MS
}
