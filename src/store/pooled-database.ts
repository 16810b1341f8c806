// The way to a server over a driver's pool: connections are taken for one step each and given back,
// the tables are set up on first use, and a server that does not answer is not waited for. A step
// runs again only after a failure that is known to have undone it.

import { CronfenceError } from '../errors.ts'
import { retrying, withDeadline } from './deadline.ts'
import { type Failure, failureError } from './failures.ts'
import { nameOf, type Source } from './source.ts'

/** The driver of an engine, as far as connections go. */
export interface Driver<Pool, Client> {
  /** The store's class, for errors. */
  readonly store: string
  /** A pool that connects on demand. Rejects with `STORE_DRIVER_MISSING`. */
  openPool(url: string, connectionsMax: number): Promise<Pool & { end(): Promise<void> }>
  connect(pool: Pool): Promise<Client>
  /** Gives a connection back, or closes it. */
  release(client: Client, isUsable: boolean): void
  /** What a failure to connect means; nothing was sent. */
  connectFailure(error: unknown): Failure
}

/** A statement that failed: what the driver threw, and what it means where it was thrown. */
export class StatementError extends Error {
  override readonly name = 'StatementError'
  readonly failure: Failure
  readonly isWrite: boolean
  /** The connection is still in step with the server, and outside a transaction. */
  readonly isUsable: boolean

  constructor(options: { failure: Failure; isWrite: boolean; isUsable: boolean; cause: unknown }) {
    super('a statement failed', { cause: options.cause })
    this.failure = options.failure
    this.isWrite = options.isWrite
    this.isUsable = options.isUsable
  }
}

/** What a {@link PooledDatabase} stands on. */
export interface PooledDatabaseOptions<Pool, Client> {
  readonly driver: Driver<Pool, Client>
  readonly source: Source<Pool>
  readonly timeoutMs: number
  /** Checks and creates the tables. It may fail halfway and run again. */
  readonly setUp: (client: Client) => Promise<void>
}

/** A database behind a pool. What the driver throws comes out as a `CronfenceError`. */
export class PooledDatabase<Pool, Client> {
  readonly #options: PooledDatabaseOptions<Pool, Client>
  readonly #name: string
  #ownPool: ReturnType<Driver<Pool, Client>['openPool']> | undefined
  #opening: Promise<void> | undefined
  #isClosed = false

  constructor(options: PooledDatabaseOptions<Pool, Client>) {
    this.#options = options
    this.#name = nameOf(options.driver.store, options.source)
  }

  /** Connects and sets up. Idempotent; after a failure the next call tries again. */
  async open(): Promise<void> {
    if (this.#isClosed) throw this.#closed()
    this.#opening ??= this.#retried(this.#options.setUp)
    const opening = this.#opening
    try {
      await opening
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined
      throw error
    }
  }

  /**
   * Runs `step` on a connection, once the tables are set up. It fails with a {@link StatementError}
   * where a statement does; after a transient one it runs again, from the start.
   */
  async withClient<T>(step: (client: Client) => Promise<T>): Promise<T> {
    await this.open()
    return this.#retried(step)
  }

  /** Ends it for good. A pool that was handed in stays open. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#ownPool
    this.#ownPool = undefined
    try {
      const pool = await opening
      if (!pool) return
      const { timeoutMs } = this.#options
      await withDeadline(pool.end(), { timeoutMs, what: 'closing the connections' })
    } catch {
      // Whoever opened it heard of a failure to open; and connections that cannot be closed in an
      // orderly way are lost already.
    }
  }

  async #retried<T>(step: (client: Client) => Promise<T>): Promise<T> {
    const isTransient = (error: unknown) =>
      error instanceof StatementError && error.failure.isTransient === true
    try {
      const budgetMs = this.#options.timeoutMs
      return await retrying(() => this.#attempt(step), { isTransient, budgetMs })
    } catch (error) {
      if (!(error instanceof StatementError)) throw error
      const { failure, isWrite, cause } = error
      throw failureError(failure, { store: this.#name, isWrite }, cause)
    }
  }

  async #attempt<T>(step: (client: Client) => Promise<T>): Promise<T> {
    const { driver } = this.#options
    const client = await this.#connect()
    let isUsable = true
    try {
      return await step(client)
    } catch (error) {
      isUsable = error instanceof StatementError ? error.isUsable : error instanceof CronfenceError
      throw error
    } finally {
      driver.release(client, isUsable)
    }
  }

  async #connect(): Promise<Client> {
    const { driver, timeoutMs } = this.#options
    const pool = await this.#pool()
    try {
      return await withDeadline(driver.connect(pool), {
        timeoutMs,
        what: 'getting a connection',
        onLate: (client) => driver.release(client, true),
      })
    } catch (error) {
      if (this.#isClosed) throw this.#closed()
      const failure = driver.connectFailure(error)
      throw new StatementError({ failure, isWrite: false, isUsable: false, cause: error })
    }
  }

  async #pool(): Promise<Pool> {
    if (this.#isClosed) throw this.#closed()
    const { source, driver } = this.#options
    if ('pool' in source) return source.pool
    this.#ownPool ??= driver.openPool(source.url, source.connectionsMax)
    const opening = this.#ownPool
    try {
      return await opening
    } catch (error) {
      if (this.#ownPool === opening) this.#ownPool = undefined
      throw error
    }
  }

  #closed(): CronfenceError {
    const { store } = this.#options.driver
    return new CronfenceError('STORE_CLOSED', `The ${store} was stopped: create a new one`)
  }
}
