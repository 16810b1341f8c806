// The same registration in as many processes as you start, on one NATS server with JetStream: each
// slot runs in one of them. Start it twice, kill one, and see the other go on. NATS_URL names the
// server.

import { connect } from '@nats-io/transport-node'
import { nats } from 'cronfence/nats'

const connection = await connect({ servers: process.env.NATS_URL ?? 'nats://127.0.0.1:4222' })

const registration = nats({
  connection,
  bucket: 'example',
  history: { ttlMs: 24 * 60 * 60 * 1000 },
  lockTtlMs: 10_000,
}).register(
  {
    name: 'invoices',
    cadence: { cron: '*/2 * * * * *' },
    overlap: 'queue',
    catchUp: 'all',
    onError: (error, { key }) => console.error(key, error),
  },
  async ({ key }) => console.log(process.pid, key),
)

// Once in the whole cluster, however many processes say so.
await registration.trigger('first start of 2026')

const seconds = Number(process.argv[2] ?? 10)
await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
await registration.stop()
await connection.close()
