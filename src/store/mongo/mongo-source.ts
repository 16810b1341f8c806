// Where a MongoStore's database is: what users may say of it, and what is said of it in errors.

import type { MongoClient } from './mongo-client.ts'

/** What users say of it. */
export type MongoSourceOptions = {
  /** The database. Default: the one in the URL, else `test`, as everywhere with MongoDB. */
  readonly database?: string
} & (
  | {
      /** `mongodb://user:password@host:port/database`, with several hosts, or `mongodb+srv://`. */
      readonly url: string
      /** The most connections that are open at once. Default 5. */
      readonly connectionsMax?: number
    }
  | {
      /** Your own `MongoClient`. It is never closed. */
      readonly client: MongoClient
    }
)

/** A database, and the way to it. */
export interface MongoSource {
  /** For errors: without user, password and parameters. */
  readonly name: string
  readonly database: string | undefined
  readonly via:
    | { readonly url: string; readonly connectionsMax: number }
    | { readonly client: MongoClient }
}

const URL_PARTS = /^mongodb(?:\+srv)?:\/\/(?:[^/?#]*@)?([^/?#@]+)(\/[^?#]*)?/

/** The source that the options name. Throws a `TypeError` or `RangeError`. */
export function sourceOf(options: MongoSourceOptions): MongoSource {
  const {
    url,
    client,
    database,
    connectionsMax = 5,
  } = options as {
    url?: unknown
    client?: MongoClient
    database?: string
    connectionsMax?: number
  }
  if (database !== undefined && (typeof database !== 'string' || !isDatabaseName(database))) {
    throw new TypeError(
      'database: must be 1 to 63 bytes without any of / \\ . " $ * < > : | ? and blanks, got ' +
        JSON.stringify(database),
    )
  }
  if ((url === undefined) === (client === undefined)) {
    throw new TypeError('MongoStore: give either a url or a client')
  }
  if (client !== undefined) {
    if (typeof client?.db !== 'function' || typeof client.connect !== 'function') {
      throw new TypeError('client: must be a MongoClient of the driver mongodb')
    }
    return { name: 'MongoStore', database, via: { client } }
  }
  if (!Number.isSafeInteger(connectionsMax) || connectionsMax < 1) {
    throw new RangeError(`connectionsMax: must be a whole number from 1 up, got ${connectionsMax}`)
  }
  const [, hosts, path = '/'] = (typeof url === 'string' && URL_PARTS.exec(url)) || []
  if (typeof url !== 'string' || hosts === undefined) {
    // The text may have a password in it: it is not repeated.
    throw new TypeError('url: must be a URL that starts with mongodb:// or mongodb+srv://')
  }
  const place = database === undefined ? path : `/${database}`
  return { name: `MongoStore at ${hosts}${place}`, database, via: { url, connectionsMax } }
}

function isDatabaseName(name: string): boolean {
  return /^[^/\\. "$*<>:|?\0]+$/.test(name) && Buffer.byteLength(name) <= 63
}
