// The way to a database: connections taken for one statement each and given back, so that a pooler
// in transaction mode may stand in between; checked and set up on first use. Nothing is ever sent
// twice, unless the server said that it undid the first.

import { CronfenceError } from '../../errors.ts'
import { retrying, withDeadline } from '../deadline.ts'
import { failureError } from '../failures.ts'
import { nameOf, type Source } from '../source.ts'
import type { Row } from '../stored-row.ts'
import type { Tables } from '../tables.ts'
import {
  type OwnedPool,
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

/** Runs one statement on a connection. */
export type RunStatement = (
  text: string,
  values?: readonly PostgresValue[],
) => Promise<readonly Row[]>

/** A connection to one database. What the driver throws comes out as a `CronfenceError`. */
export class PostgresConnection {
  readonly #options: ConnectionOptions
  readonly #name: string
  #pool: Promise<PostgresPool> | undefined
  #opening: Promise<void> | undefined
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#name = nameOf('PostgresStore', options.source)
  }

  /** Connects, checks and migrates. Idempotent; after a failure the next call tries again. */
  async open(): Promise<void> {
    if (this.#isClosed) throw closed()
    this.#opening ??= this.#setUp()
    const opening = this.#opening
    try {
      await opening
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined
      throw error
    }
  }

  /** The rows of a statement that changes nothing. */
  async read(text: string, values: readonly PostgresValue[] = []): Promise<readonly Row[]> {
    await this.open()
    return this.#withClient({ isWrite: false }, (run) => run(text, values))
  }

  /** The rows of a statement that changes something: all of it, or nothing. */
  async write(text: string, values: readonly PostgresValue[]): Promise<readonly Row[]> {
    await this.open()
    return this.#withClient({ isWrite: true }, (run) => run(text, values))
  }

  /** The server's time, in ms since the epoch. */
  async serverNow(): Promise<number> {
    const text = 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now'
    const [row] = await this.read(text)
    return Number(row?.now)
  }

  /** Ends it for good. A pool that was handed in stays open. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#pool
    this.#pool = undefined
    if (!opening || 'pool' in this.#options.source) return
    const pool = await opening.catch(() => undefined) // Who opened it heard of the failure.
    await (pool as OwnedPool | undefined)?.end()
  }

  async #setUp(): Promise<void> {
    const { tables, onWarning } = this.#options
    await this.#withClient({ isWrite: false }, (run) => setUp(run, tables, onWarning))
  }

  /** Runs `step` on a connection; again while the server says that rivals undid it. */
  async #withClient<T>(
    { isWrite }: { isWrite: boolean },
    step: (run: RunStatement) => Promise<T>,
  ): Promise<T> {
    const { timeoutMs } = this.#options
    const attempt = async (): Promise<T> => {
      const client = await this.#connect()
      let isUsable = true
      try {
        return await step(async (text, values = []) => {
          try {
            const result = client.query({ text, values })
            return (await withDeadline(result, { timeoutMs, what: 'the statement' })).rows
          } catch (error) {
            isUsable = isUsableAfter(error)
            throw error
          }
        })
      } finally {
        client.release(!isUsable)
      }
    }
    const isTransient = (error: unknown) => statementFailure(error).isTransient === true
    try {
      return await retrying(attempt, { isTransient, budgetMs: timeoutMs })
    } catch (error) {
      if (error instanceof CronfenceError) throw error
      throw failureError(statementFailure(error), { store: this.#name, isWrite }, error)
    }
  }

  async #connect(): Promise<PostgresClient> {
    const { timeoutMs } = this.#options
    try {
      const pool = await this.#openPool()
      return await withDeadline(pool.connect(), {
        timeoutMs,
        what: 'getting a connection',
        onLate: (client) => client.release(),
      })
    } catch (error) {
      if (error instanceof CronfenceError) throw error
      throw failureError(connectFailure(error), { store: this.#name, isWrite: false }, error)
    }
  }

  async #openPool(): Promise<PostgresPool> {
    if (this.#isClosed) throw closed()
    const { source } = this.#options
    if ('pool' in source) return source.pool
    this.#pool ??= openPool(source.url, source.connectionsMax)
    const opening = this.#pool
    try {
      return await opening
    } catch (error) {
      if (this.#pool === opening) this.#pool = undefined
      throw error
    }
  }
}

function closed(): CronfenceError {
  return new CronfenceError('STORE_CLOSED', 'The PostgresStore was stopped: create a new one')
}
