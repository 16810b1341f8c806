// Every table and statement of the store, for one table prefix.

import { type PreparedStatement, prepared, type SqliteClient } from './sqlite-client.ts'

/** The names of the store's tables. */
export interface Tables {
  readonly schema: string
  readonly schedules: string
  readonly fences: string
  readonly leases: string
}

/** Names with the prefix. `TypeError` unless it is letters, digits and `_`, 40 at most. */
export function tablesOf(prefix: string): Tables {
  if (typeof prefix !== 'string' || !/^([A-Za-z_][A-Za-z0-9_]{0,39})?$/.test(prefix)) {
    throw new TypeError(
      `tablePrefix: ${JSON.stringify(prefix)} must be up to 40 letters, digits and _, ` +
        'not a digit first',
    )
  }
  if (/^sqlite_/i.test(prefix)) throw new TypeError('tablePrefix: SQLite reserves sqlite_')
  return {
    schema: `${prefix}schedule_schema`,
    schedules: `${prefix}schedules`,
    fences: `${prefix}schedule_fences`,
    leases: `${prefix}schedule_leases`,
  }
}

/** The table that says which release wrote the others, and the least token of new ids. */
export const schemaTable = ({ schema }: Tables): string => `
  CREATE TABLE ${schema} (
    version INTEGER NOT NULL,
    token_floor INTEGER NOT NULL CHECK (token_floor BETWEEN 0 AND 9007199254740991)
  ) STRICT;
  INSERT INTO ${schema} (version, token_floor) VALUES (0, 0)`

/** Migration n leads from schema version n to n + 1. Released ones never change. */
export const migrations: readonly ((tables: Tables) => string)[] = [
  ({ schedules, fences, leases }) => `
  CREATE TABLE ${schedules} (
    id BLOB NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('cron', 'every', 'delay')),
    spec TEXT NOT NULL,
    next_run_at INTEGER,
    lease_owner TEXT,
    lease_until INTEGER,
    fencing_token INTEGER NOT NULL CHECK (fencing_token BETWEEN 0 AND 9007199254740991),
    last_run_at INTEGER,
    updated_at INTEGER NOT NULL,
    CHECK ((lease_owner IS NULL) = (lease_until IS NULL))
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ${fences} (
    id BLOB NOT NULL PRIMARY KEY,
    fencing_token INTEGER NOT NULL CHECK (fencing_token BETWEEN 0 AND 9007199254740991),
    deleted_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ${leases} (
    name BLOB NOT NULL PRIMARY KEY,
    owner TEXT,
    lease_until INTEGER NOT NULL,
    fencing_token INTEGER NOT NULL CHECK (fencing_token BETWEEN 0 AND 9007199254740991)
  ) STRICT, WITHOUT ROWID`,
]

/** The columns of the newest version, in order, as `name TYPE`. */
export const columnsOf = ({ schema, schedules, fences, leases }: Tables) => ({
  [schema]: ['version INTEGER', 'token_floor INTEGER'],
  [schedules]: [
    'id BLOB',
    'kind TEXT',
    'spec TEXT',
    'next_run_at INTEGER',
    'lease_owner TEXT',
    'lease_until INTEGER',
    'fencing_token INTEGER',
    'last_run_at INTEGER',
    'updated_at INTEGER',
  ],
  [fences]: ['id BLOB', 'fencing_token INTEGER', 'deleted_at INTEGER'],
  [leases]: ['name BLOB', 'owner TEXT', 'lease_until INTEGER', 'fencing_token INTEGER'],
})

/** The statements of one connection, prepared once. */
export type Statements = ReturnType<typeof prepareStatements>

/** Prepares all statements; the tables must exist. */
export function prepareStatements(client: SqliteClient, tables: Tables) {
  const { schema, schedules, fences, leases } = tables
  const prepare = (sql: string): PreparedStatement => prepared(client, sql)
  return {
    row: prepare(`SELECT * FROM ${schedules} WHERE id = ?`),
    firstRows: prepare(`SELECT * FROM ${schedules} ORDER BY id LIMIT ?`),
    rowsAfter: prepare(`SELECT * FROM ${schedules} WHERE id > ? ORDER BY id LIMIT ?`),
    putRow: prepare(`
      INSERT INTO ${schedules} (id, kind, spec, next_run_at, lease_owner, lease_until,
        fencing_token, last_run_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, spec = excluded.spec,
        next_run_at = excluded.next_run_at, lease_owner = excluded.lease_owner,
        lease_until = excluded.lease_until, fencing_token = excluded.fencing_token,
        last_run_at = excluded.last_run_at, updated_at = excluded.updated_at`),
    deleteRow: prepare(`DELETE FROM ${schedules} WHERE id = ?`),
    fence: prepare(`SELECT id, fencing_token FROM ${fences} WHERE id = ?`),
    floor: prepare(`SELECT token_floor FROM ${schema}`),
    putFence: prepare(`INSERT INTO ${fences} (id, fencing_token, deleted_at) VALUES (?, ?, ?)`),
    deleteFence: prepare(`DELETE FROM ${fences} WHERE id = ?`),
    raiseFloor: prepare(`
      UPDATE ${schema} SET token_floor = max(token_floor, coalesce((SELECT max(fencing_token)
        FROM ${fences} WHERE ${isReadableFence} AND deleted_at < ?), 0))`),
    deleteFences: prepare(`DELETE FROM ${fences} WHERE ${isReadableFence} AND deleted_at < ?`),
    lease: prepare(`SELECT * FROM ${leases} WHERE name = ?`),
    putLease: prepare(`
      INSERT INTO ${leases} (name, owner, lease_until, fencing_token) VALUES (?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,
        lease_until = excluded.lease_until, fencing_token = excluded.fencing_token`),
  }
}

// A damaged tombstone is neither trusted nor removed.
const isReadableFence = `typeof(deleted_at) = 'integer' AND typeof(fencing_token) = 'integer'
  AND fencing_token BETWEEN 0 AND 9007199254740991`
