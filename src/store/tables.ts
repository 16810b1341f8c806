// The tables of a store on a SQL server: their names, and what is said when they are not ours.

import { CronfenceError } from '../errors.ts'
import { integerOf, type Row } from './stored-row.ts'

/** The names of the store's tables. */
export interface Tables {
  /** One row: which release wrote the others, and the least token of new ids. */
  readonly schema: string
  readonly schedules: string
  readonly leases: string
}

/** Names with the prefix. `TypeError` unless it is letters, digits and `_`, 40 at most. */
export function tablesOf(prefix: string): Tables {
  if (typeof prefix !== 'string' || !/^([A-Za-z_][A-Za-z0-9_]{0,39})?$/.test(prefix)) {
    throw new TypeError(
      `tablePrefix: must be up to 40 letters, digits and _, no digit first, got ` +
        JSON.stringify(prefix),
    )
  }
  return {
    schema: `${prefix}schedule_schema`,
    schedules: `${prefix}schedules`,
    leases: `${prefix}schedule_leases`,
  }
}

/** The columns of each table as one text; absent: no such table. */
export type Shapes = ReadonlyMap<string, string>

/** How the tables are looked at. */
export interface SchemaReader {
  readonly tables: Tables
  /** What the tables of the newest version look like. */
  readonly expected: Shapes
  readonly newest: number
  shapes(): Promise<Shapes>
  /** All rows of the table with the version. */
  versionRows(): Promise<readonly Row[]>
}

/**
 * The version of the tables that are there, -1 when there are none. Only reads.
 * Throws `STORE_FOREIGN_SCHEMA`, `STORE_NEWER_SCHEMA` or `STORE_DAMAGED_RECORD`.
 */
export async function schemaVersion(reader: SchemaReader): Promise<number> {
  const { tables, expected, newest } = reader
  let found = await reader.shapes()
  const checkShape = (table: string) => {
    const [shape, own] = [found.get(table), expected.get(table)]
    if (shape !== own) throw foreignTable(table, `it has ${shape || 'no columns'}, not ${own}`)
  }
  if (!found.has(tables.schema)) {
    for (const table of found.keys()) throw foreignTable(table, 'it was there before the store')
    return -1
  }
  checkShape(tables.schema)
  const rows = await reader.versionRows()
  // The first row comes before the other tables: without either, somebody has only begun to make
  // them, at this moment or before a crash.
  if (rows.length === 0 && !found.has(tables.schedules)) return 0
  const version = versionOf(rows, tables, newest)
  if (version === newest) {
    // Another replica may have made tables, and then written the version, since the first look.
    found = await reader.shapes()
    for (const table of expected.keys()) checkShape(table)
  }
  return version
}

function versionOf(rows: readonly Row[], { schema }: Tables, newest: number): number {
  const version = integerOf(rows[0]?.version) ?? -1
  const floor = integerOf(rows[0]?.token_floor) ?? -1
  if (rows.length !== 1 || version < 0 || floor < 0) throw damagedSchema(schema)
  if (version <= newest) return version
  throw new CronfenceError(
    'STORE_NEWER_SCHEMA',
    `Table ${schema} has schema version ${version}, this release knows versions up to ${newest}: ` +
      'use the newer release of cronfence that wrote it. Nothing was changed.',
    { details: { table: schema, version, newestKnown: newest } },
  )
}

/** The error for a table that is not ours to use. */
export function foreignTable(table: string, problem: string): CronfenceError {
  return new CronfenceError(
    'STORE_FOREIGN_SCHEMA',
    `Table ${table} is not one that cronfence created: ${problem}. ` +
      'Choose another tablePrefix or another database. Nothing was changed.',
    { details: { table } },
  )
}

function damagedSchema(table: string): CronfenceError {
  return new CronfenceError(
    'STORE_DAMAGED_RECORD',
    `Table ${table} must have one row, with integers from 0 in version and token_floor: ` +
      'restore it from a backup. Nothing was changed.',
    { details: { table } },
  )
}
