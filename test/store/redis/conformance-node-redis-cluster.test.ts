// A Redis Cluster against the contract, over two cluster clients of node-redis.

import { createCluster } from 'redis'
import { serverUrl } from '../../support/server-url.ts'
import { inspectCluster } from './cluster-inspector.ts'
import { declareSuites } from './subjects.ts'

declareSuites({
  url: () => serverUrl('redis-cluster'),
  prefix: 'cronfence-test-node-redis-cluster',
  inspect: inspectCluster,
  async connect(url) {
    const client = createCluster({ rootNodes: [{ url }] })
    await client.connect()
    return { client, close: () => client.destroy() }
  },
})
