// A bucket with two tasks, a store that reaches it directly, and a way to it that can be disturbed.

import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { NatsStore } from '../../../src/store/nats/index.ts'
import { startProxy, type TcpProxy } from '../../support/proxy.ts'
import { EVERY, natsStage } from './stage.ts'

/** Sets it up for each test of the file; the tasks are `a` and `b`. */
export function proxiedStage() {
  const stage = natsStage()
  const way = {
    stage,
    proxy: undefined as unknown as TcpProxy,
    direct: undefined as unknown as NatsStore,

    /** A store whose every byte passes the proxy, and that is connected already. */
    async throughProxy(timeoutMs = 5000): Promise<NatsStore> {
      const store = stage.store({
        ...{ servers: `127.0.0.1:${way.proxy.port}`, timeoutMs },
        connectOptions: { reconnectTimeWait: 5, reconnectJitter: 5 },
      })
      await store.start()
      return store
    },
  }
  beforeAll(async () => {
    way.proxy = await startProxy(stage.port)
  }, 300_000)
  beforeEach(async () => {
    way.proxy.rule = () => 'pass'
    way.direct = stage.store()
    for (const id of ['a', 'b']) await way.direct.schedules().register({ id, ...EVERY }, 0)
  })
  afterAll(() => way.proxy.close())
  return way
}
