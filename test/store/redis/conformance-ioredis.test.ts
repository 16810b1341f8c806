// One Redis server against the contract, over two clients of ioredis.

import { Redis } from 'ioredis'
import { serverUrl } from '../../support/server-url.ts'
import { declareSuites } from './subjects.ts'

declareSuites({
  url: () => serverUrl('redis'),
  prefix: 'cronfence-test-ioredis',
  async connect(url) {
    const client = new Redis(url)
    return { client, close: () => client.disconnect() }
  },
})
