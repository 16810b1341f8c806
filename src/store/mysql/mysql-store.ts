// What users hold: a MySQL or MariaDB database, and the parts of the library that live in it.

import { ServerStore, type ServerStoreOptions } from '../server-store.ts'
import { type SourceOptions, sourceOf } from '../source.ts'
import { tablesOf } from '../tables.ts'
import type { MysqlPool } from './mysql-client.ts'
import { MysqlConnection } from './mysql-connection.ts'
import { MysqlLeaseProvider } from './mysql-lease-provider.ts'
import { MysqlSchedules } from './mysql-schedules.ts'

/**
 * Options of a {@link MysqlStore}: a `url`, or a `pool` of your own, such as that of
 * `mysql2/promise`. Make it a pool for the store alone: the sessions of its connections keep READ
 * COMMITTED and a lock wait of one second.
 */
export type MysqlStoreOptions = ServerStoreOptions &
  SourceOptions<MysqlPool> & {
    /** Put before the names of the tables. Lower case, digits and `_`, 40 at most. Default none. */
    readonly tablePrefix?: string
  }

/**
 * Schedules and leases in a database of MariaDB (10.6 or newer) or MySQL (8.0.16 or newer), for any
 * number of replicas.
 *
 * Each call is one short transaction. Methods reject with a `CronfenceError`: `STORE_UNAVAILABLE`
 * when the server cannot be reached or refused, and nothing was changed; `STORE_OUTCOME_UNKNOWN`
 * when the connection ended in the commit; `STORE_DRIVER_MISSING`; `STORE_FOREIGN_SCHEMA` or
 * `STORE_NEWER_SCHEMA` for tables that are not ours to change; `STORE_DAMAGED_RECORD` for a row
 * that cannot be read; `STORE_TOKEN_CEILING`; `STORE_CLOSED`.
 */
export class MysqlStore extends ServerStore {
  /** Connects to nothing yet. Throws a `TypeError` or `RangeError` for wrong options. */
  constructor(options: MysqlStoreOptions) {
    const tables = tablesOf(options.tablePrefix ?? '')
    if (/[A-Z]/.test(tables.schedules)) {
      throw new TypeError('tablePrefix: must be lower case: servers differ in whether case counts')
    }
    const source = sourceOf(options, {
      store: 'MysqlStore',
      protocols: ['mysql:', 'mariadb:'],
    })
    super(({ clock, timeoutMs, onWarning }) => {
      const connection = new MysqlConnection({ source, tables, timeoutMs, onWarning })
      const schedules = new MysqlSchedules(connection, tables, clock)
      return {
        schedules,
        leases: new MysqlLeaseProvider(connection, tables, clock),
        open: () => connection.open(),
        close: () => connection.close(),
        purge: (olderThan) => schedules.purge(olderThan),
        serverNow: () => connection.serverNow(),
      }
    }, options)
  }
}
