// Requests to a bucket, many at once over one connection. The bucket is created on first use and
// checked again whenever the connection was lost. What the driver throws comes out as a
// `CronfenceError` that says whether a write happened.

import { CronfenceError } from '../../errors.ts'
import { failureError } from '../failures.ts'
import { checkBucket } from './bucket-config.ts'
import { Lanes } from './lanes.ts'
import {
  type Bucket,
  type BucketEntry,
  type OpenBucket,
  openBucket,
  type StreamInfo,
} from './nats-client.ts'
import { isBucketGone, isConflict, openFailure, requestFailure } from './nats-errors.ts'
import { NatsLink } from './nats-link.ts'
import type { NatsSource } from './nats-source.ts'

/** A server drops requests that it cannot queue. */
const REQUESTS_MAX = 256

/**
 * Tells a bucket from another one of its name. (Its date of creation does not: each server of a
 * cluster has one of its own.)
 */
const IDENTITY_KEY = 'identity'

/** Where the bucket is, and how long a call may take. */
export interface BucketOptions {
  readonly source: NatsSource
  readonly timeoutMs: number
  readonly onWarning: (text: string) => void
  /** What was read before may not be so any more. */
  readonly onChange: () => void
}

/** A bucket on a server. */
export class NatsBucket {
  readonly #options: BucketOptions
  readonly #requestMs: number
  readonly #link: NatsLink
  readonly #lanes = new Lanes(REQUESTS_MAX)
  #opening: Promise<OpenBucket> | undefined
  /** What is under `IDENTITY_KEY`. */
  #identity: string | undefined
  #hasCopies = false

  constructor(options: BucketOptions) {
    const { source, timeoutMs, onChange } = options
    this.#options = options
    // Half of it, so that there is time to look whether a write without a reply happened.
    this.#requestMs = Math.ceil(timeoutMs / 2)
    const forget = () => {
      this.#opening = undefined
      onChange()
    }
    this.#link = new NatsLink({ source, timeoutMs, onChange: forget })
  }

  /** What errors call it. */
  get name(): string {
    return this.#options.source.name
  }

  /** Where it is, for errors about values. */
  get place(): { readonly store: string; readonly bucket: string } {
    return { store: this.name, bucket: this.#options.source.bucket }
  }

  /** Connects, creates the bucket if need be, and checks it. After a failure it tries again. */
  async open(): Promise<void> {
    await this.#open()
  }

  /** What the leader of the stream has under a key; `null`: nothing. */
  async read(key: string): Promise<BucketEntry | null> {
    return this.#request(false, ({ bucket }) => bucket.get(key))
  }

  /**
   * Writes over a revision (0: over nothing). The new revision, or `null` when another is stored
   * by now. Rejects with `STORE_OUTCOME_UNKNOWN` when no reply came.
   */
  async write(key: string, text: string, revision: number): Promise<number | null> {
    return this.#request(true, async ({ bucket }) => {
      try {
        return await bucket.put(key, text, { previousSeq: revision, timeout: this.#requestMs })
      } catch (error) {
        if (isConflict(error)) return null
        throw error
      }
    })
  }

  /** Removes a revision of a key for good, unless it was written over; whether it was there. */
  async erase(key: string, revision: number): Promise<boolean> {
    const { bucket } = this.#options.source
    const upTo = { filter: `$KV.${bucket}.${key}`, seq: revision + 1 }
    const { purged } = await this.#request(true, ({ streams }) => {
      return streams.purge(`KV_${bucket}`, upTo)
    })
    return purged > 0
  }

  /** The newest entries of all keys that match. Not a snapshot. */
  async entries(filter: string): Promise<BucketEntry[]> {
    await this.#open()
    return this.#hasCopies ? this.#readAll(filter) : this.#watchAll(filter)
  }

  /** A watch would be served by any copy, which may not know what was confirmed to us. */
  async #readAll(filter: string): Promise<BucketEntry[]> {
    const { bucket } = this.#options.source
    const prefix = `$KV.${bucket}.`
    const { state } = await this.#request(false, ({ streams }) => {
      return streams.info(`KV_${bucket}`, { subjects_filter: prefix + filter })
    })
    const subjects = Object.keys(state.subjects ?? {})
    const entries = await Promise.all(subjects.map((each) => this.read(each.slice(prefix.length))))
    return entries.filter((entry) => entry !== null)
  }

  async #watchAll(filter: string): Promise<BucketEntry[]> {
    const watch = await this.#request(false, ({ bucket }) => bucket.history({ key: filter }))
    const entries = watch[Symbol.asyncIterator]()
    const newest = new Map<string, BucketEntry>()
    try {
      for (;;) {
        const next = await this.#request(false, () => entries.next())
        if (next.done) return [...newest.values()]
        newest.set(next.value.key, next.value)
      }
    } finally {
      watch.stop()
    }
  }

  /** The server's time, in ms since the epoch. Looks at the bucket as well. */
  async serverNow(): Promise<number> {
    await this.#request(false, (open) => this.#recognize(open))
    return this.#request(false, (open) => this.#timeOf(open))
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    await this.#link.close()
  }

  async #request<T>(isWrite: boolean, send: (open: OpenBucket) => Promise<T>): Promise<T> {
    const open = await this.#open()
    return this.#lanes.run(async () => {
      this.#link.assertConnected()
      try {
        const limit = { timeoutMs: this.#requestMs, what: 'the request' }
        return await this.#link.answered(send(open), limit)
      } catch (cause) {
        if (cause instanceof CronfenceError) throw cause
        if (isBucketGone(cause)) this.#opening = undefined // The next request looks why.
        throw failureError(requestFailure(cause), { store: this.name, isWrite }, cause)
      }
    })
  }

  async #open(): Promise<OpenBucket> {
    await this.#link.client()
    this.#opening ??= this.#openAndCheck()
    const opening = this.#opening
    try {
      return await opening
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined
      throw error
    }
  }

  async #openAndCheck(): Promise<OpenBucket> {
    const { timeoutMs, onWarning, source } = this.#options
    const client = await this.#link.client()
    this.#link.assertConnected()
    const isFirst = this.#identity === undefined
    try {
      const limit = { timeoutMs, what: 'opening the bucket' }
      // One that was there is not created again: its tokens would begin again as well.
      const opening = openBucket(client, {
        ...source,
        isToBeCreated: isFirst && source.createBucket,
      })
      const open = await this.#link.answered(opening, limit)
      const { config } = await this.#link.answered(infoOf(open), limit)
      this.#hasCopies = (config.num_replicas ?? 1) > 1
      const warnings = checkBucket(config, this.name)
      await this.#link.answered(this.#recognize(open), limit)
      if (isFirst) warnings.forEach(onWarning)
      return open
    } catch (cause) {
      if (cause instanceof CronfenceError) throw cause
      if (!isFirst && isBucketGone(cause)) throw this.#foreign('the bucket was deleted')
      const failure = openFailure(cause, source.createBucket)
      throw failureError(failure, { store: this.name, isWrite: false }, cause)
    }
  }

  /** Throws unless it is the bucket that was there at first. */
  async #recognize({ bucket }: OpenBucket): Promise<void> {
    const isFirst = this.#identity === undefined
    const identity = await this.#identityOf(bucket, isFirst)
    this.#identity ??= identity
    if (this.#identity === identity) return
    this.#opening = undefined
    throw this.#foreign('the bucket was deleted and created again')
  }

  async #identityOf(bucket: Bucket, isToBeMade: boolean): Promise<string | undefined> {
    const entry = await bucket.get(IDENTITY_KEY)
    if (entry?.operation === 'PUT') return entry.string()
    if (!isToBeMade) return undefined
    const options = { previousSeq: entry?.revision ?? 0, timeout: this.#requestMs }
    try {
      await bucket.put(IDENTITY_KEY, crypto.randomUUID(), options)
    } catch (error) {
      if (!isConflict(error)) throw error // Else another replica was quicker.
    }
    return (await bucket.get(IDENTITY_KEY))?.string()
  }

  async #timeOf(open: OpenBucket): Promise<number> {
    const { ts } = await infoOf(open)
    if (ts !== undefined) return Date.parse(ts)
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      `${this.name}: the server is too old; nats-server 2.10 or later is needed`,
    )
  }

  #foreign(problem: string): CronfenceError {
    return new CronfenceError(
      'STORE_FOREIGN_SCHEMA',
      `${this.name}: ${problem} while the store was running; in a new one fencing tokens ` +
        'begin again: restore it from a backup, or restart every replica once no run is left',
    )
  }
}

async function infoOf({ bucket }: OpenBucket): Promise<StreamInfo> {
  return (await bucket.status()).streamInfo
}
