// The stores under test: how a replica opens each. Memory lives in one process only, so its
// replicas share it there; the others run in a process each, as replicas do.

import { basename } from 'node:path'
import { MemoryScheduleStore, type ScheduleStore } from 'cronfence'
import { NatsStore } from 'cronfence/nats'
import { RedisStore } from 'cronfence/redis'
import { SQLiteStore } from 'cronfence/sqlite'
import { NATS_URL, startNats } from './nats-server.ts'
import { REDIS_URL, startRedis } from './redis-server.ts'

/** An open store of one replica. */
export interface OpenStore {
  readonly schedules: ScheduleStore
  close(): Promise<void>
}

/** A store under test. */
export interface Contestant {
  readonly name: string
  /** Starts the server that the replicas share; resolves with how to end it. */
  startServer?(): Promise<() => Promise<void>>
  /** Opens it; `folder` is empty before the first replica and shared by all. */
  open(folder: string): OpenStore
  readonly ownProcess: boolean
  /** Occurrences per second to reach with one replica (issues 3 and 4). */
  readonly goal: number
}

const memory = new MemoryScheduleStore()

export const CONTESTANTS: readonly Contestant[] = [
  {
    name: 'memory',
    open: () => ({ schedules: memory, close: async () => {} }),
    ownProcess: false,
    goal: 50_000,
  },
  {
    name: 'sqlite',
    open(folder) {
      const store = new SQLiteStore({ file: `${folder}/bench.db` })
      return { schedules: store.schedules(), close: () => store.stop() }
    },
    ownProcess: true,
    goal: 5_000,
  },
  {
    name: 'redis',
    startServer: startRedis,
    open(folder) {
      const { [REDIS_URL]: url = '' } = process.env
      const store = new RedisStore({ url, prefix: basename(folder), onWarning: () => {} })
      return { schedules: store.schedules(), close: () => store.stop() }
    },
    ownProcess: true,
    goal: 10_000,
  },
  {
    name: 'nats',
    startServer: startNats,
    open(folder) {
      const { [NATS_URL]: servers = '' } = process.env
      const store = new NatsStore({ servers, bucket: basename(folder) })
      return { schedules: store.schedules(), close: () => store.stop() }
    },
    ownProcess: true,
    goal: 3_000,
  },
]

export function contestant(name: string): Contestant {
  const found = CONTESTANTS.find((each) => each.name === name)
  if (!found) {
    const names = CONTESTANTS.map((each) => each.name).join(', ')
    throw new Error(`--store: expected one of ${names}, got "${name}"`)
  }
  return found
}
