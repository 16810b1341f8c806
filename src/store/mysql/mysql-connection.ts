// Short transactions, one per call. Whatever fails is rolled back by name, since a lock timeout
// undoes only its own statement. Until the COMMIT is sent a failure has changed nothing.

import { withDeadline } from '../deadline.ts'
import type { Failure } from '../failures.ts'
import { type Driver, PooledDatabase, StatementError } from '../pooled-database.ts'
import type { Source } from '../source.ts'
import type { Row } from '../stored-row.ts'
import type { Tables } from '../tables.ts'
import { type MysqlClient, type MysqlPool, type MysqlValue, openPool } from './mysql-client.ts'
import { failureBeforeCommit, failureOfCommit, isUsableAfter } from './mysql-errors.ts'
import { setUp } from './mysql-schema.ts'
import { SESSION } from './mysql-statements.ts'

/** Where the tables are, and how long a call may take. */
export interface ConnectionOptions {
  readonly source: Source<MysqlPool>
  readonly tables: Tables
  readonly timeoutMs: number
  readonly onWarning: (text: string) => void
}

/** Runs one statement; the rows, if it answers any. */
export type RunStatement = (sql: string, values?: readonly MysqlValue[]) => Promise<readonly Row[]>

const DRIVER: Driver<MysqlPool, MysqlClient> = {
  store: 'MysqlStore',
  openPool,
  connect: (pool) => pool.getConnection(),
  release: (client, isUsable) => (isUsable ? client.release() : client.destroy()),
  connectFailure: failureBeforeCommit,
}

/** A connection to one database. What the driver throws comes out as a `CronfenceError`. */
export class MysqlConnection {
  readonly #database: PooledDatabase<MysqlPool, MysqlClient>
  readonly #timeoutMs: number

  constructor({ source, tables, timeoutMs, onWarning }: ConnectionOptions) {
    this.#timeoutMs = timeoutMs
    this.#database = new PooledDatabase({
      ...{ driver: DRIVER, source, timeoutMs },
      setUp: (client) => setUp(this.#runOn(client), tables, onWarning),
    })
  }

  /** Connects, checks and migrates. Idempotent; after a failure the next call tries again. */
  async open(): Promise<void> {
    await this.#database.open()
  }

  /** The rows of one statement that changes nothing and locks nothing. */
  async read(sql: string, values?: readonly MysqlValue[]): Promise<readonly Row[]> {
    return this.#database.withClient((client) => this.#runOn(client)(sql, values))
  }

  /** Runs `step` in a transaction: all of it is committed, or nothing. */
  async transaction<T>(step: (run: RunStatement) => Promise<T>): Promise<T> {
    return this.#database.withClient(async (client) => {
      const run = this.#runOn(client)
      await run(SESSION)
      await run('START TRANSACTION')
      let result: T
      try {
        result = await step(run)
      } catch (error) {
        if (!(error instanceof StatementError) || error.isUsable) await run('ROLLBACK')
        throw error
      }
      await this.#runOn(client, failureOfCommit)('COMMIT')
      return result
    })
  }

  /** The server's time, in ms since the epoch. */
  async serverNow(): Promise<number> {
    const [row] = await this.read('SELECT UNIX_TIMESTAMP(NOW(6)) * 1000 AS now')
    return Number(row?.now)
  }

  /** Ends it for good. A pool that was handed in stays open. */
  async close(): Promise<void> {
    await this.#database.close()
  }

  #runOn(
    client: MysqlClient,
    failureOf: (error: unknown) => Failure = failureBeforeCommit,
  ): RunStatement {
    const limit = { timeoutMs: this.#timeoutMs, what: 'the statement' }
    return async (sql, values = []) => {
      try {
        const [rows] = await withDeadline(client.query({ sql, values }), limit)
        return Array.isArray(rows) ? (rows as readonly Row[]) : []
      } catch (cause) {
        const failure = failureOf(cause)
        const isCommit = failureOf === failureOfCommit
        const isUsable = !isCommit && isUsableAfter(cause)
        throw new StatementError({ failure, isWrite: isCommit, isUsable, cause })
      }
    }
  }
}
