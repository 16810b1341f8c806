// A NATS server that is stopped, killed and started again under replicas at work: they say so, and
// go on by themselves when it is back; what was confirmed is still there, no token comes twice.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NatsStore } from '../../../src/store/nats/index.ts'
import { ownNatsServer } from '../../support/nats-server.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { ClaimsAtWork } from '../claims-at-work.ts'
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
    const work = new ClaimsAtWork('a')
    const workers = stores.map((store, index) => work.run(store.schedules(), `replica ${index}`))
    for (const signal of ENDINGS) {
      await work.more('commits', 20)
      await server.pause(signal)
      await work.more('failures', REPLICAS)
      await server.start()
    }
    await work.more('commits', 20)
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
