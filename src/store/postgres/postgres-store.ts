// What users hold: a PostgreSQL database, and the parts of the library that live in it.

import { ServerStore, type ServerStoreOptions } from '../server-store.ts'
import { type SourceOptions, sourceOf } from '../source.ts'
import { tablesOf } from '../tables.ts'
import type { PostgresPool } from './postgres-client.ts'
import { PostgresConnection } from './postgres-connection.ts'
import { PostgresLeaseProvider } from './postgres-lease-provider.ts'
import { PostgresSchedules } from './postgres-schedules.ts'

/** Options of a {@link PostgresStore}: a `url`, or a `pool` of your own, such as pg's. */
export type PostgresStoreOptions = ServerStoreOptions &
  SourceOptions<PostgresPool> & {
    /** Put before the names of the tables. Letters, digits and `_`, 40 at most. Default none. */
    readonly tablePrefix?: string
  }

/**
 * Schedules and leases in a PostgreSQL database (12 or newer), for any number of replicas.
 *
 * Each call is one statement in a transaction of its own; a pooler in transaction mode may stand in
 * between. Methods reject with a `CronfenceError`: `STORE_UNAVAILABLE` when the server cannot be
 * reached or refused, and nothing was changed; `STORE_OUTCOME_UNKNOWN` when the connection ended
 * before the reply; `STORE_DRIVER_MISSING`; `STORE_FOREIGN_SCHEMA` or `STORE_NEWER_SCHEMA` for
 * tables that are not ours to change; `STORE_DAMAGED_RECORD` for a row that cannot be read;
 * `STORE_TOKEN_CEILING`; `STORE_CLOSED`.
 */
export class PostgresStore extends ServerStore {
  /** Connects to nothing yet. Throws a `TypeError` or `RangeError` for wrong options. */
  constructor(options: PostgresStoreOptions) {
    const tables = tablesOf(options.tablePrefix ?? '')
    const source = sourceOf(options, {
      store: 'PostgresStore',
      protocols: ['postgres:', 'postgresql:'],
    })
    super(({ clock, timeoutMs, onWarning }) => {
      const connection = new PostgresConnection({ source, tables, timeoutMs, onWarning })
      const schedules = new PostgresSchedules(connection, tables, clock)
      return {
        schedules,
        leases: new PostgresLeaseProvider(connection, tables, clock),
        open: () => connection.open(),
        close: () => connection.close(),
        purge: (olderThan) => schedules.purge(olderThan),
        serverNow: () => connection.serverNow(),
      }
    }, options)
  }
}
