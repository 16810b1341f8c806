// NATS against the contract, over two connections, on a bucket that is emptied for each case.

import { type KV, Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { NatsStore } from '../../../src/store/nats/index.ts'
import { keyOf, textOf } from '../../../src/store/nats/stored-value.ts'
import {
  declareCases,
  type LeaseSuite,
  leaseProviderCases,
  type StoreSuite,
  scheduleStoreCases,
  VirtualClock,
} from '../../../src/testing/index.ts'
import { type NatsServer, natsServer } from '../../support/nats-server.ts'

const BUCKET = 'conformance'

let server: NatsServer
let kv: KV
const connections: NatsConnection[] = []

beforeAll(async () => {
  server = await natsServer()
  for (let count = 0; count < 2; count++) connections.push(await connect({ servers: server.url }))
  await open(0).start()
  kv = await new Kvm(connections[0] as NatsConnection).open(BUCKET)
}, 300_000)
afterAll(async () => {
  await kv.destroy()
  await Promise.all(connections.map((connection) => connection.close()))
  await server.stop()
})

function open(index: number, clock?: VirtualClock): NatsStore {
  const connection = connections[index % connections.length] as NatsConnection
  return new NatsStore({ connection, bucket: BUCKET, ...(clock ? { clock } : {}) })
}

/** Opens stores for one case on an empty bucket. */
async function empty(clock?: VirtualClock) {
  const { streams } = await (kv as unknown as { jsm: Manager }).jsm
  await streams.purge(`KV_${BUCKET}`)
  const stores: NatsStore[] = []
  return {
    another: async () => {
      const store = open(stores.length, clock)
      stores.push(store)
      return store
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.stop()))
    },
  }
}

interface Manager {
  readonly streams: { purge(name: string): Promise<unknown> }
}

const schedules: StoreSuite = {
  supports: { batch: true, clients: true, seeding: true, strict: true },
  async open(rows) {
    const { another, close } = await empty()
    for (const row of rows) await kv.put(keyOf('schedule', row.id), textOf(row, 'seed'))
    return {
      store: (await another()).schedules(),
      another: async () => (await another()).schedules(),
      close,
    }
  },
}

const leases: LeaseSuite = {
  async open() {
    const clock = new VirtualClock('2026-01-01')
    const { another, close } = await empty(clock)
    return {
      provider: (await another()).leases(),
      another: async () => (await another()).leases(),
      advance: (ms) => clock.advance(ms),
      close,
    }
  },
}

declareCases(scheduleStoreCases(schedules), { describe, it })
declareCases(leaseProviderCases(leases), { describe, it })
