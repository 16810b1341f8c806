// A Redis Cluster of three primaries of the tests' own.

import { Redis } from 'ioredis'
import { pingRedis, redisProgram, redisSettings } from './redis.ts'
import { freePort, type ServerFolder, serverFolder, startServer } from './server.ts'

const SLOTS = 16_384
const NODES = 3
const JOINED_MS_MAX = 30_000

/** The URLs of its nodes; the first stands for all. */
export interface RunningCluster {
  readonly url: string
  readonly nodes: readonly string[]
  stop(): Promise<void>
}

/** Starts one and waits until it is whole. */
export async function startRedisCluster(): Promise<RunningCluster> {
  const command = await redisProgram()
  const nodes = await Promise.all(Array.from({ length: NODES }, () => startNode(command)))
  await join(nodes)
  const urls = nodes.map(({ url }) => url)
  return {
    url: urls[0] ?? '',
    nodes: urls,
    async stop() {
      for (const { server, folder } of nodes) {
        await server.stop()
        folder.remove()
      }
    },
  }
}

interface Node {
  readonly url: string
  readonly port: number
  readonly busPort: number
  readonly server: { stop(): Promise<void> }
  readonly folder: ServerFolder
}

async function startNode(command: string): Promise<Node> {
  const folder = serverFolder('redis')
  const [port, busPort] = [await freePort(), await freePort()]
  const url = `redis://127.0.0.1:${port}`
  const server = await startServer({
    ...{ command, user: 'redis', stopSignal: 'SIGTERM' },
    args: [
      ...redisSettings(folder.path, port),
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort)],
      ...['--cluster-node-timeout', '2000'],
    ],
    ready: () => pingRedis(url),
  })
  return { url, port, busPort, server, folder }
}

async function join(nodes: readonly Node[]): Promise<void> {
  const clients = nodes.map(({ url }) => new Redis(url))
  try {
    const share = Math.ceil(SLOTS / NODES)
    for (const [index, client] of clients.entries()) {
      const last = Math.min(SLOTS, (index + 1) * share) - 1
      await client.call('CLUSTER', 'ADDSLOTSRANGE', index * share, last)
      for (const { port, busPort } of nodes) {
        await client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort)
      }
    }
    const giveUpAt = performance.now() + JOINED_MS_MAX
    for (const client of clients) {
      for (;;) {
        const info = String(await client.call('CLUSTER', 'INFO'))
        if (/cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info)) break
        if (performance.now() > giveUpAt) throw new Error(`the nodes did not join:\n${info}`)
      }
    }
  } finally {
    for (const client of clients) client.disconnect()
  }
}
