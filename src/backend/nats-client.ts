// The few things that the NATS backend needs of the drivers, which are the user's and optional: the
// bucket is opened on a connection that the caller owns, and nothing is loaded before that.

import { CronfenceError } from '../errors.ts'

/** A connection made with `@nats-io/transport-node` or a sibling of it. */
export interface NatsConnection {
  isClosed(): boolean
}

/** What a bucket says of a key. */
export interface BucketEntry {
  readonly key: string
  readonly revision: number
  readonly operation: string
  /** When the server stored it. */
  readonly created: Date
  string(): string
}

/** The operations of a key-value bucket that are used. */
export interface Bucket {
  create(key: string, text: string): Promise<number>
  update(key: string, text: string, revision: number): Promise<number>
  get(key: string): Promise<BucketEntry | null>
  history(options: { key: string }): Promise<AsyncIterable<BucketEntry> & { stop(): void }>
}

interface KvModule {
  readonly Kvm: new (
    connection: never,
  ) => {
    create(name: string, options: { ttl?: number; allow_direct: boolean }): Promise<Bucket>
  }
}

/**
 * Opens a bucket; one that does not exist is created, with `ttlMs` as the age at which its entries
 * are dropped. Reads go to the stream's leader, for a replica may not know our own writes yet.
 * @throws {CronfenceError} `STORE_DRIVER_MISSING`
 */
export async function openBucket(
  connection: NatsConnection,
  { bucket, ttlMs }: { bucket: string; ttlMs: number | undefined },
): Promise<Bucket> {
  const { Kvm } = await importKv()
  const options = () => ({ allow_direct: false, ...(ttlMs === undefined ? {} : { ttl: ttlMs }) })
  const kvm = new Kvm(connection as never)
  // Another replica may create it, with other options, between our look and our own attempt.
  return kvm.create(bucket, options()).catch(() => kvm.create(bucket, options()))
}

/** Whether a write was refused because the key has another revision. */
export function isConflict(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code
  return code === 10071 || code === 10164
}

const HOPELESS: readonly unknown[] = [
  'ClosedConnectionError',
  'DrainingConnectionError',
  'StreamNotFoundError',
]

/** Whether trying again is in vain: the caller has closed the connection, or the bucket is gone. */
export function isHopeless(error: unknown): boolean {
  return HOPELESS.includes((error as { name?: unknown } | undefined)?.name)
}

async function importKv(): Promise<KvModule> {
  try {
    const kv = '@nats-io/kv'
    return (await import(kv)) as KvModule
  } catch (cause) {
    throw new CronfenceError(
      'STORE_DRIVER_MISSING',
      'nats(): the package @nats-io/kv cannot be loaded; install it: npm install @nats-io/kv',
      { cause },
    )
  }
}
