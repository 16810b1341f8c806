// What the store needs of the NATS drivers: the few methods of a connection and of a key-value
// bucket that it calls. The drivers are loaded here, on the first start, and nowhere else.

import { CronfenceError } from '../../errors.ts'

/** A connection of `@nats-io/transport-node`, or one like it. */
export interface NatsClient {
  isClosed(): boolean
  /** Tells of `disconnect`, `reconnect` and more, until the connection is closed. */
  status(): AsyncIterable<{ readonly type: string }>
  close(): Promise<void>
}

/** What a bucket has under a key. */
export interface BucketEntry {
  readonly key: string
  readonly revision: number
  /** `PUT`, or `DEL` or `PURGE` for the mark that a deletion leaves. */
  readonly operation: string
  string(): string
}

/** The settings of a bucket's stream that the store looks at. */
export interface StreamConfig {
  readonly num_replicas?: number
  readonly retention?: string
  readonly storage?: string
  /** ns */
  readonly max_age?: number
  readonly max_bytes?: number
  readonly max_msgs?: number
  readonly discard?: string
  readonly mirror?: unknown
  readonly sources?: readonly unknown[]
  readonly no_ack?: boolean
  readonly sealed?: boolean
  readonly allow_msg_ttl?: boolean
  readonly persist_mode?: string
}

/** What the server says of a bucket's stream. */
export interface StreamInfo {
  readonly config: StreamConfig
  /** The server's time, in ISO 8601; servers before 2.10 do not say. */
  readonly ts?: string
}

/** A key-value bucket of `@nats-io/kv` that reads from the leader of its stream. */
export interface Bucket {
  get(key: string): Promise<BucketEntry | null>
  put(key: string, text: string, options: { previousSeq: number; timeout: number }): Promise<number>
  history(options: { key: string }): Promise<AsyncIterable<BucketEntry> & { stop(): void }>
  status(): Promise<{ readonly streamInfo: StreamInfo }>
}

/** The management calls on streams that are used. */
export interface Streams {
  /** Removes what `filter` matches with a sequence below `seq`. */
  purge(stream: string, options: { filter: string; seq: number }): Promise<{ purged: number }>
  /** With the subjects that match, and how many values each has. The leader answers. */
  info(
    stream: string,
    options: { subjects_filter: string },
  ): Promise<{ readonly state: { readonly subjects?: Readonly<Record<string, number>> } }>
}

/** A bucket, and the calls that go past it. */
export interface OpenBucket {
  readonly bucket: Bucket
  readonly streams: Streams
}

interface KvModule {
  readonly Kvm: new (
    client: NatsClient,
  ) => {
    create(name: string, options: Readonly<Record<string, unknown>>): Promise<Bucket>
    open(name: string, options: Readonly<Record<string, unknown>>): Promise<Bucket>
    readonly js: { jetstreamManager(checkAPI: boolean): Promise<{ readonly streams: Streams }> }
  }
}

interface TransportModule {
  connect(options: Readonly<Record<string, unknown>>): Promise<NatsClient>
}

/** Connects. Throws `STORE_DRIVER_MISSING`, or what the driver throws. */
export async function connect(options: Readonly<Record<string, unknown>>): Promise<NatsClient> {
  const transport = await transportModule()
  return transport.connect(options)
}

/**
 * Opens a bucket; one that does not exist is created, if that is wanted. One that exists is left as
 * it is. A direct get may be answered by a replica that does not know our own writes yet, so reads
 * go to the leader.
 */
export async function openBucket(
  client: NatsClient,
  settings: { bucket: string; replicas: number; isToBeCreated: boolean },
): Promise<OpenBucket> {
  const { bucket: name, replicas, isToBeCreated } = settings
  const { Kvm } = await kvModule()
  const kvm = new Kvm(client)
  const { streams } = await kvm.js.jetstreamManager(false)
  // The driver takes notes in the options, so they are new each time.
  const open = () => kvm.open(name, { allow_direct: false })
  const create = () =>
    kvm.create(name, { replicas, history: 1, storage: 'file', allow_direct: false })
  // Another replica may create it between our look and our own attempt.
  return { bucket: await (isToBeCreated ? create().catch(create) : open()), streams }
}

// Each import stands inside its `try`, where a bundler takes a missing package for what it is: one
// that may be absent.

async function transportModule(): Promise<TransportModule> {
  try {
    return (await import('@nats-io/transport-node')) as unknown as TransportModule
  } catch (cause) {
    throw driverMissing('transport-node', cause)
  }
}

async function kvModule(): Promise<KvModule> {
  try {
    return (await import('@nats-io/kv')) as unknown as KvModule
  } catch (cause) {
    throw driverMissing('kv', cause)
  }
}

function driverMissing(name: string, cause: unknown): CronfenceError {
  return new CronfenceError(
    'STORE_DRIVER_MISSING',
    `NatsStore needs the driver @nats-io/${name}, which could not be loaded: ` +
      'run `npm install @nats-io/kv @nats-io/transport-node`.',
    { cause },
  )
}
