// What the store needs of a MongoDB driver: to send a command as it is written here, to the
// primary, once. The driver's own methods for collections add conditions, conversions and second
// attempts; of all these none is wanted. It is loaded on the first start, and nowhere else.

import { CronfenceError } from '../../errors.ts'

/** A document, a command or options. Integers go out as `bigint`: the driver makes int64 of it. */
export type MongoFields = Readonly<Record<string, unknown>>

/** The driver's `Db`. */
export interface MongoDatabase {
  command(command: MongoFields, options?: MongoFields): Promise<MongoFields>
  /** For commands whose answer comes in parts. */
  runCursorCommand(command: MongoFields, options?: MongoFields): AsyncIterable<MongoFields>
}

/** The driver's `MongoClient`. */
export interface MongoClient {
  /** Does nothing on one that is connected; one whose first attempt failed has to be told again. */
  connect(): Promise<unknown>
  /** Without a name: the database in the client's URL. */
  db(name?: string): MongoDatabase
}

/** A client of our own. */
export interface OwnClient extends MongoClient {
  close(): Promise<void>
}

interface Driver {
  readonly MongoClient: new (url: string, options: MongoFields) => OwnClient
}

/** A client that connects on demand. Rejects with `STORE_DRIVER_MISSING`, or as the driver does. */
export async function openClient(
  url: string,
  { connectionsMax, timeoutMs }: { connectionsMax: number; timeoutMs: number },
): Promise<OwnClient> {
  const { MongoClient } = await loadDriver()
  return new MongoClient(url, {
    maxPoolSize: connectionsMax,
    connectTimeoutMS: timeoutMs,
    // Shorter, so that it is the driver who gives up first, and says what is wrong.
    serverSelectionTimeoutMS: Math.ceil(0.9 * timeoutMs),
    driverInfo: { name: 'cronfence' },
  })
}

async function loadDriver(): Promise<Driver> {
  try {
    return (await import('mongodb')) as unknown as Driver
  } catch (cause) {
    throw new CronfenceError(
      'STORE_DRIVER_MISSING',
      'MongoStore needs the driver mongodb, which could not be loaded: run `npm install mongodb`.',
      { cause },
    )
  }
}
