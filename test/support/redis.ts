// A Redis server of the tests' own.

import { existsSync } from 'node:fs'
import { Redis } from 'ioredis'
import {
  freePort,
  neededProgram,
  type RunningDatabase,
  serverFolder,
  startDatabase,
} from './server.ts'

const USER = 'redis'
/** Of every server of {@link startRedis}. */
export const REDIS_PASSWORD = 'cronfence'
const PLACES = ['/usr/bin/redis-server', '/usr/local/bin/redis-server']

/** The path of the program; it is installed when it may be. */
export const redisProgram = (): Promise<string> =>
  neededProgram({
    name: 'Redis server',
    find: () => PLACES.find((path) => existsSync(path)),
    packages: ['redis-server'],
    variable: 'CRONFENCE_TEST_REDIS_URL',
  })

/** What every server is told. Its log need not reach the disk: tests end it, not the machine. */
export const redisSettings = (folder: string, port: number): string[] => [
  ...['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''],
  ...['--appendonly', 'yes', '--appendfsync', 'no', '--repl-diskless-sync-delay', '0'],
]

/** Starts one, with the password `cronfence`; `settings` are more of its arguments. */
export async function startRedis(settings: readonly string[] = []): Promise<RunningDatabase> {
  const command = await redisProgram()
  const folder = serverFolder(USER)
  const port = await freePort()
  const url = `redis://:${REDIS_PASSWORD}@127.0.0.1:${port}/0`
  const database = await startDatabase({
    ...{ url, port, folder, command, user: USER, stopSignal: 'SIGTERM' },
    args: [...redisSettings(folder.path, port), '--requirepass', REDIS_PASSWORD, ...settings],
    ready: () => pingRedis(url),
  })
  return {
    ...database,
    async stop() {
      // A replica that has just copied its primary does not heed SIGTERM while it writes a log.
      await database.pause('SIGKILL')
      await database.stop()
    },
  }
}

/** Arguments of a server that replicates another one of {@link startRedis}. */
export function replicaOf(port: number): string[] {
  return ['--replicaof', `127.0.0.1 ${port}`, '--masterauth', REDIS_PASSWORD]
}

/** Resolves when the server answers. */
export async function pingRedis(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => {}) // It is not up yet.
  try {
    await client.connect()
    await client.ping()
  } finally {
    client.disconnect()
  }
}
