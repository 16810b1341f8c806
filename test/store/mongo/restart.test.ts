// A server that is stopped, killed and started again under replicas at work: they say so, and go on
// by themselves when it is back; what was confirmed is still there, and no token comes twice.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMongo } from '../../support/mongo.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { serverUrl } from '../../support/server-url.ts'
import { ClaimsAtWork } from '../claims-at-work.ts'
import { dueTask, MongoStage } from './stage.ts'

const REPLICAS = 3
const RESTARTS = 4

const stage = new MongoStage('restart')
let server: RunningDatabase
beforeAll(async () => {
  server = await startMongo({ postgresUrl: () => serverUrl('postgres') })
}, 300_000)
afterAll(() => server.stop())

// By default the driver lets half a second pass before it looks at a lost server again.
const open = () => stage.store({ url: `${server.url}?minHeartbeatFrequencyMS=10`, timeoutMs: 1000 })

describe('a server', () => {
  it('that is gone at boot is waited for by trying again, with the same store', async () => {
    await server.pause()
    const store = open()
    await expect(store.start()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await server.start()
    await store.start()
    expect(await store.schedules().list()).toEqual([])
  })

  it('that is stopped or killed under work loses nothing that was confirmed', async () => {
    const stores = Array.from({ length: REPLICAS }, open)
    for (const store of stores) await store.start()
    await stores[0]?.schedules().register(dueTask('worked on'), 0)
    const work = new ClaimsAtWork('worked on')
    const workers = stores.map((store, index) => work.run(store.schedules(), `replica ${index}`))
    for (let restart = 0; restart < RESTARTS; restart++) {
      await work.more('commits', 10)
      await server.pause(restart % 2 === 0 ? 'SIGKILL' : undefined)
      await work.more('failures', REPLICAS)
      await server.start()
    }
    await work.more('commits', 10)
    work.isOver = true
    await Promise.all(workers)
    expect(work.strange).toEqual([])
    expect(new Set(work.granted).size).toBe(work.granted.length)
    // One of those that worked may not have found the server again yet.
    const row = await open().schedules().get('worked on')
    expect(row?.fencingToken).toBeGreaterThanOrEqual(Math.max(...work.granted))
    expect(row?.lastRunAt).toBeGreaterThanOrEqual(work.lastConfirmed)
  }, 120_000)
})
