// A bucket of its own for each test, on one server, and ways to wait for what happens in it.

import { type KV, type KvEntry, Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type NatsOptions, nats } from '../../../src/backend/nats.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { type NatsServer, natsServer } from '../../support/nats-server.ts'

const WAIT_MS_MAX = 10_000

/** Slots far enough from each other, and from now, that a test has them to itself. */
export const HOURLY = { cron: '0 * * * *' }

export const HOUR_MS = 3_600_000

export const iso = (instant: number) => new Date(instant).toISOString()

/** What a marker may say. */
export interface MarkerFields {
  readonly startedAt?: string
  readonly host?: string
  readonly renewedAt?: string
  readonly completedAt?: string
  readonly failedAt?: string
  readonly error?: string
}

/** Sets up a server for the file, and a connection, a clock and a bucket's name for each test. */
export function bucketStage() {
  let server: NatsServer
  let count = 0
  const opened: NatsConnection[] = []

  const stage = {
    url: '',
    /** Starts at the real time, for a server has no other. */
    clock: new VirtualClock(),
    connection: undefined as unknown as NatsConnection,
    bucket: '',

    /** A backend like another process would have it, on the test's clock. */
    backend: (options: Partial<NatsOptions> = {}) => {
      const { connection, bucket, clock } = stage
      return nats({ connection, bucket, clock, ...options })
    },

    connect: async () => {
      const connection = await connect({ servers: stage.url })
      opened.push(connection)
      return connection
    },

    /** The bucket, past the backend; created with the driver's defaults when it is not there. */
    kv: (): Promise<KV> => {
      const open = () => new Kvm(stage.connection).create(stage.bucket)
      // A backend may create it, otherwise configured, at the same time.
      return open().catch(open)
    },

    /** The `n`-th full hour from now; 0 is the last one. */
    hour: (n: number) => (Math.floor(stage.clock.now() / HOUR_MS) + n) * HOUR_MS,

    /** Resolves with the first entry of a key, from now or before, that is as wanted. */
    entry: async (key: string, isWanted: (entry: KvEntry) => boolean = () => true) =>
      firstEntry(await stage.kv(), key, isWanted),

    /** As `entry`, for what a marker says. */
    marker: async (key: string, isWanted: (fields: MarkerFields) => boolean = () => true) => {
      return fieldsOf(await stage.entry(key, (entry) => isWanted(fieldsOf(entry))))
    },

    keys: async () => allKeys(await stage.kv()),
  }

  beforeAll(async () => {
    server = await natsServer()
    stage.url = server.url
  }, 300_000)

  beforeEach(async () => {
    stage.clock = new VirtualClock(Date.now())
    stage.bucket = `cronfence-test-${process.pid}-${Date.now()}-${count++}`
    stage.connection = await stage.connect()
  })

  afterEach(async () => {
    const admin = await connect({ servers: stage.url })
    await (await new Kvm(admin).open(stage.bucket)).destroy().catch(() => {})
    await admin.close()
    await Promise.all(opened.splice(0).map((connection) => connection.close()))
  })

  afterAll(() => server.stop())
  return stage
}

async function allKeys(kv: KV): Promise<string[]> {
  const keys: string[] = []
  for await (const key of await kv.keys()) keys.push(key)
  return keys.sort()
}

async function firstEntry(
  kv: KV,
  key: string,
  isWanted: (entry: KvEntry) => boolean,
): Promise<KvEntry> {
  const entries = await kv.watch({ key })
  const deadline = setTimeout(() => entries.stop(), WAIT_MS_MAX)
  try {
    for await (const entry of entries) if (isWanted(entry)) return entry
    throw new Error(`${key} did not come to be as wanted within ${WAIT_MS_MAX} ms`)
  } finally {
    clearTimeout(deadline)
    entries.stop()
  }
}

function fieldsOf(entry: KvEntry): MarkerFields {
  try {
    return Object(entry.json())
  } catch {
    return {}
  }
}
