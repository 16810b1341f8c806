// Whose collections are these, how old are they, and can the server be trusted with them. Nothing
// is written before it is sure that they are ours and not from a newer release.

import { CronfenceError } from '../../errors.ts'
import { integerOf } from '../stored-row.ts'
import type { MongoFields } from './mongo-client.ts'
import type { MongoConnection } from './mongo-connection.ts'
import { int64 } from './stored-schedule.ts'

const VERSION = 1

/** The one document in the collection of the schema. */
const SCHEMA_ID = 'cronfence'

const API_STRICT = '323'

/** The names of the store's collections. */
export interface Collections {
  /** One document: which release wrote the others, and the least token of new ids. */
  readonly schema: string
  readonly schedules: string
  readonly leases: string
}

/** Names with the prefix. `TypeError` unless it is letters, digits and `_`, 40 at most. */
export function collectionsOf(prefix: string): Collections {
  if (typeof prefix !== 'string' || !/^([A-Za-z_][A-Za-z0-9_]{0,39})?$/.test(prefix)) {
    throw new TypeError(
      'collectionPrefix: must be up to 40 letters, digits and _, no digit first, got ' +
        JSON.stringify(prefix),
    )
  }
  return {
    schema: `${prefix}schedule_schema`,
    schedules: `${prefix}schedules`,
    leases: `${prefix}schedule_leases`,
  }
}

/**
 * Checks the server and the collections, and makes them ours; safe from many at once. Throws
 * `STORE_FOREIGN_SCHEMA`, `STORE_NEWER_SCHEMA` or `STORE_DAMAGED_RECORD`.
 */
export async function setUp(
  connection: MongoConnection,
  collections: Collections,
  onWarning: (text: string) => void,
): Promise<void> {
  await checkServer(connection, onWarning)
  const names = Object.values(collections)
  const filter = { name: { $in: names } }
  const found = await connection.list({ listCollections: 1, filter })
  for (const collection of found) await checkCollection(connection, collection)
  // Of all that the store makes the schema's document comes first, so it is looked for last.
  if (await schemaOf(connection, collections)) return
  const before = found.find(({ name }) => name !== collections.schema)
  if (before) {
    const isForeign = found.every(({ name }) => name !== collections.schema)
    throw isForeign
      ? foreign(String(before.name), 'it was there before the store')
      : damagedSchema(collections.schema)
  }
  const [other] = await connection.find(collections.schema, { filter: {}, limit: 1 })
  if (other && other._id !== SCHEMA_ID) throw foreign(collections.schema, 'it has other documents')
  const schema = { _id: SCHEMA_ID, version: int64(VERSION), tokenFloor: int64(0) }
  await connection.insert(collections.schema, [schema])
  // Another replica may have been first, and of another release.
  await schemaOf(connection, collections)
}

/** The least token of new ids. Throws as {@link setUp} does. */
export async function tokenFloor(
  connection: MongoConnection,
  collections: Collections,
): Promise<number> {
  const schema = await schemaOf(connection, collections)
  if (!schema) throw lostSchema(collections.schema)
  return schema.tokenFloor
}

/** Raises it, unless it is as high. */
export async function raiseTokenFloor(
  connection: MongoConnection,
  collections: Collections,
  floor: number,
): Promise<void> {
  const raise = { q: { _id: SCHEMA_ID }, u: { $max: { tokenFloor: int64(floor) } } }
  const count = await connection.update(collections.schema, [raise])
  if (count === 0) throw lostSchema(collections.schema)
}

async function schemaOf(connection: MongoConnection, { schema }: Collections) {
  const [document] = await connection.find(schema, { filter: { _id: SCHEMA_ID } })
  if (!document) return undefined
  const version = integerOf(document.version) ?? -1
  const floor = integerOf(document.tokenFloor) ?? -1
  if (version < 1 || floor < 0) throw damagedSchema(schema)
  if (version <= VERSION) return { version, tokenFloor: floor }
  throw new CronfenceError(
    'STORE_NEWER_SCHEMA',
    `Collection ${schema} has schema version ${version}, this release knows versions up to ` +
      `${VERSION}: use the newer release of cronfence that wrote it. Nothing was changed.`,
    { details: { collection: schema, version, newestKnown: VERSION } },
  )
}

async function checkServer(
  connection: MongoConnection,
  onWarning: (text: string) => void,
): Promise<void> {
  const hello = await connection.hello()
  if (hello.isWritablePrimary !== true) {
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      `${connection.name}: this server is not the primary of its set: name the set in the URL ` +
        '(replicaSet=...), without directConnection.',
    )
  }
  const { ferretdbVersion } = await buildOf(connection)
  if (typeof ferretdbVersion === 'string' && /^v?[01]\./.test(ferretdbVersion)) {
    onWarning(
      `${connection.name}: this server is FerretDB ${ferretdbVersion}, which reads a ` +
        'document and then writes it, so of two replicas both may win a claim, with the same ' +
        'token: use it for one replica only.',
    )
  }
}

/** Nothing for a client that was told to keep to the stable interface, of which it is no part. */
async function buildOf(connection: MongoConnection): Promise<MongoFields> {
  try {
    return await connection.ask({ buildInfo: 1 })
  } catch (error) {
    if (error instanceof CronfenceError && error.details.driverCode === API_STRICT) return {}
    throw error
  }
}

async function checkCollection(connection: MongoConnection, found: MongoFields): Promise<void> {
  const name = String(found.name)
  const options = (found.options ?? {}) as MongoFields
  if (found.type !== 'collection') throw foreign(name, `it is a ${found.type}`)
  // Documents of a capped collection vanish; a collation has a say in which ids are equal.
  const unfit = ['capped', 'collation'].find((option) => options[option])
  if (unfit) throw foreign(name, `it was created with ${unfit}`)
  const indexes = await connection.list({ listIndexes: name })
  for (const index of indexes) {
    const { expireAfterSeconds, unique } = index
    if (expireAfterSeconds !== undefined) {
      throw foreign(name, `its index ${index.name} removes documents after a time`)
    }
    if (unique === true && index.name !== '_id_') {
      throw foreign(name, `its index ${index.name} is unique`)
    }
  }
  const [other] = await connection.find(name, { filter: { _id: { $type: 'objectId' } }, limit: 1 })
  if (other) throw foreign(name, 'it has documents whose _id is an ObjectId')
}

function foreign(collection: string, problem: string): CronfenceError {
  return new CronfenceError(
    'STORE_FOREIGN_SCHEMA',
    `Collection ${collection} is not as cronfence created it: ${problem}. ` +
      'Choose another collectionPrefix or another database. Nothing was changed.',
    { details: { collection } },
  )
}

function lostSchema(collection: string): CronfenceError {
  return new CronfenceError(
    'STORE_FOREIGN_SCHEMA',
    `Collection ${collection} was dropped while the store was running: restore it, tokens must ` +
      'not go back.',
    { details: { collection } },
  )
}

function damagedSchema(collection: string): CronfenceError {
  return new CronfenceError(
    'STORE_DAMAGED_RECORD',
    `Collection ${collection} must have a document with _id "${SCHEMA_ID}" and integers in ` +
      'version (from 1) and tokenFloor (from 0): restore it from a backup. Nothing was changed.',
    { details: { collection } },
  )
}
