// The connection itself: opened on first use, our own or the caller's. It knows when it is lost,
// fails what is under way then, and takes nothing on until it is back.

import { CronfenceError } from '../../errors.ts'
import { withDeadline } from '../deadline.ts'
import { failureError } from '../failures.ts'
import { connect, type NatsClient } from './nats-client.ts'
import { connectFailure } from './nats-errors.ts'
import type { NatsSource } from './nats-source.ts'

/** What a {@link NatsLink} stands on. */
export interface LinkOptions {
  readonly source: NatsSource
  readonly timeoutMs: number
  /** Whatever was known of the server before may not be so any more. */
  readonly onChange: () => void
}

/** A connection to NATS. Throws `CronfenceError`s. */
export class NatsLink {
  readonly #options: LinkOptions
  /** Each fails a request that is under way. */
  readonly #underWay = new Set<(error: Error) => void>()
  #client: NatsClient | undefined
  #isConnected = false
  #isClosed = false

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** The client, which was connected a moment ago. */
  async client(): Promise<NatsClient> {
    if (this.#isClosed) throw this.#closed()
    if (this.#client?.isClosed()) this.#drop(this.#client)
    return this.#client ?? (await this.#connect())
  }

  /** Throws unless it is connected: the driver would keep a request for a connection to come. */
  assertConnected(): void {
    if (this.#isClosed) throw this.#closed()
    if (this.#isConnected) return
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      `${this.#options.source.name}: not connected at the moment; nothing was sent`,
    )
  }

  /** The reply, unless the connection is lost or the time runs out first. */
  async answered<T>(reply: Promise<T>, limit: { timeoutMs: number; what: string }): Promise<T> {
    let fail: (error: Error) => void = () => {}
    const lost = new Promise<never>((_, reject) => {
      fail = reject
    })
    this.#underWay.add(fail)
    try {
      return await withDeadline(Promise.race([reply, lost]), limit)
    } finally {
      this.#underWay.delete(fail)
    }
  }

  /** Ends it for good. A connection that was handed in stays open. */
  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client
    if (!client) return
    this.#drop(client)
    if ('options' in this.#options.source.via) await client.close()
  }

  async #connect(): Promise<NatsClient> {
    const { via, name } = this.#options.source
    const client = 'connection' in via ? via.connection : await this.#connectOwn(via.options)
    if (client.isClosed()) {
      throw new CronfenceError(
        'STORE_UNAVAILABLE',
        `${name}: the connection is closed; give a store a connection that outlives it`,
      )
    }
    if (this.#isClosed) {
      if ('options' in via) await client.close()
      throw this.#closed()
    }
    this.#client = client
    this.#isConnected = true
    void this.#watch(client)
    return client
  }

  async #connectOwn(options: Readonly<Record<string, unknown>>): Promise<NatsClient> {
    const { source, timeoutMs } = this.#options
    try {
      return await withDeadline(connect({ timeout: timeoutMs, ...options }), {
        timeoutMs,
        what: 'connecting',
        onLate: (client) => void client.close(),
      })
    } catch (cause) {
      if (cause instanceof CronfenceError) throw cause
      throw failureError(connectFailure(cause), { store: source.name, isWrite: false }, cause)
    }
  }

  async #watch(client: NatsClient): Promise<void> {
    for await (const { type } of client.status()) {
      if (this.#client !== client) return
      if (type !== 'disconnect' && type !== 'reconnect') continue
      this.#isConnected = type === 'reconnect'
      this.#changed()
    }
    this.#drop(client)
  }

  #drop(client: NatsClient): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#isConnected = false
    this.#changed()
  }

  #changed(): void {
    for (const fail of this.#underWay) fail(new Error('the connection was lost'))
    this.#options.onChange()
  }

  #closed(): CronfenceError {
    return new CronfenceError('STORE_CLOSED', 'The NatsStore was stopped: create a new one')
  }
}
