// Entry `cronfence/nats`.

export { type NatsOptions, nats } from './backend/nats.ts'
export type { NatsConnection } from './backend/nats-client.ts'
