// The way to a database: commands as they are written, to the primary, each once. Collections are
// set up on first use, a server that does not answer is not waited for, and a command is sent again
// only when it only reads, or when it is known that the first did nothing.
//
// Every write waits for a majority of the set and its journals, so no failover undoes what was
// confirmed. Reads ask the primary for its newest state: what is decided from them is written under
// the condition that it still holds. Where nothing is written, the primary must first prove that it
// still is one.

import { CronfenceError } from '../../errors.ts'
import { DeadlineError, retrying, withDeadline } from '../deadline.ts'
import { type Failure, failureError } from '../failures.ts'
import { integerOf } from '../stored-row.ts'
import { type MongoClient, type MongoFields, type OwnClient, openClient } from './mongo-client.ts'
import { commandFailure, DUPLICATE_KEY, openFailure } from './mongo-errors.ts'
import type { MongoSource } from './mongo-source.ts'

/** Where the collections are, and how long a command may take. */
export interface ConnectionOptions {
  readonly source: MongoSource
  readonly timeoutMs: number
  /** Checks and creates the collections. It may fail halfway and run again. */
  readonly setUp: (connection: MongoConnection) => Promise<void>
}

/** What is looked for: a filter, and how much of what it finds. */
export interface Query {
  readonly filter: MongoFields
  readonly sort?: MongoFields
  readonly limit?: number
  /** Nothing that a failover may undo: it is the answer itself that counts. */
  readonly isFinal?: boolean
}

/** One change: of the document that `q` finds, if there is one, by `u`. */
export interface Update {
  readonly q: MongoFields
  readonly u: MongoFields
}

const SERVER_TIME = 'localTime'

// Said each time, since an administrator can make a majority's state the default, which may lack
// what was written last.
const NEWEST = { readConcern: { level: 'local' } } as const

// A primary that was cut off goes on for some seconds, and has writes that no majority confirmed:
// a claim seen there may be given out again elsewhere, with the same token.
const FINAL = { readConcern: { level: 'linearizable' } } as const

// What is read comes with its type: int64 as bigint, everything else as what it is.
const TYPED = { useBigInt64: true, promoteLongs: true, promoteValues: true } as const

/** What the driver threw or the server reported, and what it means there. */
class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly failure: Failure

  constructor(failure: Failure, cause: unknown) {
    super('a command failed', { cause })
    this.failure = failure
  }
}

/** A way to one database. What the driver throws comes out as a `CronfenceError`. */
export class MongoConnection {
  readonly #options: ConnectionOptions
  readonly #writing: MongoFields
  #own: Promise<OwnClient> | undefined
  #opening: Promise<void> | undefined
  #hasFailover = false
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    const limit = options.timeoutMs
    const writeConcern = { w: 'majority', j: true, wtimeout: limit }
    this.#writing = { ordered: false, writeConcern, maxTimeMS: limit }
  }

  /** The store and its place, for errors. */
  get name(): string {
    return this.#options.source.name
  }

  /** Connects, checks and sets up. Idempotent; after a failure the next call tries again. */
  async open(): Promise<void> {
    if (this.#isClosed) throw closed()
    this.#opening ??= this.#connect().then(() => this.#options.setUp(this))
    const opening = this.#opening
    try {
      await opening
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined
      throw error
    }
  }

  /** The documents that a query finds. */
  async find(collection: string, query: Query): Promise<MongoFields[]> {
    const { isFinal, ...rest } = query
    const concern = isFinal && this.#hasFailover ? FINAL : NEWEST
    return this.#listed({ find: collection, ...rest, ...batchOf(rest.limit), ...concern })
  }

  /** What a command that lists things finds. */
  async list(command: MongoFields): Promise<MongoFields[]> {
    return this.#listed({ ...command, cursor: {} })
  }

  /** The answer of a command that changes nothing. */
  async ask(command: MongoFields): Promise<MongoFields> {
    return this.#run(command, { isWrite: false })
  }

  /** What the server says of itself. */
  async hello(): Promise<MongoFields> {
    const hello = await this.ask({ hello: 1 })
    // A standalone server refuses to prove what it always is.
    this.#hasFailover = hello.setName !== undefined || hello.msg === 'isdbgrid'
    return hello
  }

  /** How many of the changes found their document. Each is atomic on its own. */
  async update(collection: string, updates: readonly Update[]): Promise<number> {
    const command = { update: collection, updates, ...this.#writing }
    const reply = await this.#run(command, { isWrite: true })
    return integerOf(reply.n) ?? 0
  }

  /** How many of the documents were added: those whose `_id` was not there already. */
  async insert(collection: string, documents: readonly MongoFields[]): Promise<number> {
    const command = { insert: collection, documents, ...this.#writing }
    const reply = await this.#run(command, { isWrite: true })
    return integerOf(reply.n) ?? 0
  }

  /** Removes what the filter finds and answers how many. */
  async remove(collection: string, filter: MongoFields): Promise<number> {
    const deletes = [{ q: filter, limit: 0 }]
    const command = { delete: collection, deletes, ...this.#writing }
    const reply = await this.#run(command, { isWrite: true })
    return integerOf(reply.n) ?? 0
  }

  /** The server's time, in ms since the epoch. */
  async serverNow(): Promise<number> {
    const hello = await this.hello()
    return Number(hello[SERVER_TIME])
  }

  /** Ends it for good. A client that was handed in stays open. */
  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#own
    this.#own = undefined
    try {
      const own = await opening
      if (!own) return
      const { timeoutMs } = this.#options
      await withDeadline(own.close(), { timeoutMs, what: 'closing the connections' })
    } catch {
      // Whoever opened it heard of a failure to open; and connections that cannot be closed in an
      // orderly way are lost already.
    }
  }

  #connect(): Promise<unknown> {
    return this.#retried(false, (client) => client.connect())
  }

  #listed(command: MongoFields): Promise<MongoFields[]> {
    const limited = { ...command, maxTimeMS: this.#options.timeoutMs }
    return this.#retried(false, async (client) => {
      const found: MongoFields[] = []
      const { database } = this.#options.source
      const cursor = client.db(database).runCursorCommand(limited, TYPED)
      for await (const document of cursor) found.push(document)
      return found
    })
  }

  #run(command: MongoFields, { isWrite }: { isWrite: boolean }): Promise<MongoFields> {
    const { database } = this.#options.source
    return this.#retried(isWrite, async (client, signal) => {
      const reply = await client.db(database).command(command, { ...TYPED, signal })
      const failure = isWrite ? failureIn(reply) : undefined
      if (failure) throw failure
      return reply
    })
  }

  async #retried<T>(
    isWrite: boolean,
    send: (client: MongoClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { timeoutMs: budgetMs } = this.#options
    const isTransient = (error: unknown) =>
      error instanceof CommandError &&
      error.failure.isTransient === true &&
      !(isWrite && error.failure.outcome === 'unknown')
    try {
      return await retrying(() => this.#attempt(isWrite, send), { isTransient, budgetMs })
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      throw failureError(error.failure, { store: this.name, isWrite }, error.cause)
    }
  }

  async #attempt<T>(
    isWrite: boolean,
    send: (client: MongoClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const client = await this.#client()
    const { timeoutMs } = this.#options
    const abort = new AbortController()
    try {
      const work = send(client, abort.signal)
      return await withDeadline(work, { timeoutMs, what: 'the command' })
    } catch (error) {
      // One that still waits for a connection must not be sent when nobody waits for it.
      if (error instanceof DeadlineError) abort.abort()
      const reported =
        error instanceof CommandError ? error : new CommandError(commandFailure(error), error)
      const isOpen = isWrite && reported.failure.outcome === 'unknown'
      throw this.#isClosed && !isOpen ? closed() : reported
    }
  }

  async #client(): Promise<MongoClient> {
    if (this.#isClosed) throw closed()
    const { source, timeoutMs } = this.#options
    const { via } = source
    if ('client' in via) return via.client
    const { url, connectionsMax } = via
    this.#own ??= openClient(url, { connectionsMax, timeoutMs })
    const opening = this.#own
    try {
      return await opening
    } catch (error) {
      if (this.#own === opening) this.#own = undefined
      if (error instanceof CronfenceError) throw error
      throw new CommandError(openFailure(error), error)
    }
  }
}

/** Without a size the first part of an answer is of 101 documents. */
function batchOf(limit: number | undefined): MongoFields {
  return limit === undefined ? { batchSize: 10_000 } : { batchSize: limit }
}

/** What a reply reports besides its `ok`, unless it is only that documents were there already. */
function failureIn(reply: MongoFields): CommandError | undefined {
  const { writeConcernError } = reply
  if (writeConcernError) {
    const cause = reported(writeConcernError)
    return new CommandError({ ...commandFailure(cause), outcome: 'unknown' }, cause)
  }
  const errors = writeErrors(reply)
  const failed = errors.find(({ code }) => code !== DUPLICATE_KEY)
  if (!failed) return undefined
  const cause = reported(failed)
  const failure = commandFailure(cause)
  const isAllUndone = integerOf(reply.n) === 0 && errors.length === 1
  return new CommandError(isAllUndone ? failure : { ...failure, outcome: 'unknown' }, cause)
}

function reported(report: unknown): Error {
  const { errmsg, code } = report as { errmsg?: unknown; code?: unknown }
  return Object.assign(new Error(String(errmsg)), { code })
}

function writeErrors({ writeErrors: errors }: MongoFields): MongoFields[] {
  return Array.isArray(errors) ? errors : []
}

function closed(): CronfenceError {
  return new CronfenceError('STORE_CLOSED', 'The MongoStore was stopped: create a new one')
}
