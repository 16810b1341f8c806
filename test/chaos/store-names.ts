// The stores that chaos runs know, each by the name on the command line, and how to open one.

import type { ScheduleStore } from '../../src/index.ts'
import { MongoStore } from '../../src/store/mongo/index.ts'
import { MysqlStore } from '../../src/store/mysql/index.ts'
import { NatsStore } from '../../src/store/nats/index.ts'
import { PostgresStore } from '../../src/store/postgres/index.ts'
import { RedisStore } from '../../src/store/redis/index.ts'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'

/** What a replica needs of a store. */
export interface OpenStore {
  start(): Promise<void>
  stop(): Promise<void>
  schedules(): Required<ScheduleStore>
}

interface Way {
  readonly url: string
  /** How long a request may take. */
  readonly timeoutMs: number
}

// Warnings are about settings that the tests choose on purpose.
const quiet = { onWarning: () => {} }

const STORES = {
  sqlite: ({ url: file }: Way) => new SQLiteStore({ file }),
  redis: (way: Way) => new RedisStore({ ...way, ...quiet }),
  postgres: (way: Way) => new PostgresStore({ ...way, ...quiet }),
  mysql: (way: Way) => new MysqlStore({ ...way, ...quiet }),
  mongo: (way: Way) => new MongoStore({ ...way, ...quiet }),
  nats: ({ url: servers, timeoutMs }: Way) => new NatsStore({ servers, timeoutMs, ...quiet }),
} satisfies Record<string, (way: Way) => OpenStore>

/** A store's name on the command line. */
export type StoreName = keyof typeof STORES

/** All names. */
export const STORE_NAMES = Object.keys(STORES) as StoreName[]

/** Opens a store at a URL or, for `sqlite`, on a file. Connects to nothing yet. */
export const openStore = (name: StoreName, way: Way): OpenStore => STORES[name](way)
