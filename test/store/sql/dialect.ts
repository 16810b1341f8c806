// What the tests of the two SQL stores need to be written once: a database to look into behind a
// store's back, and stores over it.

import mysql from 'mysql2/promise'
import pg from 'pg'
import { type MysqlPool, MysqlStore } from '../../../src/store/mysql/index.ts'
import { type PostgresPool, PostgresStore } from '../../../src/store/postgres/index.ts'
import type { ServerStore, ServerStoreOptions } from '../../../src/store/server-store.ts'
import type { ScheduleRecord } from '../../../src/store/store.ts'
import { startMariadb } from '../../support/mariadb.ts'
import { startPostgres } from '../../support/postgres.ts'
import type { RunningDatabase } from '../../support/server.ts'

/** A row as the test's own connection sees it. */
export type TestRow = Record<string, unknown>

/** A pool of the test's own. */
export interface TestDatabase {
  readonly pool: PostgresPool | MysqlPool
  /** Runs one statement; its values stand for `?`. */
  run(sql: string, values?: readonly unknown[]): Promise<TestRow[]>
  /** A connection to hold a transaction on. */
  session(): Promise<{ run(sql: string): Promise<TestRow[]>; end(): Promise<void> }>
  end(): Promise<void>
}

/** Options of either store. */
export interface TestStoreOptions extends ServerStoreOptions {
  readonly url?: string
  readonly pool?: TestDatabase['pool']
  readonly tablePrefix?: string
}

/** One of the two. */
export interface Dialect {
  readonly name: string
  /** The name of the shared server. */
  readonly server: 'postgres' | 'mariadb'
  /** Starts a server for one test alone. */
  startServer(): Promise<RunningDatabase>
  open(url: string, options?: object): TestDatabase
  store(options: TestStoreOptions): ServerStore
}

export const postgres: Dialect = {
  name: 'PostgresStore',
  server: 'postgres',
  startServer: startPostgres,
  open(url, options) {
    const pool = new pg.Pool({ connectionString: url, max: 8, ...options })
    pool.on('error', () => {}) // Servers are ended under it.
    const numbered = (sql: string) => {
      let count = 0
      return sql.replace(/\?/g, () => `$${++count}`)
    }
    return {
      pool: pool as unknown as PostgresPool,
      run: async (sql, values = []) => (await pool.query(numbered(sql), [...values])).rows,
      async session() {
        const client = await pool.connect()
        return {
          run: async (sql) => (await client.query(sql)).rows,
          end: async () => client.release(true),
        }
      },
      end: () => pool.end(),
    }
  },
  store: (options) => new PostgresStore(options as { url: string }),
}

export const mariadb: Dialect = {
  name: 'MysqlStore',
  server: 'mariadb',
  startServer: startMariadb,
  open(url, options) {
    const pool = mysql.createPool({
      ...{ uri: url, connectionLimit: 8, supportBigNumbers: true },
      ...options,
    })
    return {
      pool: pool as unknown as MysqlPool,
      run: async (sql, values = []) => (await pool.query(sql, [...values]))[0] as TestRow[],
      async session() {
        const client = await pool.getConnection()
        return {
          run: async (sql) => (await client.query(sql))[0] as TestRow[],
          end: async () => client.destroy(),
        }
      },
      end: () => pool.end(),
    }
  },
  store: (options) => new MysqlStore(options as { url: string }),
}

/** Writes rows as they are, past the store. */
export async function writeRows(
  database: TestDatabase,
  table: string,
  rows: readonly ScheduleRecord[],
): Promise<void> {
  for (const row of rows) {
    await database.run(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`, [
      ...[row.id, row.kind, row.spec, row.nextRunAt, row.leaseOwner ?? null],
      ...[row.leaseUntil ?? null, row.fencingToken, row.lastRunAt ?? null, row.updatedAt],
    ])
  }
}

/** Empties the tables of a store that was started. */
export async function emptyTables(database: TestDatabase, tablePrefix: string): Promise<void> {
  await database.run(`DELETE FROM ${tablePrefix}schedules`)
  await database.run(`DELETE FROM ${tablePrefix}schedule_leases`)
  await database.run(`UPDATE ${tablePrefix}schedule_schema SET token_floor = 0`)
}

/** Removes the tables that a test left, if there are any. */
export async function dropTables(database: TestDatabase, tablePrefix: string): Promise<void> {
  for (const table of ['schedules', 'schedule_leases', 'schedule_schema']) {
    await database.run(`DROP TABLE IF EXISTS ${tablePrefix}${table}`)
  }
}
