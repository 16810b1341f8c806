// One statement per call, each a transaction of its own, so that a pooler in transaction mode may
// stand in between.

import { withDeadline } from '../deadline.ts'
import { type Driver, PooledDatabase, StatementError } from '../pooled-database.ts'
import type { Source } from '../source.ts'
import type { Row } from '../stored-row.ts'
import type { Tables } from '../tables.ts'
import {
  openPool,
  type PostgresClient,
  type PostgresPool,
  type PostgresValue,
} from './postgres-client.ts'
import { connectFailure, isUsableAfter, statementFailure } from './postgres-errors.ts'
import { setUp } from './postgres-schema.ts'

/** Where the tables are, and how long a call may take. */
export interface ConnectionOptions {
  readonly source: Source<PostgresPool>
  readonly tables: Tables
  readonly timeoutMs: number
  readonly onWarning: (text: string) => void
}

/** Runs one statement; the rows that it answers. */
export type RunStatement = (
  text: string,
  values?: readonly PostgresValue[],
) => Promise<readonly Row[]>

const DRIVER: Driver<PostgresPool, PostgresClient> = {
  store: 'PostgresStore',
  openPool,
  async connect(pool) {
    const client = await pool.connect()
    client.on?.('error', ignore)
    return client
  },
  release(client, isUsable) {
    client.off?.('error', ignore)
    client.release(!isUsable)
  },
  connectFailure,
}

// A connection that ends while it is taken also tells its listeners, and without one the process
// would end. Whoever uses it hears of it by the statement that fails.
const ignore = (): void => {}

/** A connection to one database. What the driver throws comes out as a `CronfenceError`. */
export class PostgresConnection {
  readonly #database: PooledDatabase<PostgresPool, PostgresClient>
  readonly #timeoutMs: number

  constructor({ source, tables, timeoutMs, onWarning }: ConnectionOptions) {
    this.#timeoutMs = timeoutMs
    this.#database = new PooledDatabase({
      ...{ driver: DRIVER, source, timeoutMs },
      setUp: (client) => setUp(this.#runOn(client, { isWrite: false }), tables, onWarning),
    })
  }

  /** Connects, checks and migrates. Idempotent; after a failure the next call tries again. */
  async open(): Promise<void> {
    await this.#database.open()
  }

  /** The rows of a statement that changes nothing. */
  async read(text: string, values?: readonly PostgresValue[]): Promise<readonly Row[]> {
    return this.#database.withClient((client) =>
      this.#runOn(client, { isWrite: false })(text, values),
    )
  }

  /** The rows of a statement that changes something: all of it, or nothing. */
  async write(text: string, values: readonly PostgresValue[]): Promise<readonly Row[]> {
    return this.#database.withClient((client) =>
      this.#runOn(client, { isWrite: true })(text, values),
    )
  }

  /** The server's time, in ms since the epoch. */
  async serverNow(): Promise<number> {
    const [row] = await this.read('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
    return Number(row?.now)
  }

  /** Ends it for good. A pool that was handed in stays open. */
  async close(): Promise<void> {
    await this.#database.close()
  }

  #runOn(client: PostgresClient, { isWrite }: { isWrite: boolean }): RunStatement {
    const limit = { timeoutMs: this.#timeoutMs, what: 'the statement' }
    return async (text, values = []) => {
      try {
        return (await withDeadline(client.query({ text, values }), limit)).rows
      } catch (cause) {
        const failure = statementFailure(cause)
        throw new StatementError({ failure, isWrite, isUsable: isUsableAfter(cause), cause })
      }
    }
  }
}
