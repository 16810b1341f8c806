// A bucket with three copies on a NATS cluster: servers that are killed under the real engine, and
// copies that lag behind.

import { type KV, Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NatsStore } from '../../../src/store/nats/index.ts'
import { keyOf } from '../../../src/store/nats/stored-value.ts'
import { type ClusterNode, type NatsCluster, startNatsCluster } from '../../support/nats-cluster.ts'
import { startProxy } from '../../support/proxy.ts'
import { EngineAtWork, TIMEOUT_MS } from '../engine-at-work.ts'
import { EVERY } from './stage.ts'

const STALE_READS = 3

let cluster: NatsCluster
let admin: NatsConnection
let bucket = ''
let count = 0
const stores: NatsStore[] = []

beforeAll(async () => {
  cluster = await startNatsCluster()
  admin = await connect({ servers: [...cluster.urls], maxReconnectAttempts: -1 })
}, 300_000)
beforeEach(() => {
  bucket = `cluster-${count++}`
})
afterAll(async () => {
  for (const store of stores) await store.stop()
  await admin.close()
  await cluster.stop()
})

function open(servers: readonly string[] = cluster.urls, timeoutMs = TIMEOUT_MS): NatsStore {
  const connectOptions = { reconnectTimeWait: 50, reconnectJitter: 20 }
  const options = { servers, bucket, replicas: 3, timeoutMs, connectOptions }
  const store = new NatsStore(options)
  stores.push(store)
  return store
}

interface Manager {
  readonly streams: {
    info(name: string): Promise<{
      readonly config: object
      readonly cluster: { readonly leader?: string; readonly replicas: { current: boolean }[] }
    }>
  }
}

async function stream() {
  const manager = (await new Kvm(admin).js.jetstreamManager(false)) as unknown as Manager
  return manager.streams.info(`KV_${bucket}`)
}

/** The server that leads the bucket's stream, once all its copies are up to date. */
async function leader(): Promise<ClusterNode> {
  for (;;) {
    // No answer, while there is no leader to give one.
    const info = await stream().catch(() => undefined)
    const { leader: name, replicas = [] } = info?.cluster ?? {}
    const node = cluster.nodes.find((each) => each.name === name)
    if (node && replicas.length === 2 && replicas.every(({ current }) => current)) return node
  }
}

it('a bucket is made with three copies when three are asked for', async () => {
  await open().start()
  const { config, cluster: group } = await stream()
  expect(config).toMatchObject({ num_replicas: 3, storage: 'file', allow_direct: false })
  expect(group.replicas).toHaveLength(2)
})

describe('the engine', () => {
  it('goes on when the leader of its bucket is killed: no slot lost, no token twice', async () => {
    const engine = new EngineAtWork([open(), open()], 'a')
    await engine.start()
    for (let round = 0; round < 2; round++) {
      await engine.slots(3)
      const killed = await leader()
      await killed.pause('SIGKILL')
      // Two of three go on by themselves.
      await engine.slots(3)
      await killed.start()
    }
    await leader()
    await engine.slots(3)
    await engine.stop()
    expect(engine.violations()).toEqual([])
  }, 180_000)

  it('stands still when most servers are killed, and goes on when they are back', async () => {
    const engine = new EngineAtWork([open(), open()], 'a')
    await engine.start()
    for (const killed of [cluster.nodes.slice(1), cluster.nodes]) {
      await engine.slots(3)
      await Promise.all(killed.map((node) => node.pause('SIGKILL')))
      await engine.failure(/NatsStore/)
      await Promise.all(killed.map((node) => node.start()))
      await engine.slots(3)
    }
    await engine.stop()
    expect(engine.violations()).toEqual([])
  }, 180_000)
})

describe('a copy that lags behind', () => {
  it('answers direct gets with what was overwritten, and is never believed', async () => {
    const direct = await new Kvm(admin).create(bucket, { replicas: 3, allow_direct: true })
    // Each store goes by a server of its own.
    const schedules = cluster.urls.map((url) => open([url], 5000).schedules())
    const [mine] = schedules
    await mine?.register({ id: 'a', ...EVERY }, 0)
    let staleReads = 0
    for (let token = 1; staleReads < STALE_READS; token++) {
      const now = token * 10
      expect((await mine?.claimDue('a', 'me', now, 5))?.fencingToken).toBe(token)
      const [stale, ...rows] = await Promise.all([
        isStale(direct, token),
        ...schedules.map((each) => each.get('a')),
      ])
      if (stale) staleReads++
      expect(rows.map((row) => row?.fencingToken)).toEqual([token, token, token])
    }
  }, 180_000)
})

it('a list is read from the leader, since a watch is served by any copy', async () => {
  const proxy = await startProxy(cluster.nodes[0]?.port ?? 0)
  let sent = ''
  proxy.rule = (direction, bytes) => {
    if (direction === 'request') sent += bytes.toString('latin1')
    return 'pass'
  }
  const schedules = open([`nats://127.0.0.1:${proxy.port}`], 5000).schedules()
  const ids = Array.from({ length: 100 }, (_, index) => `task ${index}`)
  await schedules.registerMany(
    ids.map((id) => ({ id, ...EVERY })),
    0,
  )
  expect(await schedules.list()).toHaveLength(100)
  await Promise.all(ids.map((id) => schedules.delete(id)))
  expect(await schedules.list()).toEqual([])
  expect(sent).toContain('$JS.API.STREAM.MSG.GET.')
  expect(sent).not.toContain('$JS.API.CONSUMER.CREATE.')
  await proxy.close()
})

/** Whether one of several direct gets does not know of the newest claim. */
async function isStale(direct: KV, token: number): Promise<boolean> {
  const key = keyOf('schedule', 'a')
  const entries = await Promise.all(Array.from({ length: 6 }, () => direct.get(key)))
  return entries.some((entry) => entry?.json<{ fencingToken: number }>().fencingToken !== token)
}
