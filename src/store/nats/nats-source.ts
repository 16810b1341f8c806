// Where a NatsStore's bucket is: what users may say of it, and what is said of it in errors.

import type { NatsClient } from './nats-client.ts'

/** What users say of it. */
export type NatsSourceOptions = {
  /** Default `cronfence`. Created when it does not exist; one that exists is left as it is. */
  readonly bucket?: string
  /** On how many servers of a cluster a bucket that is created here is kept. Default 1. */
  readonly replicas?: number
  /** `false`: a bucket that does not exist is an error. Default `true`. */
  readonly createBucket?: boolean
} & (
  | {
      /** Host and port of one server or several of a cluster, also as URLs: `nats://host:4222`. */
      readonly servers: string | readonly string[]
      /** More options for the driver's `connect`: `token`, `tls`, `authenticator` and so on. */
      readonly connectOptions?: Readonly<Record<string, unknown>>
    }
  | {
      /** Your own connection. It is never closed. */
      readonly connection: NatsClient
    }
)

/** A bucket, and the way to it. */
export interface NatsSource {
  /** For errors; without user and password. */
  readonly name: string
  readonly bucket: string
  readonly replicas: number
  readonly createBucket: boolean
  /** The caller's connection, or options for one of our own. */
  readonly via:
    | { readonly connection: NatsClient }
    | { readonly options: Readonly<Record<string, unknown>> }
}

// How soon a lost connection is tried again: well within the time that a request may take.
const RECONNECT = { reconnectTimeWait: 250, reconnectJitter: 100, maxReconnectAttempts: -1 }

/** The source that the options name. Throws a `TypeError` or `RangeError`. */
export function sourceOf(options: NatsSourceOptions): NatsSource {
  const { bucket = 'cronfence', replicas = 1, createBucket = true } = options
  if (typeof bucket !== 'string' || !/^[-\w]+$/.test(bucket)) {
    throw new TypeError(`bucket: must be letters, digits, - and _, got ${JSON.stringify(bucket)}`)
  }
  if (![1, 3, 5].includes(replicas)) {
    throw new RangeError(`replicas: must be 1, 3 or 5, got ${replicas}`)
  }
  const { servers, connection, connectOptions } = options as {
    servers?: unknown
    connection?: NatsClient
    connectOptions?: Readonly<Record<string, unknown>>
  }
  if ((servers === undefined) === (connection === undefined)) {
    throw new TypeError('NatsStore: give either servers or a connection')
  }
  if (connection !== undefined) {
    if (typeof connection?.status !== 'function') {
      throw new TypeError('connection: must be a connection to NATS: await connect({ servers })')
    }
    const name = `NatsStore, bucket ${bucket}`
    return { name, bucket, replicas, createBucket, via: { connection } }
  }
  const { hosts, credentials } = addressesOf(servers)
  return {
    name: `NatsStore at ${hosts.join(', ')}, bucket ${bucket}`,
    bucket,
    replicas,
    createBucket,
    via: {
      options: {
        ...{ ...RECONNECT, noAsyncTraces: true, name: 'cronfence' },
        ...credentials,
        ...connectOptions,
        servers: hosts,
      },
    },
  }
}

function addressesOf(servers: unknown) {
  const list: unknown[] = Array.isArray(servers) ? servers : [servers]
  const urls = list.map(urlOf)
  if (urls.length === 0) throw new TypeError('servers: must name at least one server')
  // The driver takes user and password apart from the addresses only.
  const named = urls.find(({ username }) => username !== '')
  const [user, pass] = [named?.username, named?.password].map((text) => {
    return text === undefined ? undefined : decodeURIComponent(text)
  })
  return {
    hosts: urls.map(({ host }) => host),
    credentials: user === undefined ? {} : pass === '' ? { token: user } : { user, pass },
  }
}

function urlOf(server: unknown): URL {
  const text = typeof server === 'string' && !server.includes('://') ? `nats://${server}` : server
  if (typeof text === 'string' && /^(nats|tls):\/\/./.test(text) && URL.canParse(text)) {
    const url = new URL(text)
    if (url.hostname !== '') return url
  }
  // The text may have a password in it: it is not repeated.
  throw new TypeError(
    'servers: each must be host:port, or a URL that starts with nats:// or tls://',
  )
}
