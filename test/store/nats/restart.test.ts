// A NATS server that is stopped, killed and started again under replicas at work: they say so, and
// go on by themselves when it is back; what was confirmed is still there, no token comes twice.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NatsStore } from '../../../src/store/nats/index.ts'
import { ownNatsServer } from '../../support/nats-server.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { EVERY } from './stage.ts'

const REPLICAS = 3
const ENDINGS = ['SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGTERM'] as const

let server: RunningDatabase
beforeAll(async () => {
  server = await ownNatsServer()
}, 300_000)
afterAll(() => server.stop())

const open = () =>
  new NatsStore({
    ...{ servers: server.url, bucket: 'restart', timeoutMs: 2000 },
    connectOptions: { reconnectTimeWait: 20, reconnectJitter: 20 },
  })

describe('a server', () => {
  it('that is gone at boot is waited for by trying again, with the same store', async () => {
    await server.pause()
    const store = open()
    await expect(store.start()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await server.start()
    await store.start()
    expect(await store.schedules().list()).toEqual([])
    await store.stop()
  })

  it('that is stopped or killed under work loses nothing that was confirmed', async () => {
    const stores = Array.from({ length: REPLICAS }, open)
    await stores[0]?.schedules().register({ id: 'a', ...EVERY }, 0)
    const work = new Work()
    const workers = stores.map((store, index) => work.run(store, `replica ${index}`))
    for (const signal of ENDINGS) {
      await work.atLeast('commits', 20)
      await server.pause(signal)
      await work.atLeast('failures', REPLICAS)
      await server.start()
    }
    await work.atLeast('commits', 20)
    work.isOver = true
    await Promise.all(workers)
    expect(work.strange).toEqual([])
    expect(new Set(work.granted).size).toBe(work.granted.length)
    const row = await stores[0]?.schedules().get('a')
    expect(row?.fencingToken).toBeGreaterThanOrEqual(Math.max(...work.granted))
    expect(row?.lastRunAt).toBeGreaterThanOrEqual(work.lastConfirmed)
    await Promise.all(stores.map((store) => store.stop()))
  })
})

/** Claims and commits of one task by several replicas, and what they heard. */
class Work {
  readonly granted: number[] = []
  /** Errors of a kind that a restart does not explain. */
  readonly strange: unknown[] = []
  /** The highest token whose commit was confirmed; it is also the slot that was committed. */
  lastConfirmed = 0
  isOver = false
  readonly #counts = { commits: 0, failures: 0 }
  #waiting: (() => void)[] = []

  async run(store: NatsStore, owner: string): Promise<void> {
    const schedules = store.schedules()
    for (let now = 1; !this.isOver; now += 10) {
      // A call that is refused at once lets nothing else have its turn.
      await new Promise(setImmediate)
      try {
        const claim = await schedules.claimDue('a', owner, now, 1)
        if (!claim) continue
        const { fencingToken } = claim
        this.granted.push(fencingToken)
        const patch = { nextRunAt: 0, lastRunAt: fencingToken }
        if (!(await schedules.complete('a', fencingToken, patch, now))) continue
        this.#counts.commits++
        this.lastConfirmed = Math.max(this.lastConfirmed, fencingToken)
      } catch (error) {
        this.#counts.failures++
        const { code } = error as { code?: string }
        if (!/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/.test(code ?? '')) this.strange.push(error)
      }
      for (const wake of this.#waiting.splice(0)) wake()
    }
  }

  /** Resolves after so many more. */
  async atLeast(kind: 'commits' | 'failures', count: number): Promise<void> {
    const until = this.#counts[kind] + count
    while (this.#counts[kind] < until) {
      await new Promise<void>((wake) => this.#waiting.push(wake))
    }
  }
}
