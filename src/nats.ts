// Entry `cronfence/nats`.

export { type NatsOptions, nats } from './backend/nats.ts'
export type { NatsConnection } from './backend/nats-client.ts'
export { type NatsClient, NatsStore, type NatsStoreOptions } from './store/nats/index.ts'
