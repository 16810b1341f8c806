// What users hold: a Redis server or cluster, and the parts of the library that live in it.

import { ServerStore, type ServerStoreOptions } from '../server-store.ts'
import type { RedisClient } from './redis-client.ts'
import { RedisConnection } from './redis-connection.ts'
import { keysOf } from './redis-keys.ts'
import { RedisLeaseProvider } from './redis-lease-provider.ts'
import { RedisSchedules } from './redis-schedules.ts'

/** Options of a {@link RedisStore}: a `url`, or a `client` of your own. */
export type RedisStoreOptions = ServerStoreOptions & {
  /**
   * Put before every key, as its hash tag: on a cluster all keys of a store are in one slot. 1 to
   * 100 letters, digits and any of `_ - . : /`. Default `cronfence`.
   */
  readonly prefix?: string
} & (
    | {
        /** Of a server, or of any node of a cluster: `redis://user:password@host:port/database`. */
        readonly url: string
        readonly client?: undefined
      }
    | {
        /** Of ioredis or node-redis, for a server or a cluster. It is never closed. */
        readonly client: RedisClient
        readonly url?: undefined
      }
  )

/**
 * Schedules and leases in Redis (6 or newer, or what speaks its protocol), for any number of
 * replicas. Each call is one script, so atomic; a batch is one round trip.
 *
 * Methods reject with a `CronfenceError`: `STORE_UNAVAILABLE` when the server cannot be reached or
 * refused, and nothing was changed; `STORE_OUTCOME_UNKNOWN` when the connection ended before the
 * reply; `STORE_DRIVER_MISSING`; `STORE_FOREIGN_SCHEMA` or `STORE_NEWER_SCHEMA` for keys that are
 * not ours to change; `STORE_DAMAGED_RECORD` for a key that cannot be read; `STORE_TOKEN_CEILING`;
 * `STORE_CLOSED`.
 */
export class RedisStore extends ServerStore {
  /** Connects to nothing yet. Throws a `TypeError` or `RangeError` for wrong options. */
  constructor(options: RedisStoreOptions) {
    const keys = keysOf(options.prefix ?? 'cronfence')
    const source = sourceOf(options)
    super(({ clock, timeoutMs, onWarning }) => {
      const connection = new RedisConnection({ source, keys, timeoutMs, onWarning })
      const schedules = new RedisSchedules(connection, keys, clock)
      return {
        schedules,
        leases: new RedisLeaseProvider(connection, keys, clock),
        open: () => connection.open(),
        close: () => connection.close(),
        purge: (olderThan) => schedules.purge(olderThan),
        serverNow: () => connection.serverNow(),
      }
    }, options)
  }
}

function sourceOf({ url, client }: RedisStoreOptions) {
  if ((url === undefined) === (client === undefined)) {
    throw new TypeError('RedisStore: give either a url or a client')
  }
  if (client !== undefined) return { client }
  if (typeof url === 'string' && /^rediss?:\/\/./.test(url) && URL.canParse(url)) return { url }
  // The text may have a password in it: it is not repeated.
  throw new TypeError('url: must be a URL that starts with redis:// or rediss://')
}
