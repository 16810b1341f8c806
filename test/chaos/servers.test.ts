// Real processes on real servers: the faults of the file's test, and those of a network and of a
// server besides. One run per store, all at the same time, for they mostly wait. More of them, and
// longer ones, by command: `npm run chaos`. CRONFENCE_CHAOS_SEED chooses another run; in that of
// the default each kind of fault comes up.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { report } from './report.ts'
import { runChaos } from './run.ts'
import { STORE_NAMES } from './store-names.ts'

const ROUNDS = 24
const SEED = Number(process.env.CRONFENCE_CHAOS_SEED ?? 20_261_196)

describe.concurrent(`replicas on a server, seed ${SEED}`, () => {
  const servers = STORE_NAMES.filter((name) => name !== 'sqlite')
  it.each(servers)(`keep every promise through ${ROUNDS} faults on %s`, async (store) => {
    const folder = mkdtempSync(join(tmpdir(), `cronfence-chaos-${store}-`))
    const result = await runChaos({
      ...{ store, plan: 'light', seed: SEED, replicas: 3, folder },
      ...{ rounds: ROUNDS, lengthMs: Infinity, pauseMs: [200, 1200] },
    })
    await result.end(false)
    const { summary, history, isClean } = report(result)
    console.log(`${store}: ${summary}`)
    if (isClean) rmSync(folder, { recursive: true, force: true })
    expect(isClean ? '' : `${history}\nThe log is in ${folder}`).toBe('')
    // The faults have met their targets.
    expect(result.counts.takeOvers).toBeGreaterThan(0)
    expect(result.counts.lostReplies).toBeGreaterThan(0)
  })
})
