// What users hold: one SQLite file, and the parts of the library that live in it.

import { type Clock, systemClock } from '../../clock.ts'
import type { CronfenceError } from '../../errors.ts'
import { LeaseCoordinator, type LeaseCoordinatorOptions } from '../../lease/coordinator.ts'
import type { LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkInstant } from '../arguments.ts'
import type { ScheduleStore } from '../store.ts'
import { oncePerRow, warn } from '../warnings.ts'
import type { SqliteClient, SqliteDriver } from './sqlite-client.ts'
import { type DatabaseSource, SqliteConnection } from './sqlite-connection.ts'
import { SqliteLeaseProvider } from './sqlite-lease-provider.ts'
import { SqliteScheduleStore } from './sqlite-schedule-store.ts'
import { tablesOf } from './sqlite-statements.ts'

/** Options of an {@link SQLiteStore}: a `file`, or an open `client` of your own. */
export type SQLiteStoreOptions = {
  /** Put before the names of the tables. Letters, digits and `_`, 40 at most. Default none. */
  readonly tablePrefix?: string
  /** How long a call tries while other processes keep the file busy, in ms. Default 5000. */
  readonly busyBudgetMs?: number
  /** For leases and the time of tombstones. Default: the machine's. */
  readonly clock?: Clock
  /**
   * Hears of each damaged row once, when `list` passes over it; other calls for its id reject with
   * the same error. Default: a process warning.
   */
  readonly onDamaged?: (error: CronfenceError) => void
  /** Hears of a file that has more names than one. Default: a process warning. */
  readonly onWarning?: (text: string) => void
} & (
  | {
      /**
       * A path on a local disk, the same in all processes: SQLite keeps two more files beside it.
       * The file is created when absent, its folder is not.
       */
      readonly file: string
      /** Default: better-sqlite3 when it is installed and works, else node:sqlite. */
      readonly driver?: SqliteDriver
    }
  | {
      /**
       * Your own open database. It gets WAL, `synchronous = FULL` and a short busy timeout, must
       * not be inside a transaction of yours while the store is called, and is never closed.
       */
      readonly client: SqliteClient
    }
)

/**
 * Schedules and leases in one SQLite file, for any number of processes on one machine.
 *
 * Each call is one transaction, synced to disk when it resolves. Methods reject with a
 * `CronfenceError`: `STORE_UNAVAILABLE` when the file cannot be opened, stays busy or the disk
 * fails; `STORE_OUTCOME_UNKNOWN` when it fails in the commit; `STORE_DRIVER_MISSING`;
 * `STORE_FOREIGN_SCHEMA` or `STORE_NEWER_SCHEMA` for tables that are not ours to change;
 * `STORE_DAMAGED_RECORD` for a row that cannot be read; `STORE_TOKEN_CEILING`; `STORE_CLOSED`.
 * A batch with such a row rejects as a whole and changes nothing.
 */
export class SQLiteStore {
  readonly #connection: SqliteConnection
  readonly #schedules: SqliteScheduleStore
  readonly #leases: SqliteLeaseProvider
  readonly #clock: Clock

  /** Opens nothing yet. Throws a `TypeError` or `RangeError` for wrong options. */
  constructor(options: SQLiteStoreOptions) {
    const { tablePrefix = '', busyBudgetMs = 5000, clock = systemClock } = options
    const { onDamaged = warn, onWarning = warn } = options
    checkDuration('busyBudgetMs', busyBudgetMs)
    const tables = tablesOf(tablePrefix)
    const connection = new SqliteConnection({
      source: sourceOf(options),
      tables,
      busyBudgetMs,
      onWarning,
    })
    this.#connection = connection
    this.#clock = clock
    this.#schedules = new SqliteScheduleStore({
      connection,
      tables,
      onDamaged: oncePerRow(onDamaged),
      now: () => clock.now(),
    })
    this.#leases = new SqliteLeaseProvider({ connection, tables, clock })
  }

  /** Opens the file and creates or migrates the tables. Idempotent; other calls do it on demand. */
  async start(): Promise<void> {
    await this.#connection.open()
  }

  /** Closes a file that the store opened. Every later call rejects with `STORE_CLOSED`. */
  async stop(): Promise<void> {
    await this.#connection.close()
  }

  schedules(): Required<ScheduleStore> {
    return this.#schedules
  }

  leases(): LeaseProvider {
    return this.#leases
  }

  /** A new `Coordinator` over `leases()`, not started. */
  coordinator(options: Omit<LeaseCoordinatorOptions, 'provider'> = {}): LeaseCoordinator {
    return new LeaseCoordinator({ clock: this.#clock, ...options, provider: this.#leases })
  }

  /**
   * Removes the tombstones of tasks deleted before the instant `olderThan` and answers how many.
   * Their highest token becomes the least token of every new id, so no id's tokens ever go back;
   * what is given up is only that new ids start from 0. Rows of delays that ran are kept.
   */
  async purge(olderThan: number | Date): Promise<number> {
    const instant = Number(olderThan)
    checkInstant('olderThan', instant)
    return this.#connection.write((sql) => {
      sql.raiseFloor.run(instant)
      const { changes } = sql.deleteFences.run(instant) as { changes: number | bigint }
      return Number(changes)
    })
  }
}

function sourceOf(options: SQLiteStoreOptions): DatabaseSource {
  const { file, client, driver } = options as {
    file?: unknown
    client?: SqliteClient
    driver?: SqliteDriver
  }
  if ((file === undefined) === (client === undefined)) {
    throw new TypeError('SQLiteStore: give either a file or a client')
  }
  if (client) return { client }
  if (typeof file !== 'string' || file === '') {
    throw new TypeError(`file: must be a path, got ${JSON.stringify(file)}`)
  }
  if (driver === undefined) return { file }
  if (driver !== 'better-sqlite3' && driver !== 'node:sqlite') {
    throw new TypeError(`driver: must be 'better-sqlite3' or 'node:sqlite', got ${driver}`)
  }
  return { file, driver }
}
