// What the store needs of a PostgreSQL driver: the few methods of pg's Pool that it calls. The
// driver is loaded here, on the first start, and nowhere else.

import { CronfenceError } from '../../errors.ts'
import type { Row } from '../stored-row.ts'

/** What is bound to a statement. */
export type PostgresValue = string | number | null | readonly (string | number | null)[]

/** A statement and its values; without a name, so that no pooler has to remember it. */
export interface PostgresQuery {
  readonly text: string
  readonly values?: readonly PostgresValue[]
}

/** A connection that was taken from a pool: pg's `PoolClient`, or one like it. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly Row[] }>
  /** Gives it back; with `true` it is closed and not used again. */
  release(destroy?: boolean): void
  on?(event: 'error', listener: () => void): unknown
  off?(event: 'error', listener: () => void): unknown
}

/** Connections to one database: pg's `Pool`, or one like it. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
}

interface Driver {
  readonly Pool: new (
    options: Readonly<Record<string, unknown>>,
  ) => PostgresPool & {
    end(): Promise<void>
    on(event: 'error', listener: () => void): void
  }
}

/** A pool of the driver. It connects on demand. Throws `STORE_DRIVER_MISSING`. */
export async function openPool(
  url: string,
  connectionsMax: number,
): Promise<PostgresPool & { end(): Promise<void> }> {
  const { Pool } = await loadDriver()
  const pool = new Pool({
    connectionString: url,
    max: connectionsMax,
    keepAlive: true,
    application_name: 'cronfence',
    allowExitOnIdle: true,
  })
  // A server that goes away ends idle connections; the pool forgets those and opens others.
  pool.on('error', () => {})
  return pool
}

async function loadDriver(): Promise<Driver> {
  try {
    const { default: driver } = (await import('pg')) as unknown as { default: Driver }
    return driver
  } catch (cause) {
    throw new CronfenceError(
      'STORE_DRIVER_MISSING',
      'PostgresStore needs the driver pg, which could not be loaded: run `npm install pg`.',
      { cause },
    )
  }
}
