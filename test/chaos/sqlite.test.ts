// Real processes on one SQLite file: killed, stopped and restarted at random moments, two hundred
// times, and not one promise broken. CRONFENCE_CHAOS_ROUNDS and _SEED choose another run. What the
// store did is not inferred here: a trigger keeps the order of its writes.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'
import { checkAudit, type Write } from './audit-checker.ts'
import { report } from './report.ts'
import { runChaos } from './run.ts'
import { PLANS } from './tasks.ts'

const ROUNDS = Number(process.env.CRONFENCE_CHAOS_ROUNDS ?? 200)
const SEED = Number(process.env.CRONFENCE_CHAOS_SEED ?? 20_261_129)

const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'cronfence-chaos-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const AUDIT = `
  CREATE TABLE audit (seq INTEGER PRIMARY KEY, id TEXT, token_before, owner_before,
    lease_before, next_before, updated_before, token_after, owner_after, lease_after,
    next_after, updated_after);
  CREATE TRIGGER audit AFTER UPDATE ON schedules BEGIN
    INSERT INTO audit VALUES (NULL, CAST(old.id AS TEXT), old.fencing_token, old.lease_owner,
      old.lease_until, old.next_run_at, old.updated_at, new.fencing_token, new.lease_owner,
      new.lease_until, new.next_run_at, new.updated_at);
  END`

function auditOf(file: string): Write[] {
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

describe(`replicas on one SQLite file, seed ${SEED}`, () => {
  it(`keep every promise through ${ROUNDS} faults`, { timeout: 600_000 }, async () => {
    const result = await runChaos({
      ...{ store: 'sqlite', plan: 'dense', seed: SEED, replicas: 4, folder },
      ...{ rounds: ROUNDS, lengthMs: Infinity, pauseMs: [200, 900] },
      onReady: (file) => void new Database(file).exec(AUDIT).close(),
    })
    const { summary, history } = report(result)
    console.log(summary)
    expect(history).toBe('')
    const { violations, counts } = checkAudit(PLANS.dense, auditOf(result.url), result.facts)
    expect(violations).toEqual([])
    // Two records, two checkers, one run.
    expect(result.counts).toMatchObject({ takeOvers: counts.takeOvers, commits: counts.commits })
    // The faults have met their targets.
    expect(counts.takeOvers).toBeGreaterThan(ROUNDS / 4)
    expect(result.counts.staleCommits).toBeGreaterThan(0)
    expect(result.counts.abortMsMax).toBeGreaterThan(0)
  })
})
