// A server that is stopped, killed and started again under replicas at work: they say so, and go on
// by themselves when it is back; what was confirmed is still there, and no token comes twice.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServerStore } from '../../../src/store/server-store.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { mariadb, postgres } from './dialect.ts'

const REPLICAS = 3
const RESTARTS = 4

describe.each([postgres, mariadb])('$name', (dialect) => {
  let server: RunningDatabase
  beforeAll(async () => {
    server = await dialect.startServer()
  }, 300_000)
  afterAll(() => server.stop())

  const open = () =>
    dialect.store({ url: server.url, tablePrefix: 'r_', timeoutMs: 2000, onWarning: () => {} })

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
      for (const store of stores) await store.start()
      const id = 'worked on'
      await stores[0]?.schedules().register({ id, kind: 'every', spec: '1', nextRunAt: 0 }, 0)
      const work = new Work(id)
      const workers = stores.map((store, index) => work.run(store, `replica ${index}`))
      for (let restart = 0; restart < RESTARTS; restart++) {
        await work.commitsMore(20)
        await server.pause(restart % 2 === 0 ? 'SIGKILL' : undefined)
        await work.failsMore(REPLICAS)
        await server.start()
      }
      await work.commitsMore(20)
      work.isOver = true
      await Promise.all(workers)
      expect(work.strange).toEqual([])
      const tokens = work.granted
      expect(new Set(tokens).size).toBe(tokens.length)
      const row = await stores[0]?.schedules().get(id)
      expect(row?.fencingToken).toBeGreaterThanOrEqual(Math.max(...tokens))
      expect(row?.lastRunAt).toBeGreaterThanOrEqual(work.lastConfirmed)
      for (const store of stores) await store.stop()
    }, 120_000)
  })
})

/** Claims and commits of one task by several replicas, and what they heard. */
class Work {
  readonly #id: string
  readonly granted: number[] = []
  /** Errors of a kind that a restart does not explain. */
  readonly strange: unknown[] = []
  /** The highest token whose commit was confirmed; it is also the slot that was committed. */
  lastConfirmed = 0
  isOver = false
  #commits = 0
  #failures = 0
  #waiting: (() => void)[] = []

  constructor(id: string) {
    this.#id = id
  }

  async run(store: ServerStore, owner: string): Promise<void> {
    const schedules = store.schedules()
    for (let now = 1; !this.isOver; now += 10) {
      try {
        const claim = await schedules.claimDue(this.#id, owner, now, 1)
        if (!claim) continue
        const { fencingToken } = claim
        this.granted.push(fencingToken)
        const patch = { nextRunAt: 0, lastRunAt: fencingToken }
        if (!(await schedules.complete(this.#id, fencingToken, patch, now))) continue
        this.#commits++
        this.lastConfirmed = Math.max(this.lastConfirmed, fencingToken)
      } catch (error) {
        this.#failures++
        const { code } = error as { code?: string }
        if (!/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/.test(code ?? '')) this.strange.push(error)
        await new Promise(setImmediate)
      }
      for (const wake of this.#waiting.splice(0)) wake()
    }
  }

  commitsMore(count: number): Promise<void> {
    const until = this.#commits + count
    return this.#when(() => this.#commits >= until)
  }

  failsMore(count: number): Promise<void> {
    const until = this.#failures + count
    return this.#when(() => this.#failures >= until)
  }

  async #when(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((wake) => this.#waiting.push(wake))
  }
}
