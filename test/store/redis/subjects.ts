// The two suites over a store on Redis: on a server or a cluster, with one driver or another.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type RedisClient, RedisStore } from '../../../src/store/redis/index.ts'
import type { ScheduleRecord } from '../../../src/store/store.ts'
import {
  declareCases,
  type LeaseSuite,
  leaseProviderCases,
  type StoreSuite,
  scheduleStoreCases,
  VirtualClock,
} from '../../../src/testing/index.ts'

/** A connected client, and its end. */
export interface TestClient {
  readonly client: RedisClient
  close(): unknown
}

/** A client that looks into the keys behind a store's back. */
export type Inspector = Pick<Redis, 'call' | 'del' | 'hset' | 'sadd' | 'keys' | 'hgetall'>

/** How the suites are run. */
export interface SuiteOptions {
  /** The server's URL, asked for once. */
  readonly url: () => Promise<string>
  readonly prefix: string
  /** Two of them are opened. */
  connect(url: string): Promise<TestClient>
  /** Default: one to the server. */
  inspect?(url: string): Promise<{ inspector: Inspector; close(): void }>
}

/** Declares the conformance suites. */
export function declareSuites(options: SuiteOptions): void {
  const { url, prefix, connect, inspect = inspectServer } = options
  const clients: TestClient[] = []
  let inspector: Inspector
  let endInspection = () => {}
  const store = (index: number, clock?: VirtualClock): RedisStore => {
    const { client } = clients[index % clients.length] as TestClient
    return new RedisStore({ client, prefix, onWarning: () => {}, ...(clock ? { clock } : {}) })
  }
  const suite: StoreSuite = {
    supports: { batch: true, clients: true, seeding: true, strict: true },
    async open(rows) {
      await emptyKeys(inspector, prefix)
      await writeRows(inspector, prefix, rows)
      let opened = 0
      const subject = store(0)
      return {
        store: subject.schedules(),
        another: async () => store(++opened).schedules(),
        close: async () => {},
      }
    },
  }
  const leases: LeaseSuite = {
    async open() {
      await emptyKeys(inspector, prefix)
      const clock = new VirtualClock('2026-01-01')
      return {
        provider: store(0, clock).leases(),
        another: async () => store(1, clock).leases(),
        advance: (ms) => clock.advance(ms),
        close: async () => {},
      }
    },
  }

  beforeAll(async () => {
    const address = await url()
    clients.push(await connect(address), await connect(address))
    const inspection = await inspect(address)
    inspector = inspection.inspector
    endInspection = inspection.close
  }, 300_000)
  afterAll(async () => {
    await emptyKeys(inspector, prefix)
    endInspection()
    await Promise.all(clients.map((each) => each.close()))
  })
  declareCases([...scheduleStoreCases(suite), ...leaseProviderCases(leases)], { describe, it })
}

async function inspectServer(url: string) {
  const inspector = new Redis(url)
  return { inspector, close: () => inspector.disconnect() }
}

/** Removes every key of a prefix. */
export async function emptyKeys(inspector: Inspector, prefix: string): Promise<void> {
  // The ids of the suites have every character that a pattern could have: all keys are looked at.
  const all = await inspector.keys('*')
  for (const key of all.filter((each) => each.startsWith(`{${prefix}}:`))) await inspector.del(key)
}

/** Writes records as they are, past the store. */
export async function writeRows(
  inspector: Inspector,
  prefix: string,
  rows: readonly ScheduleRecord[],
): Promise<void> {
  if (rows.length > 0) await inspector.hset(`{${prefix}}:meta`, { version: '1', floor: '0' })
  for (const row of rows) {
    await inspector.sadd(`{${prefix}}:ids`, row.id)
    await inspector.hset(`{${prefix}}:sched:${row.id}`, {
      ...{ kind: row.kind, spec: row.spec, nextRunAt: String(row.nextRunAt ?? '') },
      ...{ leaseOwner: row.leaseOwner ?? '', leaseUntil: String(row.leaseUntil ?? '') },
      ...{ fencingToken: String(row.fencingToken), lastRunAt: String(row.lastRunAt ?? '') },
      ...{ updatedAt: String(row.updatedAt), mark: '' },
    })
  }
}
