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

type Opener = (url: string) => Promise<OpenStore>

const OPENERS: Readonly<Record<string, Opener>> = {
  'sqlite:': async (url) => {
    const file = url.slice('sqlite:'.length)
    // Looking at tasks must not create the file they are missing from.
    if (!existsSync(file)) throw new UsageError(`--store ${url}: no such file`)
    const { SQLiteStore } = await import('../store/sqlite/index.ts')
    return new SQLiteStore({ file })
  },
  'postgres:': openPostgres,
  'postgresql:': openPostgres,
  'mysql:': openMysql,
  'mariadb:': openMysql,
  'redis:': openRedis,
  'rediss:': openRedis,
  'nats:': openNats,
  'tls:': openNats,
}

async function openPostgres(text: string): Promise<OpenStore> {
  const { PostgresStore } = await import('../store/postgres/index.ts')
  const { origin: url, prefix: tablePrefix = '' } = prefixOf(text)
  return new PostgresStore({ url, tablePrefix })
}

async function openMysql(text: string): Promise<OpenStore> {
  const { MysqlStore } = await import('../store/mysql/index.ts')
  const { origin, prefix: tablePrefix = '' } = prefixOf(text)
  return new MysqlStore({ url: origin.replace(/^mariadb:/, 'mysql:'), tablePrefix })
}

async function openRedis(url: string): Promise<OpenStore> {
  const { RedisStore } = await import('../store/redis/index.ts')
  const { origin, prefix } = prefixOf(url)
  return new RedisStore({ url: origin, ...(prefix === undefined ? {} : { prefix }) })
}

async function openNats(url: string): Promise<OpenStore> {
  const { NatsStore } = await import('../nats.ts')
  const { origin: servers, prefix: bucket } = prefixOf(url)
  // Looking at tasks must not create the bucket they are missing from.
  const mustExist = { servers, createBucket: false }
  return new NatsStore({ ...mustExist, ...(bucket === undefined ? {} : { bucket }) })
}

/** The prefix, or bucket, is what comes after `#`: no part of what a server's URL means. */
function prefixOf(url: string): { origin: string; prefix?: string } {
  const [origin = '', prefix] = url.split('#')
  return prefix === undefined ? { origin } : { origin, prefix }
}

/** The URLs that `openStore` takes, for help and errors. */
export const STORE_URLS =
  'sqlite:FILE, nats://HOST#BUCKET or postgres://, mysql://, redis://HOST/DB#PREFIX'

/** A store that is not started yet; an URL of no known scheme is a `UsageError`. */
export async function openStore(url: string): Promise<OpenStore> {
  const [, open] = Object.entries(OPENERS).find(([scheme]) => url.startsWith(scheme)) ?? []
  if (open !== undefined) return open(url)
  throw new UsageError(`--store takes ${STORE_URLS}, not ${JSON.stringify(url)}`)
}
