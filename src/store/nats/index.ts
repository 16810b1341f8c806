// The store half of entry `cronfence/nats`.

export type { NatsClient } from './nats-client.ts'
export { NatsStore, type NatsStoreOptions } from './nats-store.ts'
