// NATS against the contract, on one server.

import { natsServer } from '../../support/nats-server.ts'
import { declareSuites } from './subjects.ts'

declareSuites({
  async start() {
    const { url, stop } = await natsServer()
    return { urls: [url], stop }
  },
  replicas: 1,
})
