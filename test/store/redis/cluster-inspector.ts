// Looks into the keys of a cluster: `KEYS` asks one node only, so all are asked.

import { Cluster } from 'ioredis'
import type { Inspector } from './subjects.ts'

/** One for the cluster that the node at `url` is part of. */
export async function inspectCluster(url: string) {
  const cluster = new Cluster([url], { enableOfflineQueue: true })
  const inspector: Inspector = {
    call: cluster.call.bind(cluster) as Inspector['call'],
    del: cluster.del.bind(cluster) as Inspector['del'],
    hset: cluster.hset.bind(cluster) as Inspector['hset'],
    sadd: cluster.sadd.bind(cluster) as Inspector['sadd'],
    hgetall: cluster.hgetall.bind(cluster) as Inspector['hgetall'],
    keys: (async (pattern: string) => {
      const parts = await Promise.all(cluster.nodes('master').map((node) => node.keys(pattern)))
      return parts.flat()
    }) as Inspector['keys'],
  }
  await cluster.ping()
  return { inspector, close: () => cluster.disconnect() }
}
