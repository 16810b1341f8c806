// The two suites over a store on NATS: on a server or a cluster, over two connections, on a bucket
// that is emptied for each case.

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

const BUCKET = 'cronfence-test-conformance'

/** How the suites are run. */
export interface SuiteOptions {
  /** Asked for once; connections go to its URLs in turn. */
  start(): Promise<{ readonly urls: readonly string[]; stop(): Promise<void> }>
  readonly replicas: number
}

interface Manager {
  readonly streams: { purge(name: string): Promise<unknown> }
}

/** Declares the conformance suites. */
export function declareSuites({ start, replicas }: SuiteOptions): void {
  let stop = async () => {}
  let kv: KV
  const connections: NatsConnection[] = []

  const open = (index: number, clock?: VirtualClock): NatsStore => {
    const connection = connections[index % connections.length] as NatsConnection
    return new NatsStore({ connection, bucket: BUCKET, replicas, ...(clock ? { clock } : {}) })
  }

  const empty = (clock?: VirtualClock) => emptied(kv, (index) => open(index, clock))

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

  beforeAll(async () => {
    const started = await start()
    stop = started.stop
    for (let index = 0; index < 2; index++) {
      const servers = started.urls[index % started.urls.length] ?? ''
      connections.push(await connect({ servers }))
    }
    const first = open(0)
    await first.start()
    await first.stop()
    kv = await new Kvm(connections[0] as NatsConnection).open(BUCKET)
  }, 300_000)
  afterAll(async () => {
    await kv.destroy()
    await Promise.all(connections.map((connection) => connection.close()))
    await stop()
  })
  declareCases([...scheduleStoreCases(schedules), ...leaseProviderCases(leases)], { describe, it })
}

/** Stores for one case, on a bucket without a value. */
async function emptied(kv: KV, open: (index: number) => NatsStore) {
  const { streams } = await (kv as unknown as { jsm: Manager }).jsm
  await streams.purge(`KV_${BUCKET}`)
  const stores: NatsStore[] = []
  return {
    another: async () => {
      const store = open(stores.length)
      stores.push(store)
      return store
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.stop()))
    },
  }
}
