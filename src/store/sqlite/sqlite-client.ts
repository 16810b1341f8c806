// What the store needs of an SQLite driver: two methods that better-sqlite3's Database and
// node:sqlite's DatabaseSync both have. Drivers are loaded here only, and on the first start.

import { CronfenceError } from '../../errors.ts'
import { storeError } from './sqlite-errors.ts'

/** What is bound to a statement. */
export type SqliteValue = string | number | null | Uint8Array

/** A statement as the drivers type it: each has its own idea of what can be bound. */
export interface SqliteStatement {
  get(...values: never[]): unknown
  all(...values: never[]): unknown
  run(...values: never[]): unknown
}

/** An open database: a `Database` of better-sqlite3, a `DatabaseSync` of node:sqlite, or alike. */
export interface SqliteClient {
  exec(sql: string): unknown
  prepare(sql: string): SqliteStatement
}

/** The drivers that the store can load by itself. */
export type SqliteDriver = 'better-sqlite3' | 'node:sqlite'

/** A client that the store opened and will close. */
export interface OwnedClient extends SqliteClient {
  close(): unknown
}

type Constructor = new (file: string) => OwnedClient

/**
 * Opens `file` with the driver asked for, else with better-sqlite3 when it is there and works, else
 * with node:sqlite. Throws `STORE_DRIVER_MISSING`, or a `CronfenceError` about the file.
 */
export async function openFile(file: string, driver?: SqliteDriver): Promise<OwnedClient> {
  const drivers: SqliteDriver[] = driver ? [driver] : ['better-sqlite3', 'node:sqlite']
  const failures: unknown[] = []
  for (const name of drivers) {
    let Database: Constructor
    try {
      Database = await loadDriver(name)
    } catch (error) {
      failures.push(error)
      continue
    }
    try {
      return new Database(file)
    } catch (error) {
      throw storeError(`Cannot open the SQLite file ${file}`, error, 'CANTOPEN')
    }
  }
  throw new CronfenceError(
    'STORE_DRIVER_MISSING',
    `SQLiteStore needs a driver and ${drivers.join(' and ')} could not be loaded: ` +
      'run `npm install better-sqlite3`, or use a Node that has node:sqlite (22.13 or newer).',
    { cause: failures[0] },
  )
}

// The names are in variables so that bundlers and compilers leave the two imports alone: neither
// module exists everywhere.
async function loadDriver(name: SqliteDriver): Promise<Constructor> {
  if (name === 'node:sqlite') {
    return ((await import(name)) as { DatabaseSync: Constructor }).DatabaseSync
  }
  const { default: Database } = (await import(name)) as { default: Constructor }
  new Database(':memory:').close() // Its native part is loaded, or fails, only here.
  return Database
}

/** A statement as the store calls it. */
export interface PreparedStatement {
  get(...values: SqliteValue[]): unknown
  all(...values: SqliteValue[]): unknown
  run(...values: SqliteValue[]): unknown
}

/** Prepares `sql`; integers are read exactly where the driver would otherwise throw at 2^53. */
export function prepared(client: SqliteClient, sql: string): PreparedStatement {
  const statement = client.prepare(sql) as PreparedStatement & {
    setReadBigInts?(enabled: boolean): void
  }
  statement.setReadBigInts?.(true)
  return statement
}
