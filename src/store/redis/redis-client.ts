// What the store needs of a Redis driver: to send one command to the server that has a key. Clients
// of ioredis and of node-redis, for a server or a cluster, are told apart here and nowhere else.
// Our own is ioredis, loaded on the first start.

import { CronfenceError } from '../../errors.ts'
import { isRefusedCommand, ReplicaError } from './redis-errors.ts'

/** ioredis's `Redis` or `Cluster`. */
export interface IoredisClient {
  call(command: string, args: string[]): Promise<unknown>
}

/** node-redis's client or pool, connected. */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>
}

/** node-redis's cluster, connected. */
export interface NodeRedisCluster {
  sendCommand(key: string, isReadonly: boolean, args: string[]): Promise<unknown>
  readonly masters: unknown
}

/** node-redis's sentinel client, connected. */
export interface NodeRedisSentinel {
  sendCommand(isReadonly: boolean, args: string[]): Promise<unknown>
  getSentinelNode(): unknown
}

/** A client of your own. */
export type RedisClient = IoredisClient | NodeRedisClient | NodeRedisCluster | NodeRedisSentinel

/** Sends a command to the primary that has `key`. */
export type Send = (key: string, command: readonly string[]) => Promise<unknown>

/** How a client sends. Throws a `TypeError` for what is no client. */
export function sendOver(client: RedisClient): Send {
  if (client !== null && typeof client === 'object') {
    if ('call' in client && typeof client.call === 'function') {
      return (_key, [name = '', ...args]) => client.call(name, args)
    }
    if ('sendCommand' in client && typeof client.sendCommand === 'function') {
      if ('getSentinelNode' in client)
        return (_key, command) => client.sendCommand(false, [...command])
      return 'masters' in client
        ? (key, command) => client.sendCommand(key, false, [...command])
        : (_key, command) => client.sendCommand([...command])
    }
  }
  throw new TypeError('client: must be a client of ioredis or of node-redis')
}

interface DriverClient extends IoredisClient {
  readonly status: string
  readonly options: { readonly host?: string; readonly port?: number }
  connect(): Promise<void>
  disconnect(): void
  on(event: 'error', listener: (error: Error) => void): unknown
}

type Options = Readonly<Record<string, unknown>>

interface Driver {
  readonly Redis: new (url: string, options: Options) => DriverClient
  readonly Cluster: new (nodes: readonly object[], options: Options) => DriverClient
}

/** A connection to a server, or to the cluster that it is part of. */
export interface OwnClient {
  readonly send: Send
  isReady(): boolean
  close(): void
}

// A request is written once or not at all: nothing waits for a connection, and nothing is written
// again on the next one. A connection that ended is left behind; whoever needs one opens another.
const ONCE = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
  // A primary that became a replica refuses writes; its address may lead to the new one.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} as const

/** Connects; rejects with `STORE_DRIVER_MISSING`, or with what the driver says. */
export async function openClient(url: string, timeoutMs: number): Promise<OwnClient> {
  const driver = await loadDriver()
  const options = { ...ONCE, connectTimeout: timeoutMs, connectionName: 'cronfence' }
  const single = await connected(new driver.Redis(url, options))
  const info = await infoOf(single)
  const isCluster = /^redis_mode:cluster/m.test(info)
  if (!isCluster && !/^role:slave/m.test(info)) return ownClient(single)
  single.disconnect()
  // Reads would not tell: only writes are refused. And it may be another server than the last time.
  if (!isCluster) throw new ReplicaError()
  const cluster = new driver.Cluster([single.options], {
    ...{ lazyConnect: true, enableOfflineQueue: false, clusterRetryStrategy: () => null },
    // By default a request whose connection ended is sent again, elsewhere.
    retryDelayOnFailover: 0,
    redisOptions: { ...single.options, ...options, host: undefined, port: undefined },
  })
  return ownClient(await connected(cluster))
}

async function infoOf(client: DriverClient): Promise<string> {
  try {
    return String(await client.call('INFO', []))
  } catch (error) {
    if (isRefusedCommand(error)) return ''
    throw error
  }
}

function ownClient(client: DriverClient): OwnClient {
  return {
    send: sendOver(client),
    isReady: () => client.status === 'ready',
    close: () => client.disconnect(),
  }
}

/** ioredis rejects with "Connection is closed" and tells its listeners why. */
async function connected(client: DriverClient): Promise<DriverClient> {
  let reason: Error | undefined
  client.on('error', (error) => {
    reason ??= error
  })
  try {
    await client.connect()
    return client
  } catch (error) {
    client.disconnect()
    throw reason ?? error
  }
}

async function loadDriver(): Promise<Driver> {
  try {
    return (await import('ioredis')) as unknown as Driver
  } catch (cause) {
    throw new CronfenceError(
      'STORE_DRIVER_MISSING',
      'RedisStore needs the driver ioredis, which could not be loaded: ' +
        'run `npm install ioredis`, or hand in a client.',
      { cause },
    )
  }
}
