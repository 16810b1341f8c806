// What users hold: a MongoDB database, and the parts of the library that live in it.

import { ServerStore, type ServerStoreOptions } from '../server-store.ts'
import { MongoConnection } from './mongo-connection.ts'
import { MongoLeaseProvider } from './mongo-lease-provider.ts'
import { MongoSchedules } from './mongo-schedules.ts'
import { collectionsOf, setUp } from './mongo-schema.ts'
import { type MongoSourceOptions, sourceOf } from './mongo-source.ts'

/** Options of a {@link MongoStore}: a `url`, or a `client` of your own; and what is in it. */
export type MongoStoreOptions = ServerStoreOptions &
  MongoSourceOptions & {
    /** Put before the collections' names. Letters, digits and `_`, 40 at most. Default none. */
    readonly collectionPrefix?: string
  }

/**
 * Schedules and leases in a database of MongoDB (4.2 or newer; a standalone server, a replica set
 * or a sharded cluster), for any number of replicas.
 *
 * Each call changes a document on the condition that it is as it was read, and waits for a majority
 * of the set; a batch is one command. Methods reject with a `CronfenceError`: `STORE_UNAVAILABLE`
 * when the server cannot be reached or refused, and nothing was changed; `STORE_OUTCOME_UNKNOWN`
 * when no reply came, or no majority confirmed; `STORE_DRIVER_MISSING`; `STORE_FOREIGN_SCHEMA` or
 * `STORE_NEWER_SCHEMA` for collections that are not ours to change; `STORE_DAMAGED_RECORD` for a
 * document that cannot be read; `STORE_TOKEN_CEILING`; `STORE_CLOSED`.
 */
export class MongoStore extends ServerStore {
  /** Connects to nothing yet. Throws a `TypeError` or `RangeError` for wrong options. */
  constructor(options: MongoStoreOptions) {
    const collections = collectionsOf(options.collectionPrefix ?? '')
    const source = sourceOf(options)
    super(({ clock, timeoutMs, onWarning }) => {
      const connection = new MongoConnection({
        ...{ source, timeoutMs },
        setUp: (to) => setUp(to, collections, onWarning),
      })
      const schedules = new MongoSchedules(connection, collections, clock)
      return {
        schedules,
        leases: new MongoLeaseProvider(connection, collections, clock),
        open: () => connection.open(),
        close: () => connection.close(),
        purge: (olderThan) => schedules.purge(olderThan),
        serverNow: () => connection.serverNow(),
      }
    }, options)
  }
}
