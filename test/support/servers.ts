// The servers that a run of the tests shares: each is started when the first test file asks for it,
// by the process that outlives them all, and ended with the run. Vitest's `globalSetup`.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { startMariadb } from './mariadb.ts'
import { startMongo } from './mongo.ts'
import { startPgbouncer } from './pgbouncer.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { startRedisCluster } from './redis-cluster.ts'

/** A shared server as the tests see it. */
export interface SharedServer {
  readonly url: string
  stop(): Promise<void>
}

type Starter = () => Promise<SharedServer>

const STARTERS: Readonly<Record<string, Starter>> = {
  postgres: startPostgres,
  mariadb: startMariadb,
  mongo: () => startMongo({ postgresUrl: async () => (await shared('postgres')).url }),
  redis: startRedis,
  'redis-cluster': startRedisCluster,
  pgbouncer: async () => startPgbouncer((await shared('postgres')).url),
}

const started = new Map<string, Promise<SharedServer>>()

function shared(name: string): Promise<SharedServer> {
  const start = STARTERS[name]
  if (!start) throw new Error(`no shared server is called ${name}`)
  const server = started.get(name) ?? start()
  started.set(name, server)
  return server
}

/** Lets test files ask for servers by name: see `server-url.ts`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const broker = createServer(async ({ url = '/' }, response) => {
    try {
      response.end((await shared(url.slice(1))).url)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  broker.listen(0, '127.0.0.1')
  await once(broker, 'listening')
  project.provide('servers', `http://127.0.0.1:${(broker.address() as AddressInfo).port}`)
  return () => tearDown(broker)
}

async function tearDown(broker: Server): Promise<void> {
  broker.closeAllConnections()
  broker.close()
  // Those that stand before another are ended first.
  const servers = await Promise.allSettled([...started.values()].reverse())
  started.clear()
  for (const server of servers) if (server.status === 'fulfilled') await server.value.stop()
}
