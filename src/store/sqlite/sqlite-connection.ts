// One connection: opened once, checked, set up, and then the only way to a transaction. Drivers
// are synchronous, so a wait inside SQLite stops the event loop and with it every renewal: SQLite
// itself waits briefly, the longer waits for a busy file happen here, between whole attempts.

import { systemClock } from '../../clock.ts'
import { CronfenceError } from '../../errors.ts'
import {
  type OwnedClient,
  openFile,
  type SqliteClient,
  type SqliteDriver,
} from './sqlite-client.ts'
import { isBusy, resultCode, storeError } from './sqlite-errors.ts'
import { nameProblems } from './sqlite-names.ts'
import { migrate, schemaVersion } from './sqlite-schema.ts'
import { prepareStatements, type Statements, type Tables } from './sqlite-statements.ts'

/** A file to open, or a client that somebody else opened and will close. */
export type DatabaseSource =
  | { readonly file: string; readonly driver?: SqliteDriver }
  | { readonly client: SqliteClient }

/** Where the tables are, and how long to try while other processes keep the file busy. */
export interface ConnectionOptions {
  readonly source: DatabaseSource
  readonly tables: Tables
  readonly busyBudgetMs: number
  /** Hears of a file that has more names than one. */
  readonly onWarning: (text: string) => void
}

interface Open {
  readonly client: SqliteClient
  readonly statements: Statements
}

// How long one attempt may stop the event loop.
const SQLITE_WAIT_MS = 25
// The wait between attempts is random up to this, so that processes do not retry in step.
const RETRY_MS_MAX = 20

/** A connection to one database file. What SQLite throws comes out as a `CronfenceError`. */
export class SqliteConnection {
  readonly #options: ConnectionOptions
  #opening: Promise<Open> | undefined
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Opens, checks and migrates. Idempotent; after a failure the next call tries again. */
  async open(): Promise<void> {
    await this.#open()
  }

  /** Runs `step` in one `BEGIN IMMEDIATE` transaction; again from the start while it is busy. */
  async write<T>(step: (statements: Statements) => T): Promise<T> {
    const { client, statements } = await this.#open()
    return this.#whileBusy(() => inTransaction(client, 'IMMEDIATE', () => step(statements)))
  }

  /** Runs `step`, which only reads, on one snapshot. */
  async read<T>(step: (statements: Statements) => T): Promise<T> {
    const { client, statements } = await this.#open()
    return this.#whileBusy(() => inTransaction(client, 'DEFERRED', () => step(statements)))
  }

  /** Ends it for good. A client that was handed in stays open. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#opening
    this.#opening = undefined
    if (!opening || 'client' in this.#options.source) return
    const opened = await opening.catch(() => undefined) // Who opened it heard of the failure.
    if (opened) (opened.client as OwnedClient).close()
  }

  async #open(): Promise<Open> {
    if (this.#isClosed) throw closed()
    this.#opening ??= this.#connect()
    const opening = this.#opening
    try {
      return await opening
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined
      throw error
    }
  }

  async #connect(): Promise<Open> {
    const { source, onWarning } = this.#options
    if ('client' in source) return this.#setUp(source.client)
    const client = await openFile(source.file, source.driver)
    try {
      const open = await this.#setUp(client)
      for (const problem of await nameProblems(source.file)) {
        onWarning(
          `SQLiteStore: ${source.file}: ${problem}, and a process that opens it by another name ` +
            'sees no claims of this one, and may damage it.',
        )
      }
      return open
    } catch (error) {
      client.close()
      throw error
    }
  }

  async #setUp(client: SqliteClient): Promise<Open> {
    const { tables } = this.#options
    return this.#whileBusy(() => {
      client.exec(`PRAGMA busy_timeout = ${SQLITE_WAIT_MS}`)
      schemaVersion(client, tables) // Before the first change, which WAL is.
      requireWal(client)
      client.exec('PRAGMA synchronous = FULL')
      inTransaction(client, 'IMMEDIATE', () => migrate(client, tables))
      return { client, statements: prepareStatements(client, tables) }
    })
  }

  async #whileBusy<T>(attempt: () => T): Promise<T> {
    const { busyBudgetMs } = this.#options
    const startedAt = systemClock.monotonic()
    for (;;) {
      if (this.#isClosed) throw closed()
      try {
        return attempt()
      } catch (error) {
        if (!isBusy(error)) throw resultCode(error) ? storeError('SQLite', error) : error
        if (systemClock.monotonic() - startedAt >= busyBudgetMs) {
          throw new CronfenceError(
            'STORE_UNAVAILABLE',
            `The SQLite file was busy for ${busyBudgetMs} ms (busyBudgetMs): another process ` +
              'holds its lock, is it stopped inside a transaction? Nothing was changed.',
            { cause: error },
          )
        }
      }
      await new Promise<void>((resume) => {
        systemClock.setTimer(resume, Math.random() * RETRY_MS_MAX)
      })
    }
  }
}

function inTransaction<T>(client: SqliteClient, kind: 'IMMEDIATE' | 'DEFERRED', step: () => T): T {
  client.exec(`BEGIN ${kind}`)
  let isCommitting = false
  try {
    const result = step()
    isCommitting = true
    client.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(client)
    if (!isCommitting || isBusy(error)) throw error
    throw new CronfenceError(
      'STORE_OUTCOME_UNKNOWN',
      'SQLite failed while it committed: the change may or may not be there',
      { cause: error },
    )
  }
}

function rollBack(client: SqliteClient): void {
  try {
    client.exec('ROLLBACK')
  } catch {
    // After some errors SQLite has rolled back by itself, and says that there is nothing to do.
  }
}

function requireWal(client: SqliteClient): void {
  const row = client.prepare('PRAGMA journal_mode = WAL').get()
  const mode = (row as { journal_mode?: unknown } | undefined)?.journal_mode
  if (mode === 'wal') return
  throw new CronfenceError(
    'STORE_UNAVAILABLE',
    `SQLite refused WAL and stayed in journal mode "${mode}": the store needs a file on a local ` +
      'disk (for a store in memory there is MemoryScheduleStore).',
    { details: { journalMode: String(mode) } },
  )
}

function closed(): CronfenceError {
  return new CronfenceError('STORE_CLOSED', 'The SQLiteStore was stopped: create a new one')
}
