// The way to a server: one connection, one script a request. The keys are set up on first use, a
// server that does not answer is not waited for, and a script is sent again only when it is known
// that the first did nothing.

import { createHash } from 'node:crypto'
import { CronfenceError } from '../../errors.ts'
import { DeadlineError, retrying, withDeadline } from '../deadline.ts'
import { type Failure, failureError } from '../failures.ts'
import { integerOf, textOf } from '../stored-row.ts'
import {
  type OwnClient,
  openClient,
  type RedisClient,
  type Send,
  sendOver,
} from './redis-client.ts'
import { connectFailure, isUnknownScript, requestFailure } from './redis-errors.ts'
import type { Keys } from './redis-keys.ts'
import { setUp } from './redis-schema.ts'
import { checkServer } from './redis-settings.ts'
import { INFO, type Script, TIME, UNFIT, VERSION } from './redis-statements.ts'

/** Where the keys are, and how long a request may take. */
export interface ConnectionOptions {
  readonly source: { readonly url: string } | { readonly client: RedisClient }
  readonly keys: Keys
  readonly timeoutMs: number
  readonly onWarning: (text: string) => void
}

/** What a script is given. */
export interface ScriptInput {
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** What the driver threw, and what it means where it was thrown. */
class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly failure: Failure

  constructor(failure: Failure, cause: unknown) {
    super('a request failed', { cause: withoutCommand(cause) })
    this.failure = failure
  }
}

/** A way to one server or cluster. What the driver throws comes out as a `CronfenceError`. */
export class RedisConnection {
  readonly #options: ConnectionOptions
  readonly #name: string
  readonly #hashes = new Map<Script, string>()
  readonly #handedIn: Send | undefined
  #own: Promise<OwnClient> | undefined
  #opening: Promise<void> | undefined
  #isClosed = false
  #highestToken = 0

  constructor(options: ConnectionOptions) {
    this.#options = options
    const { source } = options
    this.#handedIn = 'client' in source ? sendOver(source.client) : undefined
    const place = 'url' in source ? new URL(source.url) : undefined
    this.#name = place ? `RedisStore at ${place.host}${place.pathname}` : 'RedisStore'
  }

  /** Connects, checks and sets up. Idempotent; after a failure the next call tries again. */
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

  /** The answer of a script of the store; `args` come after the version. */
  async run(script: Script, { keys, args }: ScriptInput): Promise<unknown> {
    const input = { keys: [this.#options.keys.meta, ...keys], args: [VERSION, ...args] }
    for (let attempt = 0; ; attempt++) {
      await this.open()
      const answer = await this.#request(script, input)
      if (answer !== UNFIT) return answer
      // Somebody removed or replaced the keys. Setting up again says what is wrong, or mends it.
      this.#opening = undefined
      if (attempt > 0) throw unfit(this.#name)
    }
  }

  /** Tells of a token that was read: should the data be lost, new ones will be higher. */
  saw(fencingToken: number): void {
    this.#highestToken = Math.max(this.#highestToken, fencingToken)
  }

  /** The server's time, in ms since the epoch. */
  async serverNow(): Promise<number> {
    const input = { keys: [this.#options.keys.meta], args: [] }
    const [seconds, micros] = (await this.#request(TIME, input)) as string[]
    return Number(seconds) * 1000 + Number(micros) / 1000
  }

  /** Ends it for good. A client that was handed in stays connected. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#drop(this.#own)
  }

  async #setUp(): Promise<void> {
    const { keys, onWarning } = this.#options
    const run = (script: Script, input: ScriptInput) => this.#request(script, input)
    await checkServer({
      ...{ name: this.#name, onWarning },
      info: async () => textOf(await run(INFO, { keys: [keys.meta], args: [] })),
      config: (setting) => this.#config(setting),
    })
    const found = await setUp(run, keys, this.#highestToken)
    if (found === 'created' && this.#highestToken > 0) {
      onWarning(
        `${this.#name}: the data of the store was lost while in use (${keys.meta} is gone): ` +
          'tasks have to be registered again, and what ran before may run again. Tokens go on ' +
          `from ${this.#highestToken}, the highest that this process has seen.`,
      )
    }
  }

  async #request(script: Script, input: ScriptInput): Promise<unknown> {
    return texts(await this.#patiently(() => this.#attempt(script, input), script.isWrite))
  }

  /** What CONFIG GET says; scripts may not ask. */
  async #config(setting: string): Promise<string | undefined> {
    const ask = () => this.#command(this.#options.keys.meta, ['CONFIG', 'GET', setting])
    const reply = await this.#patiently(ask, false)
    // With RESP3 it is what the client makes of a map.
    const pairs = reply instanceof Map ? [...reply] : Object.entries(reply ?? {})
    const [, value] = Array.isArray(reply) ? reply : (pairs[0] ?? [])
    return textOf(value)
  }

  async #patiently(attempt: () => Promise<unknown>, isWrite: boolean): Promise<unknown> {
    const budgetMs = this.#options.timeoutMs
    const isTransient = (error: unknown) =>
      error instanceof RequestError && error.failure.isTransient === true
    try {
      return await retrying(attempt, { isTransient, budgetMs })
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      throw failureError(error.failure, { store: this.#name, isWrite }, error.cause)
    }
  }

  async #attempt(script: Script, { keys, args }: ScriptInput): Promise<unknown> {
    const [key = ''] = keys
    const rest = [String(keys.length), ...keys, ...args]
    try {
      return await this.#command(key, ['EVALSHA', this.#hashOf(script), ...rest])
    } catch (error) {
      if (!(error instanceof RequestError && isUnknownScript(error.cause))) throw error
    }
    return this.#command(key, ['EVAL', script.text, ...rest])
  }

  async #command(key: string, command: readonly string[]): Promise<unknown> {
    const send = this.#handedIn ?? (await this.#connect())
    try {
      return await this.#inTime(send(key, command))
    } catch (error) {
      throw new RequestError(requestFailure(error), error)
    }
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    const connection = this.#own
    try {
      return await withDeadline(work, { timeoutMs: this.#options.timeoutMs, what: 'the script' })
    } catch (error) {
      // A connection that is silent may be dead: what comes next must not wait behind it.
      if (error instanceof DeadlineError) void this.#drop(connection)
      throw error
    }
  }

  async #connect(): Promise<Send> {
    if (this.#isClosed) throw closed()
    const { source, timeoutMs } = this.#options
    if (!('url' in source)) throw new TypeError('a client that was handed in is never opened')
    this.#own ??= openClient(source.url, timeoutMs)
    const opening = this.#own
    try {
      const limit = { timeoutMs, what: 'connecting' }
      const own = await withDeadline(opening, limit)
      if (own.isReady()) return own.send
    } catch (error) {
      void this.#drop(opening)
      if (error instanceof CronfenceError) throw error
      throw new RequestError(connectFailure(error), error)
    }
    // It ended since; what was sent over it has been told.
    void this.#drop(opening)
    return this.#connect()
  }

  /** Of many requests that wait for a silent connection, the first to give up closes it. */
  async #drop(connection: Promise<OwnClient> | undefined): Promise<void> {
    if (this.#own !== connection) return
    this.#own = undefined
    try {
      const own = await connection
      own?.close()
    } catch {
      // It never opened; whoever opened it has heard why.
    }
  }

  #hashOf(script: Script): string {
    const hash = this.#hashes.get(script) ?? createHash('sha1').update(script.text).digest('hex')
    this.#hashes.set(script, hash)
    return hash
  }
}

/** ioredis hangs the command on its errors: whole scripts and ids, or the password of an AUTH. */
function withoutCommand(error: unknown): unknown {
  if (error instanceof Error && 'command' in error) delete error.command
  return error
}

/** A reply with its texts as text: a client may be told to give bytes. */
function texts(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(texts)
  return textOf(reply) ?? integerOf(reply)?.toString() ?? null
}

function closed(): CronfenceError {
  return new CronfenceError('STORE_CLOSED', 'The RedisStore was stopped: create a new one')
}

function unfit(store: string): CronfenceError {
  return new CronfenceError(
    'STORE_UNAVAILABLE',
    `${store}: the keys of the store are being removed by somebody; nothing was changed`,
  )
}
