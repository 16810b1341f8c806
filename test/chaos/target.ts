// The server, or the file, that a chaos run is about: started with settings under which what was
// confirmed is on the disk, and ended and brought back in its midst.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startMariadb } from '../support/mariadb.ts'
import { startMongo } from '../support/mongo.ts'
import { ownNatsServer } from '../support/nats-server.ts'
import { startPostgres } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import type { RunningDatabase } from '../support/server.ts'
import type { StoreName } from './store-names.ts'

/** Where the store is. */
export interface Target {
  readonly url: string
  /** The server; absent where the store is a file. */
  readonly server?: RunningDatabase
}

type Starter = (folder: string) => Promise<RunningDatabase>

const SERVERS: Readonly<Record<Exclude<StoreName, 'sqlite'>, Starter>> = {
  redis: () => startRedis(['--appendfsync', 'always']),
  postgres: () => startPostgres(['fsync=on']),
  mysql: startMariadb,
  async mongo() {
    let beneath: RunningDatabase | undefined
    const postgresUrl = async () => {
      beneath = await startPostgres(['fsync=on'])
      return beneath.url
    }
    const server = await startMongo({ postgresUrl })
    const stop = async () => {
      await server.stop()
      await beneath?.stop()
    }
    return { ...server, stop }
  },
  async nats(folder) {
    const file = join(folder, 'nats.conf')
    writeFileSync(file, 'jetstream { sync_interval: always }\n')
    return ownNatsServer(['--config', file])
  },
}

/** Starts it. `folder` is the run's own. */
export async function startTarget(store: StoreName, folder: string): Promise<Target> {
  mkdirSync(folder, { recursive: true })
  if (store === 'sqlite') return { url: join(folder, 'chaos.db') }
  const server = await SERVERS[store](folder)
  return { url: server.url, server }
}

const RESTART_TRIES = 20

/** Ends the server, by `signal` or in an orderly way, and brings it back after a `wait`. */
export async function restart(
  server: RunningDatabase,
  signal: NodeJS.Signals | undefined,
  wait: () => Promise<unknown>,
): Promise<void> {
  await server.pause(signal)
  await wait()
  for (let tries = 1; ; tries++) {
    try {
      await server.start()
      return
    } catch (error) {
      // The children of a killed PostgreSQL may hold its memory for a moment longer.
      if (tries === RESTART_TRIES) throw error
      await wait()
    }
  }
}

/** The URL by which the same server is reached through a proxy. */
export function throughPort(url: string, port: number): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
