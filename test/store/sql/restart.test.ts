// A server that is stopped, killed and started again under replicas at work: they say so, and go on
// by themselves when it is back; what was confirmed is still there, and no token comes twice.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningDatabase } from '../../support/server.ts'
import { ClaimsAtWork } from '../claims-at-work.ts'
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
      const work = new ClaimsAtWork(id)
      const workers = stores.map((store, index) => work.run(store.schedules(), `replica ${index}`))
      for (let restart = 0; restart < RESTARTS; restart++) {
        await work.more('commits', 20)
        await server.pause(restart % 2 === 0 ? 'SIGKILL' : undefined)
        await work.more('failures', REPLICAS)
        await server.start()
      }
      await work.more('commits', 20)
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
