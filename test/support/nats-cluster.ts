// A NATS cluster of three servers with JetStream of the tests' own.

import { connect } from '@nats-io/transport-node'
import { natsProgram } from './nats-server.ts'
import { freePort, type RunningDatabase, serverFolder, startDatabase } from './server.ts'

const NODES = ['one', 'two', 'three']

/** A server of the cluster. */
export interface ClusterNode extends RunningDatabase {
  /** What NATS calls it. */
  readonly name: string
}

/** Its servers, each of which can be ended and brought back. */
export interface NatsCluster {
  readonly nodes: readonly ClusterNode[]
  readonly urls: readonly string[]
  stop(): Promise<void>
}

/** Starts one and waits until JetStream has a leader. */
export async function startNatsCluster(): Promise<NatsCluster> {
  const command = await natsProgram()
  const routes: string[] = []
  for (const _ of NODES) routes.push(`nats://127.0.0.1:${await freePort()}`)
  const nodes = await Promise.all(
    NODES.map((name, index) => startNode(command, name, { routes, route: routes[index] ?? '' })),
  )
  return {
    nodes,
    urls: nodes.map(({ url }) => url),
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

async function startNode(
  command: string,
  name: string,
  { routes, route }: { routes: readonly string[]; route: string },
): Promise<ClusterNode> {
  const folder = serverFolder()
  const port = await freePort()
  const url = `nats://127.0.0.1:${port}`
  const node = await startDatabase({
    // One that is about to lose its fellows would take its time to leave them.
    ...{ url, port, folder, command, stopSignal: 'SIGKILL' },
    args: [
      ...['--addr', '127.0.0.1', '--port', String(port), '--server_name', name],
      ...['--jetstream', '--store_dir', folder.path],
      ...['--cluster_name', 'cronfence', '--cluster', route, '--routes', routes.join(',')],
    ],
    async ready() {
      const connection = await connect({ servers: url, reconnect: false })
      try {
        const { error } = (await connection.request('$JS.API.INFO')).json<{ error?: object }>()
        if (error) throw new Error(JSON.stringify(error))
      } finally {
        await connection.close()
      }
    },
  })
  return { ...node, name }
}
