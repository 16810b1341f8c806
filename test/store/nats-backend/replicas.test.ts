// Processes that share a bucket: every slot runs in one of them, also when one is killed. Real
// time, for these are real processes; CRONFENCE_TEST_SOAK_MS makes the counting longer.

import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { readRunKey } from '../../../src/backend/run-key.ts'
import { ROOT } from '../../support/packed-package.ts'
import { bucketStage } from './bucket-stage.ts'
import type { ReplicaLine, ReplicaOrder } from './replica.ts'

const SOAK_MS = Number(process.env.CRONFENCE_TEST_SOAK_MS ?? 10_000)
const EVERY_MS = 100
const TEST_MS_MAX = SOAK_MS + 60_000

const stage = bucketStage()
const processes: Replica[] = []
afterEach(async () => {
  for (const replica of processes.splice(0)) await replica.kill()
})

/** One process, and what it has told so far. */
class Replica extends EventEmitter<{ told: [] }> {
  readonly lines: ReplicaLine[] = []
  readonly #child: ChildProcess

  constructor(order: Omit<ReplicaOrder, 'url' | 'bucket'>) {
    super()
    const { url, bucket } = stage
    const loaders = ['--import', 'tsx', '--import', './test/support/wasm-as-hex.mjs']
    const script = join(import.meta.dirname, 'replica.ts')
    const argument = JSON.stringify({ ...order, url, bucket })
    this.#child = spawn(process.execPath, [...loaders, script, argument], {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    if (!this.#child.stdout) throw new Error('a replica has no output')
    createInterface(this.#child.stdout).on('line', (line) => {
      this.lines.push(JSON.parse(line))
      this.emit('told')
    })
    processes.push(this)
  }

  /** Resolves once it has told something wanted. */
  async told(isWanted: (line: ReplicaLine) => boolean): Promise<ReplicaLine> {
    for (;;) {
      const line = this.lines.find(isWanted)
      if (line) return line
      await once(this, 'told')
    }
  }

  /** Lets it end its ticks. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.write('stop\n')
    await ended
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}

async function replicas(count: number, order: Omit<ReplicaOrder, 'url' | 'bucket'>) {
  const started = Array.from({ length: count }, () => new Replica(order))
  await Promise.all(started.map((replica) => replica.told((line) => 'ready' in line)))
  return started
}

/** The slots of all runs that began. */
function slotsBegun(from: readonly Replica[]): number[] {
  const slots = from.flatMap(({ lines }) =>
    lines.flatMap((line) => {
      const slot = 'begun' in line ? readRunKey('count', line.begun) : undefined
      return typeof slot === 'number' ? [slot] : []
    }),
  )
  return slots.sort((a, b) => a - b)
}

const failures = (from: readonly Replica[]) =>
  from.flatMap(({ lines }) => lines.filter((line) => 'failed' in line))

/** Resolves when a run of a slot from `until` on has begun. */
async function reached(from: readonly Replica[], until: number): Promise<void> {
  const isThere = (line: ReplicaLine) =>
    'begun' in line && Number(readRunKey('count', line.begun)) >= until
  await Promise.race(from.map((replica) => replica.told(isThere)))
}

describe.each([
  [2, 'skip'],
  [5, 'skip'],
  [5, 'queue'],
] as const)('%i processes with %s', (count, overlap) => {
  test(
    `run every slot of a cadence of ${EVERY_MS} ms once`,
    async () => {
      const order = { every: String(EVERY_MS), overlap, lockTtlMs: 300_000, tickMs: 5 }
      const started = await replicas(count, order)
      // Slots that were due while the last one was starting are not judged.
      const first = Math.ceil(Date.now() / EVERY_MS + 1) * EVERY_MS
      const last = first + Math.floor(SOAK_MS / EVERY_MS) * EVERY_MS
      await reached(started, last + 10 * EVERY_MS)
      await Promise.all(started.map((replica) => replica.stop()))
      const judged = slotsBegun(started).filter((slot) => slot >= first && slot <= last)
      const due = Array.from(
        { length: (last - first) / EVERY_MS + 1 },
        (_, i) => first + i * EVERY_MS,
      )
      expect(judged).toEqual(due)
      expect(failures(started)).toEqual([])
    },
    TEST_MS_MAX,
  )
})

describe('a process that is killed', () => {
  test(
    'loses its run to one of the others, after lockTtlMs',
    async () => {
      const lockTtlMs = 1500
      const order = { every: '60000', overlap: 'skip', lockTtlMs, tickMs: 0 } as const
      const [holder] = await replicas(1, { ...order, every: '500', tickMs: 600_000 })
      const begun = await holder?.told((line) => 'begun' in line && !line.begun.includes('manual'))
      const key = begun && 'begun' in begun ? begun.begun : ''
      const others = await replicas(3, order)
      await holder?.kill()
      const killedAt = Date.now()
      const takenOver = others.map((other) => other.told((l) => 'ended' in l && l.ended === key))
      await Promise.race(takenOver)
      const waitedMs = Date.now() - killedAt
      await stage.marker(key, ({ completedAt }) => completedAt !== undefined)
      await Promise.all(others.map((other) => other.stop()))
      const runs = others.flatMap(({ lines }) =>
        lines.filter((l) => 'begun' in l && l.begun === key),
      )
      expect(runs).toEqual([{ begun: key }])
      // Its last renewal may be as old as a third of the time it had.
      expect(waitedMs).toBeGreaterThan((lockTtlMs * 2) / 3 - 100)
      expect(failures(others)).toEqual([])
    },
    TEST_MS_MAX,
  )
})
