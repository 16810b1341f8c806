// A SQL store as a subject of the conformance suites: two pools, as two processes would have, over
// tables that are emptied for each case.

import { afterAll, beforeAll, describe, it } from 'vitest'
import type { ServerStore } from '../../../src/store/server-store.ts'
import {
  type ConformanceCase,
  declareCases,
  type LeaseSuite,
  leaseProviderCases,
  type StoreSuite,
  scheduleStoreCases,
  VirtualClock,
} from '../../../src/testing/index.ts'
import { type Dialect, dropTables, emptyTables, type TestDatabase, writeRows } from './dialect.ts'

/** How the suites are run. */
export interface SuiteOptions {
  /** The server's URL, asked for once. */
  readonly url: () => Promise<string>
  readonly tablePrefix: string
  /** For the driver's pools. */
  readonly poolOptions?: object
  /** Which cases; default all. */
  readonly only?: (each: ConformanceCase) => boolean
}

/** Declares the conformance suites over a dialect. */
export function declareSuites(dialect: Dialect, options: SuiteOptions): void {
  const { url, tablePrefix, poolOptions, only = () => true } = options
  const databases: TestDatabase[] = []
  const database = (index: number) => databases[index % databases.length] as TestDatabase
  const store = (index: number, clock?: VirtualClock): ServerStore =>
    dialect.store({
      ...{ pool: database(index).pool, tablePrefix, onWarning: () => {} },
      ...(clock ? { clock } : {}),
    })
  const suite: StoreSuite = {
    supports: { batch: true, clients: true, seeding: true, strict: true },
    async open(rows) {
      await emptyTables(database(0), tablePrefix)
      await writeRows(database(0), `${tablePrefix}schedules`, rows)
      let clients = 0
      return {
        store: store(0).schedules(),
        another: async () => store(++clients).schedules(),
        close: async () => {},
      }
    },
  }
  const leases: LeaseSuite = {
    async open() {
      await emptyTables(database(0), tablePrefix)
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
    databases.push(dialect.open(address, poolOptions), dialect.open(address, poolOptions))
    await store(0).start()
  }, 300_000)
  afterAll(async () => {
    await dropTables(database(0), tablePrefix) // The server may be somebody's own.
    await Promise.all(databases.map((each) => each.end()))
  })
  const cases = [...scheduleStoreCases(suite), ...leaseProviderCases(leases)]
  declareCases(cases.filter(only), { describe, it })
}
