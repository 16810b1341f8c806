// Whose tables are these, how old are they, and how do they become current. Nothing is written
// before it is sure that they are ours and not from a newer release.

import { CronfenceError } from '../../errors.ts'
import type { Row } from '../stored-row.ts'
import { prepared, type SqliteClient } from './sqlite-client.ts'
import { integerOf } from './sqlite-rows.ts'
import { columnsOf, migrations, schemaTable, type Tables } from './sqlite-statements.ts'

const VERSION = migrations.length

/**
 * The schema version in the file: -1 when none of our tables exists. Only reads.
 * Throws `STORE_FOREIGN_SCHEMA`, `STORE_NEWER_SCHEMA` or `STORE_DAMAGED_RECORD`.
 */
export function schemaVersion(client: SqliteClient, tables: Tables): number {
  const found = Object.values(tables).filter((table) => shapeOf(client, table) !== undefined)
  if (found[0] === undefined) return -1
  if (!found.includes(tables.schema)) throw foreign(found[0], `there is no ${tables.schema}`)
  checkShape(client, tables, tables.schema)
  const version = storedVersion(client, tables)
  const expected = version === 0 ? [tables.schema] : Object.values(tables)
  for (const table of found) {
    if (!expected.includes(table)) throw foreign(table, `${tables.schema} says version 0`)
  }
  if (version === VERSION) for (const table of expected) checkShape(client, tables, table)
  return version
}

/** Brings the tables to the newest version; runs inside the caller's transaction. */
export function migrate(client: SqliteClient, tables: Tables): void {
  let version = schemaVersion(client, tables)
  if (version === -1) {
    client.exec(schemaTable(tables))
    version = 0
  }
  for (const migration of migrations.slice(version)) client.exec(migration(tables))
  if (version < VERSION) client.exec(`UPDATE ${tables.schema} SET version = ${VERSION}`)
}

/** The least token of ids that have none yet, from the one row of `schedule_schema`. */
export function tokenFloorOf(row: Row | undefined, table: string): number {
  const floor = integerOf(row?.token_floor) ?? -1
  if (floor < 0) throw damaged(table)
  return floor
}

function storedVersion(client: SqliteClient, { schema }: Tables): number {
  const rows = prepared(client, `SELECT * FROM ${schema}`).all() as Row[]
  const version = integerOf(rows[0]?.version) ?? -1
  if (rows.length !== 1 || version < 0) throw damaged(schema)
  tokenFloorOf(rows[0], schema)
  if (version <= VERSION) return version
  throw new CronfenceError(
    'STORE_NEWER_SCHEMA',
    `Table ${schema} has schema version ${version}, this release knows only up to ${VERSION}: ` +
      'use the newer release of cronfence that wrote it. Nothing was changed.',
    { details: { table: schema, version, newestKnown: VERSION } },
  )
}

function checkShape(client: SqliteClient, tables: Tables, table: string): void {
  const shape = shapeOf(client, table)
  const expected = columnsOf(tables)[table]?.join(', ')
  if (shape !== expected) throw foreign(table, `it has ${shape ?? 'nothing'}, not ${expected}`)
}

/** The columns of a table or view as one text; `undefined`: no such table. */
function shapeOf(client: SqliteClient, table: string): string | undefined {
  const sql = 'SELECT name, type FROM pragma_table_info(?)'
  const columns = prepared(client, sql).all(table) as Row[]
  if (columns.length === 0) return undefined
  return columns.map(({ name, type }) => `${name} ${type}`).join(', ')
}

function foreign(table: string, problem: string): CronfenceError {
  return new CronfenceError(
    'STORE_FOREIGN_SCHEMA',
    `Table ${table} is not one that cronfence created: ${problem}. ` +
      'Choose another tablePrefix or another file. Nothing was changed.',
    { details: { table } },
  )
}

function damaged(table: string): CronfenceError {
  return new CronfenceError(
    'STORE_DAMAGED_RECORD',
    `Table ${table} must have one row, with integers from 0 in version and token_floor: ` +
      'restore it from a copy of the file. Nothing was changed.',
    { details: { table } },
  )
}
