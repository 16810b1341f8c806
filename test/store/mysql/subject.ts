// MySQL as a subject of the conformance suites: two pools, as two processes would have.

import mysql from 'mysql2/promise'
import { type MysqlPool, MysqlStore } from '../../../src/store/mysql/index.ts'
import type { ScheduleRecord } from '../../../src/store/store.ts'
import { type LeaseSuite, type StoreSuite, VirtualClock } from '../../../src/testing/index.ts'

/** A pool of the tests' own; mysql2's types are wider than what the store asks for. */
export type TestPool = mysql.Pool & MysqlPool

/** Opens one. */
export function openPool(url: string, options: mysql.PoolOptions = {}): TestPool {
  return mysql.createPool({ uri: url, connectionLimit: 8, ...options }) as unknown as TestPool
}

/** Writes rows as they are, past the store. */
export async function writeRows(
  pool: TestPool,
  table: string,
  rows: readonly ScheduleRecord[],
): Promise<void> {
  for (const row of rows) {
    await pool.query(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`, [
      ...[row.id, row.kind, row.spec, row.nextRunAt, row.leaseOwner ?? null],
      ...[row.leaseUntil ?? null, row.fencingToken, row.lastRunAt ?? null, row.updatedAt],
    ])
  }
}

/** Empties the tables of a store that was started. */
export async function emptyTables(pool: TestPool, tablePrefix: string): Promise<void> {
  await pool.query(`DELETE FROM ${tablePrefix}schedules`)
  await pool.query(`DELETE FROM ${tablePrefix}schedule_leases`)
  await pool.query(`UPDATE ${tablePrefix}schedule_schema SET token_floor = 0`)
}

/** Pools of one test file, and how its suites open stores over them. */
export class MysqlSubjects {
  readonly tablePrefix: string
  #pools: readonly TestPool[] = []

  constructor(tablePrefix: string) {
    this.tablePrefix = tablePrefix
  }

  async connect(url: string, options?: mysql.PoolOptions): Promise<void> {
    this.#pools = [openPool(url, options), openPool(url, options)]
    await this.store(0).start()
  }

  async end(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()))
  }

  store(index: number, clock?: VirtualClock): MysqlStore {
    const pool = this.#pools[index % 2] as TestPool
    const { tablePrefix } = this
    return new MysqlStore({
      ...{ pool, tablePrefix, onWarning: () => {} },
      ...(clock ? { clock } : {}),
    })
  }

  readonly suite: StoreSuite = {
    supports: { batch: true, clients: true, seeding: true },
    open: async (rows) => {
      const [pool] = this.#pools as [TestPool]
      await emptyTables(pool, this.tablePrefix)
      await writeRows(pool, `${this.tablePrefix}schedules`, rows)
      let clients = 0
      return {
        store: this.store(0).schedules(),
        another: async () => this.store(++clients).schedules(),
        close: async () => {},
      }
    },
  }

  readonly leases: LeaseSuite = {
    open: async () => {
      await emptyTables((this.#pools as [TestPool])[0], this.tablePrefix)
      const clock = new VirtualClock('2026-01-01')
      return {
        provider: this.store(0, clock).leases(),
        another: async () => this.store(1, clock).leases(),
        advance: (ms) => clock.advance(ms),
        close: async () => {},
      }
    },
  }
}
