// A Redis Sentinel of the tests' own: one that watches a primary and promotes its replica at once.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { pingRedis, REDIS_PASSWORD, redisProgram } from './redis.ts'
import { freePort, serverFolder, startServer } from './server.ts'

/** What the primary is called. */
export const SENTINEL_NAME = 'cronfence'

/** A sentinel that is up. */
export interface RunningSentinel {
  readonly host: string
  readonly port: number
  stop(): Promise<void>
}

/** Starts one, and waits until it knows the one replica of the primary on this port. */
export async function startSentinel(primaryPort: number): Promise<RunningSentinel> {
  const command = await redisProgram()
  const folder = serverFolder()
  const port = await freePort()
  const file = join(folder.path, 'sentinel.conf')
  writeFileSync(
    file,
    `bind 127.0.0.1
    port ${port}
    dir ${folder.path}
    sentinel monitor ${SENTINEL_NAME} 127.0.0.1 ${primaryPort} 1
    sentinel auth-pass ${SENTINEL_NAME} ${REDIS_PASSWORD}
    sentinel down-after-milliseconds ${SENTINEL_NAME} 500
    sentinel failover-timeout ${SENTINEL_NAME} 3000
    `,
  )
  const server = await startServer({
    ...{ command, args: [file, '--sentinel'], stopSignal: 'SIGKILL' },
    ready: () => pingRedis(`redis://127.0.0.1:${port}`),
  })
  const client = new Redis(port, '127.0.0.1')
  try {
    for (;;) {
      const replicas = JSON.stringify(await client.call('SENTINEL', 'REPLICAS', SENTINEL_NAME))
      if (/"master-link-status","ok"/.test(replicas)) break
    }
  } finally {
    client.disconnect()
  }
  return {
    ...{ host: '127.0.0.1', port },
    async stop() {
      await server.stop()
      folder.remove()
    },
  }
}
