// A process with one registration on a bucket, for tests that count what several of them run. It is
// told what to do by its argument, writes a line for each thing that happens, and stops on a line.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { connect } from '@nats-io/transport-node'
import { nats } from '../../../src/backend/nats.ts'

/** What a replica is told. */
export interface ReplicaOrder {
  readonly url: string
  readonly bucket: string
  readonly every: string
  readonly overlap: 'skip' | 'queue'
  readonly lockTtlMs: number
  /** How long the tick of a slot takes; that of a trigger takes no time. */
  readonly tickMs: number
}

/** What a replica writes, as JSON. */
export type ReplicaLine =
  | { readonly ready: true }
  | { readonly begun: string }
  | { readonly ended: string }
  | { readonly failed: string }

const tell = (line: ReplicaLine) => process.stdout.write(`${JSON.stringify(line)}\n`)

process.on('unhandledRejection', (reason) => tell({ failed: `unhandled: ${reason}` }))

const order: ReplicaOrder = JSON.parse(process.argv[2] ?? '')
const connection = await connect({ servers: order.url })
const registration = nats({
  connection,
  bucket: order.bucket,
  lockTtlMs: order.lockTtlMs,
  history: { ttlMs: 600_000 },
}).register(
  {
    name: 'count',
    cadence: { every: order.every },
    overlap: order.overlap,
    catchUp: 'skip',
    onError: (error, { key }) => tell({ failed: `${key}: ${error}` }),
  },
  async ({ key }) => {
    tell({ begun: key })
    const tickMs = key.includes('.manual.') ? 0 : order.tickMs
    await new Promise((resolve) => setTimeout(resolve, tickMs))
    tell({ ended: key })
  },
)
// Once it has claimed something, its bucket is open and its timer runs.
await registration.trigger()
tell({ ready: true })
await once(createInterface(process.stdin), 'line')
await registration.stop()
await connection.close()
process.exit()
