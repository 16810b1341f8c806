// What the store needs of a MySQL driver: the few methods of mysql2's promise pool that it calls.
// The driver is loaded here, on the first start, and nowhere else.

import { CronfenceError } from '../../errors.ts'

/** What is bound to a statement. Text goes as bytes, which no character set or SQL mode touches. */
export type MysqlValue = number | null | Uint8Array | readonly MysqlValue[]

/** A statement and its values. */
export interface MysqlQuery {
  readonly sql: string
  readonly values?: readonly MysqlValue[]
}

/** A connection that was taken from a pool: mysql2's `PoolConnection`, or one like it. */
export interface MysqlClient {
  /** Answers the rows, or what was done, first. */
  query(query: MysqlQuery): Promise<readonly [unknown, unknown]>
  /** Gives it back. */
  release(): void
  /** Closes it at once. */
  destroy(): void
}

/** Connections to one database: the pool of `mysql2/promise`, or one like it. */
export interface MysqlPool {
  getConnection(): Promise<MysqlClient>
}

interface DriverModule {
  createPool(options: Readonly<Record<string, unknown>>): MysqlPool & { end(): Promise<void> }
}

/** A pool of the driver. It connects on demand. Throws `STORE_DRIVER_MISSING`. */
export async function openPool(
  url: string,
  connectionsMax: number,
): Promise<MysqlPool & { end(): Promise<void> }> {
  const { createPool } = await loadDriver()
  return createPool({ uri: url, connectionLimit: connectionsMax })
}

async function loadDriver(): Promise<DriverModule> {
  try {
    return ((await import('mysql2/promise')) as unknown as { default: DriverModule }).default
  } catch (cause) {
    throw new CronfenceError(
      'STORE_DRIVER_MISSING',
      'MysqlStore needs the driver mysql2, which could not be loaded: run `npm install mysql2`.',
      { cause },
    )
  }
}
