// Real processes on one SQLite file: killed, stopped and restarted at random moments, two hundred
// times, and not one promise broken. CRONFENCE_CHAOS_ROUNDS and _SEED choose another run.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'
import { wasmAsHex } from '../../tsup.config.ts'
import { check, type Fact, type Write } from './checker.ts'
import { LEASE_MS, TASKS } from './tasks.ts'

const ROUNDS = Number(process.env.CRONFENCE_CHAOS_ROUNDS ?? 200)
const SEED = Number(process.env.CRONFENCE_CHAOS_SEED ?? 20_261_129)
const REPLICAS = 4

const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'cronfence-chaos-'))
const file = join(folder, 'chaos.db')
const log = join(folder, 'facts.jsonl')
// Inside the project, where the driver can be found from.
const program = join(
  import.meta.dirname,
  `../../node_modules/.cache/cronfence/replica-${process.pid}.mjs`,
)

const AUDIT = `
  CREATE TABLE audit (seq INTEGER PRIMARY KEY, id TEXT, token_before, owner_before,
    lease_before, next_before, updated_before, token_after, owner_after, lease_after,
    next_after, updated_after);
  CREATE TRIGGER audit AFTER UPDATE ON schedules BEGIN
    INSERT INTO audit VALUES (NULL, CAST(old.id AS TEXT), old.fencing_token, old.lease_owner,
      old.lease_until, old.next_run_at, old.updated_at, new.fencing_token, new.lease_owner,
      new.lease_until, new.next_run_at, new.updated_at);
  END`

/** A stream of numbers from 0 to 1 that is the same for the same seed (mulberry32). */
function randomStream(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const random = randomStream(SEED)

/** A place for one replica: always a process, except for a moment while it is replaced. */
class Seat {
  #listens: Promise<unknown> = Promise.resolve()
  #child: ChildProcess = this.#spawn()
  /** A fault is under way; it does not meet another. */
  isBusy = false

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
    this.#child = this.#spawn()
  }

  async restart(): Promise<void> {
    await this.stop()
    this.#child = this.#spawn()
  }

  async freeze(ms: number): Promise<void> {
    this.#child.kill('SIGSTOP')
    await pause(ms)
    this.#child.kill('SIGCONT')
  }

  /** Resolves when the replica has stopped by itself. */
  async stop(): Promise<void> {
    await this.#listens // Before that, the signal would end it as any process.
    expect(await this.#end('SIGTERM')).toEqual([0, null])
  }

  abandon(): void {
    this.#child.kill('SIGKILL')
  }

  async #end(signal: NodeJS.Signals): Promise<unknown[]> {
    const ended = once(this.#child, 'exit')
    this.#child.kill(signal)
    return ended
  }

  #spawn(): ChildProcess {
    const child = spawn(process.execPath, [program, file, log], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#listens = once(child.stdout, 'data')
    return child
  }
}

const seats: Seat[] = []

beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, 'replica.ts')],
    outfile: program,
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20' },
    plugins: [wasmAsHex],
    external: ['better-sqlite3'],
    logLevel: 'error',
  })
  const store = new SQLiteStore({ file })
  await store.start()
  await store.stop()
  new Database(file).exec(AUDIT).close()
})

afterAll(() => {
  for (const seat of seats) seat.abandon()
  rmSync(program, { force: true })
  rmSync(folder, { recursive: true, force: true })
})

const facts = (): Fact[] =>
  readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

function audit(): Write[] {
  const database = new Database(file, { readonly: true })
  const rows = database.prepare('SELECT * FROM audit ORDER BY seq').raw().all() as unknown[][]
  database.close()
  const row = ([token, owner, leaseUntil, nextRunAt, updatedAt]: unknown[]) =>
    ({ token, owner, leaseUntil, nextRunAt, updatedAt }) as Write['before']
  return rows.map((values) => ({
    id: values[1] as string,
    before: row(values.slice(2, 7)),
    after: row(values.slice(7)),
  }))
}

/** One fault on one seat. */
async function fault(seat: Seat): Promise<void> {
  const kind = random()
  seat.isBusy = true
  if (kind < 0.45) await seat.kill()
  else if (kind < 0.9) await seat.freeze(LEASE_MS * (0.3 + 2.7 * random()))
  else await seat.restart()
  seat.isBusy = false
}

/** Waits until no slot is overdue and each delay has run; after half a minute, lists those left. */
async function caughtUp(): Promise<string[]> {
  const database = new Database(file, { readonly: true })
  const overdue = database
    .prepare(
      `SELECT CAST(id AS TEXT) FROM schedules
        WHERE next_run_at < ? OR kind = ? AND last_run_at IS NULL`,
    )
    .pluck()
  let left: string[] = []
  for (let tries = 0; tries < 300; tries++) {
    left = overdue.all(Date.now() - 2 * LEASE_MS, 'delay') as string[]
    if (left.length === 0) break
    await pause(100)
  }
  database.close()
  return left
}

describe(`replicas on one SQLite file, seed ${SEED}`, () => {
  it(`keep every promise through ${ROUNDS} faults`, { timeout: 600_000 }, async () => {
    for (let index = 0; index < REPLICAS; index++) seats.push(new Seat())
    const faults: Promise<void>[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await pause(200 + 700 * random())
      const free = seats.filter(({ isBusy }) => !isBusy)
      const seat = free[Math.floor(random() * free.length)]
      if (seat) faults.push(fault(seat))
    }
    await Promise.all(faults)
    expect(await caughtUp()).toEqual([])
    await Promise.all(seats.map((seat) => seat.stop()))

    const heard = facts()
    const { violations, counts } = check(TASKS, audit(), heard)
    expect(violations).toEqual([])
    const count = (what: Fact['what']) => heard.filter((fact) => fact.what === what).length
    const tally = {
      ...counts,
      faults: faults.length,
      starts: count('started'),
      rejected: count('commit-rejected'),
      lost: count('lease-lost'),
      storeErrors: count('store-error'),
    }
    console.log(tally)
    // The faults have met their targets.
    expect(tally.takeOvers).toBeGreaterThan(ROUNDS / 4)
    expect(tally.rejected).toBeGreaterThan(0)
    expect(tally.lost).toBeGreaterThan(0)
  })
})
