// Opens a store from its URL. One row per scheme; a store's code and its driver are loaded only
// when asked for.

import { existsSync } from 'node:fs'
import type { ScheduleStore } from '../store/store.ts'
import { UsageError } from './command.ts'

/** What the commands need of a bundled store. */
export interface OpenStore {
  start(): Promise<void>
  stop(): Promise<void>
  schedules(): ScheduleStore
  /** Removes tombstones of tasks deleted before the instant; returns how many. */
  purge(olderThan: number): Promise<number>
}

/** Hears what a store has to say besides: weak settings of a server, damaged rows. */
export type Tell = (text: string) => void

type Opener = (url: string, hearers: Hearers) => Promise<OpenStore>

interface Hearers {
  readonly onWarning: Tell
  readonly onDamaged: (error: Error) => void
}

const OPENERS: Readonly<Record<string, Opener>> = {
  'sqlite:': async (url, hearers) => {
    const file = url.slice('sqlite:'.length)
    // Looking at tasks must not create the file they are missing from.
    if (!existsSync(file)) throw new UsageError(`--store ${url}: no such file`)
    const { SQLiteStore } = await import('../store/sqlite/index.ts')
    return new SQLiteStore({ file, ...hearers })
  },
  'postgres:': openPostgres,
  'postgresql:': openPostgres,
  'mysql:': openMysql,
  'mariadb:': openMysql,
  'redis:': openRedis,
  'rediss:': openRedis,
  'mongodb:': openMongo,
  'mongodb+srv:': openMongo,
  'nats:': openNats,
  'tls:': openNats,
}

async function openPostgres(text: string, hearers: Hearers): Promise<OpenStore> {
  const { PostgresStore } = await import('../store/postgres/index.ts')
  const { origin: url, prefix: tablePrefix = '' } = prefixOf(text)
  return new PostgresStore({ url, tablePrefix, ...hearers })
}

async function openMysql(text: string, hearers: Hearers): Promise<OpenStore> {
  const { MysqlStore } = await import('../store/mysql/index.ts')
  const { origin, prefix: tablePrefix = '' } = prefixOf(text)
  const mysqlUrl = origin.replace(/^mariadb:/, 'mysql:')
  return new MysqlStore({ url: mysqlUrl, tablePrefix, ...hearers })
}

async function openRedis(url: string, hearers: Hearers): Promise<OpenStore> {
  const { RedisStore } = await import('../store/redis/index.ts')
  const { origin, prefix } = prefixOf(url)
  return new RedisStore({ url: origin, ...(prefix === undefined ? {} : { prefix }), ...hearers })
}

async function openMongo(text: string, hearers: Hearers): Promise<OpenStore> {
  const { MongoStore } = await import('../store/mongo/index.ts')
  const { origin: url, prefix: collectionPrefix = '' } = prefixOf(text)
  return new MongoStore({ url, collectionPrefix, ...hearers })
}

async function openNats(url: string, hearers: Hearers): Promise<OpenStore> {
  const { NatsStore } = await import('../nats.ts')
  const { origin: servers, prefix: bucket } = prefixOf(url)
  // Looking at tasks must not create the bucket they are missing from.
  const mustExist = { servers, createBucket: false, ...hearers }
  return new NatsStore({ ...mustExist, ...(bucket === undefined ? {} : { bucket }) })
}

/** The prefix, or bucket, is what comes after `#`: no part of what a server's URL means. */
function prefixOf(url: string): { origin: string; prefix?: string } {
  const [origin = '', prefix] = url.split('#')
  return prefix === undefined ? { origin } : { origin, prefix }
}

/** The URLs that `openStore` takes, for help and errors. */
export const STORE_URLS =
  'sqlite:FILE, nats://HOST#BUCKET or postgres://, mysql://, mongodb://, redis://HOST/DB#PREFIX'

/** A store that is not started yet; an URL of no known scheme is a `UsageError`. */
export async function openStore(url: string, tell: Tell): Promise<OpenStore> {
  const [, open] = Object.entries(OPENERS).find(([scheme]) => url.startsWith(scheme)) ?? []
  if (open !== undefined)
    return open(url, { onWarning: tell, onDamaged: (error) => tell(error.message) })
  throw new UsageError(`--store takes ${STORE_URLS}, not ${JSON.stringify(withoutUser(url))}`)
}

/** Whatever it is: what stands before an `@` may be a password. */
function withoutUser(text: string): string {
  const end = text.lastIndexOf('@')
  return end < 0 ? text : `…${text.slice(end)}`
}
