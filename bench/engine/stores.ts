// The stores under test: their servers, how a replica opens each, and the rate to reach. Servers
// sync to disk as often as by default: Redis once a second, NATS every two minutes, which is less
// than the README asks for in production. Memory lives in one process only, so its replicas share
// it there; the others run in a process each, as replicas do.

import {
  type LeaseProvider,
  MemoryLeaseProvider,
  MemoryScheduleStore,
  type ScheduleStore,
} from 'cronfence'
import { MongoStore } from 'cronfence/mongo'
import { MysqlStore } from 'cronfence/mysql'
import { NatsStore } from 'cronfence/nats'
import { PostgresStore } from 'cronfence/postgres'
import { RedisStore } from 'cronfence/redis'
import { SQLiteStore } from 'cronfence/sqlite'
import { startMariadb } from '../../test/support/mariadb.ts'
import { startMongo } from '../../test/support/mongo.ts'
import { ownNatsServer } from '../../test/support/nats-server.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { startRedis } from '../../test/support/redis.ts'

/** Where the replicas of one question keep their tasks; empty before the first one comes. */
export interface Place {
  /** Of the server, or `''`. */
  readonly url: string
  readonly folder: string
  /** Unlike that of any other question: a prefix or a bucket. */
  readonly name: string
}

/** An open store of one replica. */
export interface OpenStore {
  readonly schedules: ScheduleStore
  readonly leases: LeaseProvider
  close(): Promise<void>
}

/** A server that replicas share. */
export interface BenchServer {
  readonly url: string
  stop(): Promise<void>
}

/** A store under test. */
export interface Contestant {
  readonly name: string
  startServer?(): Promise<BenchServer>
  open(place: Place): OpenStore
  readonly ownProcess: boolean
  /** Occurrences per second to reach, and with how many replicas (issues 3 and 4), if any. */
  readonly goal?: { readonly perSecond: number; readonly replicas: number }
  /** The 99th percentile to stay below when 10,000 tasks fall due at once (issue 3). */
  readonly latenessGoalMs?: number
  /** Share of the tasks that it is asked for; all by default. */
  readonly scale?: number
}

export const CONTESTANTS: readonly Contestant[] = [
  {
    name: 'memory',
    open: memoryOnce(),
    ownProcess: false,
    goal: { perSecond: 50_000, replicas: 1 },
    latenessGoalMs: 250,
  },
  {
    name: 'sqlite',
    open: ({ folder }) => opened(new SQLiteStore({ file: `${folder}/bench.db` })),
    ownProcess: true,
    goal: { perSecond: 5_000, replicas: 1 },
    latenessGoalMs: 250,
  },
  {
    name: 'redis',
    startServer: () =>
      startRedis(['--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction']),
    open: ({ url, name }) => opened(new RedisStore({ url, prefix: name, onWarning: () => {} })),
    ownProcess: true,
    goal: { perSecond: 10_000, replicas: 2 },
  },
  {
    name: 'postgres',
    startServer: () => startPostgres(['fsync=on']),
    open: ({ url, name }) => opened(new PostgresStore({ url, tablePrefix: name })),
    ownProcess: true,
    goal: { perSecond: 4_000, replicas: 2 },
  },
  {
    name: 'mariadb',
    startServer: startMariadb,
    open: ({ url, name }) => opened(new MysqlStore({ url, tablePrefix: name })),
    ownProcess: true,
    goal: { perSecond: 3_000, replicas: 2 },
  },
  {
    name: 'nats',
    startServer: ownNatsServer,
    open: ({ url, name }) => opened(new NatsStore({ servers: url, bucket: name })),
    ownProcess: true,
    goal: { perSecond: 3_000, replicas: 2 },
  },
  {
    // Without a mongod it is FerretDB over PostgreSQL, one update at a time: no rate of MongoDB's.
    name: 'mongo',
    startServer: startMongoAlone,
    open: ({ url, name }) => {
      return opened(new MongoStore({ url, collectionPrefix: name, onWarning: () => {} }))
    },
    ownProcess: true,
    scale: 0.01,
  },
]

/** The contestant of that name. Throws a text for people when there is none. */
export function contestant(name: string): Contestant {
  const found = CONTESTANTS.find((each) => each.name === name)
  if (!found) {
    const names = CONTESTANTS.map((each) => each.name).join(', ')
    throw new Error(`--store: expected one of ${names}, got "${name}"`)
  }
  return found
}

async function startMongoAlone(): Promise<BenchServer> {
  const postgres = await startPostgres(['fsync=on'])
  const mongo = await startMongo({ postgresUrl: async () => postgres.url })
  return {
    url: mongo.url,
    async stop() {
      await mongo.stop()
      await postgres.stop()
    },
  }
}

interface StoppableStore {
  schedules(): ScheduleStore
  leases(): LeaseProvider
  stop(): Promise<void>
}

function opened(store: StoppableStore): OpenStore {
  return { schedules: store.schedules(), leases: store.leases(), close: () => store.stop() }
}

/** One store for all replicas of a place. */
function memoryOnce(): (place: Place) => OpenStore {
  let last: { readonly name: string; readonly store: OpenStore } | undefined
  return ({ name }) => {
    if (last?.name !== name) {
      const schedules = new MemoryScheduleStore()
      const leases = new MemoryLeaseProvider()
      last = { name, store: { schedules, leases, close: async () => {} } }
    }
    return last.store
  }
}
