// One Redis server against the contract, over two clients of node-redis.

import { createClient } from 'redis'
import { serverUrl } from '../../support/server-url.ts'
import { declareSuites } from './subjects.ts'

declareSuites({
  url: () => serverUrl('redis'),
  prefix: 'cronfence-test-node-redis',
  async connect(url) {
    const client = await createClient({ url }).connect()
    return { client, close: () => client.destroy() }
  },
})
