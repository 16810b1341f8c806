// Every bundled store, with places in it that must not see each other: prefixes, buckets, files.

import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { MongoStore } from '../../../src/store/mongo/index.ts'
import { MysqlStore } from '../../../src/store/mysql/index.ts'
import { NatsStore } from '../../../src/store/nats/index.ts'
import { PostgresStore } from '../../../src/store/postgres/index.ts'
import { RedisStore } from '../../../src/store/redis/index.ts'
import type { ServerStore } from '../../../src/store/server-store.ts'
import { SQLiteStore } from '../../../src/store/sqlite/index.ts'
import { natsServer } from '../../support/nats-server.ts'
import { serverUrl } from '../../support/server-url.ts'
import { scratch } from '../subjects.ts'

/** What the tests use of a store. */
export type AnyStore = Pick<ServerStore, 'start' | 'stop' | 'schedules' | 'leases'>

/** One kind of store. */
export interface Kind {
  readonly name: string
  /** What is called a place here; absent for a file, whose name is the system's business. */
  readonly option?: 'prefix' | 'tablePrefix' | 'collectionPrefix' | 'bucket'
  /** The server's URL; asked for once, and given to the others. */
  readonly url: () => Promise<{ readonly url: string; stop(): Promise<void> }>
  open(url: string, place: string): AnyStore
}

const quiet = { onWarning: () => {}, onDamaged: () => {} }
const ofShared = (server: string) => async () => ({
  url: await serverUrl(server),
  stop: async () => {},
})

export const KINDS: readonly Kind[] = [
  {
    name: 'SQLiteStore',
    url: async () => {
      const { file, remove } = scratch()
      return { url: file, stop: async () => remove() }
    },
    open: (url, place) => new SQLiteStore({ file: join(dirname(url), `${place}.db`) }),
  },
  {
    name: 'RedisStore',
    option: 'prefix',
    url: ofShared('redis'),
    open: (url, prefix) => new RedisStore({ ...quiet, url, prefix }),
  },
  {
    name: 'RedisStore on a cluster',
    option: 'prefix',
    url: ofShared('redis-cluster'),
    open: (url, prefix) => new RedisStore({ ...quiet, url, prefix }),
  },
  {
    name: 'PostgresStore',
    option: 'tablePrefix',
    url: ofShared('postgres'),
    open: (url, tablePrefix) => new PostgresStore({ ...quiet, url, tablePrefix }),
  },
  {
    name: 'MysqlStore',
    option: 'tablePrefix',
    url: ofShared('mariadb'),
    open: (url, tablePrefix) => new MysqlStore({ ...quiet, url, tablePrefix }),
  },
  {
    name: 'MongoStore',
    option: 'collectionPrefix',
    url: ofShared('mongo'),
    open: (url, collectionPrefix) =>
      new MongoStore({ ...quiet, url, collectionPrefix, database: 'cronfence_security' }),
  },
  {
    name: 'NatsStore',
    option: 'bucket',
    url: natsServer,
    open: (servers, bucket) => new NatsStore({ ...quiet, servers, bucket }),
  },
]

/** A name that every kind takes, and no other test has. */
export function freshPlace(): string {
  return `sec_${randomUUID().slice(0, 8)}_`
}
