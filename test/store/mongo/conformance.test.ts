// MongoDB against the contract, over two clients, on collections that are emptied for each case.

import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { MongoStore } from '../../../src/store/mongo/index.ts'
import {
  declareCases,
  type LeaseSuite,
  leaseProviderCases,
  type StoreSuite,
  scheduleStoreCases,
  VirtualClock,
} from '../../../src/testing/index.ts'
import { MongoStage } from './stage.ts'

const stage = new MongoStage('conformance')
const clients: MongoClient[] = []

beforeAll(async () => {
  for (let count = 0; count < 2; count++) clients.push(new MongoClient(stage.url))
  await open(0).start()
}, 300_000)
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
})

function open(index: number, clock?: VirtualClock): MongoStore {
  const client = clients[index % clients.length] as MongoClient
  return stage.store({ client, ...(clock ? { clock } : {}) })
}

const schedules: StoreSuite = {
  supports: { batch: true, clients: true, seeding: true },
  async open(rows) {
    await stage.empty()
    await stage.put(rows)
    let opened = 0
    return {
      store: open(0).schedules(),
      another: async () => open(++opened).schedules(),
      close: async () => {},
    }
  },
}

const leases: LeaseSuite = {
  async open() {
    await stage.empty()
    const clock = new VirtualClock('2026-01-01')
    return {
      provider: open(0, clock).leases(),
      another: async () => open(1, clock).leases(),
      advance: (ms) => clock.advance(ms),
      close: async () => {},
    }
  },
}

declareCases(scheduleStoreCases(schedules), { describe, it })
declareCases(leaseProviderCases(leases), { describe, it })
