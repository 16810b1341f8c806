// A Redis Cluster against the contract, over two cluster clients of ioredis.

import { Cluster } from 'ioredis'
import { serverUrl } from '../../support/server-url.ts'
import { inspectCluster } from './cluster-inspector.ts'
import { declareSuites } from './subjects.ts'

declareSuites({
  url: () => serverUrl('redis-cluster'),
  prefix: 'cronfence-test-cluster',
  inspect: inspectCluster,
  async connect(url) {
    const client = new Cluster([url])
    return { client, close: () => client.disconnect() }
  },
})
