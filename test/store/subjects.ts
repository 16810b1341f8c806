// The bundled stores that need no server, as subjects of the conformance suite.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryLeaseProvider } from '../../src/store/memory/memory-lease-provider.ts'
import { MemoryScheduleStore } from '../../src/store/memory/memory-schedule-store.ts'
import { SQLiteStore, type SqliteDriver } from '../../src/store/sqlite/index.ts'
import { openFile } from '../../src/store/sqlite/sqlite-client.ts'
import { valuesOf } from '../../src/store/sqlite/sqlite-rows.ts'
import { prepareStatements, tablesOf } from '../../src/store/sqlite/sqlite-statements.ts'
import type { ScheduleRecord } from '../../src/store/store.ts'
import { type LeaseSuite, type StoreSuite, VirtualClock } from '../../src/testing/index.ts'

export const memorySuite: StoreSuite = {
  supports: { batch: true, clients: false, seeding: true, strict: true },
  open: async (rows) => ({ store: new MemoryScheduleStore(rows), close: async () => {} }),
}

export const memoryLeases: LeaseSuite = {
  async open() {
    const clock = new VirtualClock('2026-01-01')
    return {
      provider: new MemoryLeaseProvider({ clock }),
      advance: (ms) => clock.advance(ms),
      close: async () => {},
    }
  },
}

// In memory where the system has such a folder: these tests are about order, not about disks.
const SCRATCH = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A folder of its own, and the way to remove it. */
export function scratch(): { file: string; folder: string; remove(): void } {
  const folder = mkdtempSync(join(SCRATCH, 'cronfence-'))
  return {
    folder,
    file: join(folder, 'test.db'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Writes rows as they are, past the store. */
export async function writeRows(
  file: string,
  rows: readonly ScheduleRecord[],
  driver: SqliteDriver,
): Promise<void> {
  const client = await openFile(file, driver)
  const { putRow } = prepareStatements(client, tablesOf(''))
  for (const row of rows) putRow.run(...valuesOf(row))
  client.close()
}

export const sqliteSuite = (driver: SqliteDriver): StoreSuite => ({
  supports: { batch: true, clients: true, seeding: true, strict: true },
  async open(rows) {
    const { file, remove } = scratch()
    const stores = [new SQLiteStore({ file, driver })]
    const [first] = stores as [SQLiteStore]
    await first.start()
    await writeRows(file, rows, driver)
    return {
      store: first.schedules(),
      async another() {
        const other = new SQLiteStore({ file, driver })
        stores.push(other)
        return other.schedules()
      },
      async close() {
        await Promise.all(stores.map((store) => store.stop()))
        remove()
      },
    }
  },
})

export const sqliteLeases = (driver: SqliteDriver): LeaseSuite => ({
  async open() {
    const clock = new VirtualClock('2026-01-01')
    const { file, remove } = scratch()
    const stores = [0, 1].map(() => new SQLiteStore({ file, driver, clock })) as [
      SQLiteStore,
      SQLiteStore,
    ]
    return {
      provider: stores[0].leases(),
      another: async () => stores[1].leases(),
      advance: (ms) => clock.advance(ms),
      async close() {
        await Promise.all(stores.map((store) => store.stop()))
        remove()
      },
    }
  },
})
