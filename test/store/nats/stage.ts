// What the tests of the NATS store share: a server for the file, a bucket of its own for each test,
// and a way to look into it behind the store's back.

import { Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { CronfenceError } from '../../../src/errors.ts'
import { NatsStore, type NatsStoreOptions } from '../../../src/store/nats/index.ts'
import { keyOf } from '../../../src/store/nats/stored-value.ts'
import { type NatsServer, natsServer } from '../../support/nats-server.ts'

export const EVERY = { kind: 'every', spec: '1', nextRunAt: 0 } as const

export const scheduleKey = (id: string) => keyOf('schedule', id)

/** Sets up the server, and a bucket's name and a connection to look with for each test. */
export function natsStage() {
  let server: NatsServer
  let count = 0
  const stores: NatsStore[] = []
  const stage = {
    url: '',
    port: 0,
    bucket: '',
    admin: undefined as unknown as NatsConnection,
    /** What stores told of damaged rows. */
    damages: [] as CronfenceError[],
    warnings: [] as string[],

    /** A store on the test's bucket; stopped after the test. */
    store(options: Partial<NatsStoreOptions> = {}): NatsStore {
      const store = new NatsStore({
        ...('connection' in options ? {} : { servers: stage.url }),
        bucket: stage.bucket,
        onDamaged: (error: CronfenceError) => stage.damages.push(error),
        onWarning: (text: string) => stage.warnings.push(text),
        ...options,
      } as NatsStoreOptions)
      stores.push(store)
      return store
    },

    /** The bucket behind the store's back; it is there once a store was started. */
    kv: () => new Kvm(stage.admin).open(stage.bucket, { allow_direct: false }),

    /** What is stored under an id. */
    async value(id: string): Promise<Record<string, unknown> | undefined> {
      const entry = await (await stage.kv()).get(scheduleKey(id))
      return entry?.json()
    },

    /** Writes text under an id, past the store. */
    async put(id: string, text: string): Promise<void> {
      await (await stage.kv()).put(scheduleKey(id), text)
    },
  }

  beforeAll(async () => {
    server = await natsServer()
    stage.url = server.url
    stage.port = Number(new URL(server.url).port)
    stage.admin = await connect({ servers: server.url })
  }, 300_000)
  beforeEach(() => {
    stage.bucket = `cronfence-test-${process.pid}-${Date.now()}-${count++}`
    stage.damages = []
    stage.warnings = []
  })
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.stop()))
    await (await stage.kv()).destroy().catch(() => {})
  })
  afterAll(async () => {
    await stage.admin.close()
    await server.stop()
  })
  return stage
}
