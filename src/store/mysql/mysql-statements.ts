// Every table and statement of the store, for one table prefix. Names are from an allowlist and
// quoted. Text is bound as bytes and kept as bytes: ids differ when their bytes differ, and no
// collation, character set or SQL mode has a say.

import type { Shapes, Tables } from '../tables.ts'

/** A name as the server takes it literally. */
export const quoted = (name: string): string => `\`${name}\``

/** Bytes as a literal, for remedies that people paste into a client. */
export const literal = (bytes: unknown): string =>
  `X'${Buffer.from(bytes instanceof Uint8Array ? bytes : String(bytes)).toString('hex')}'`

const TOKEN_MAX = Number.MAX_SAFE_INTEGER

/**
 * What a transaction asks of its session: rows that are looked for and not there lock nothing; a
 * wait for a lock ends after a second; and a client that fell silent halfway loses its locks, soon
 * on MariaDB, and on MySQL when the connection has been idle for a while. What is in `M!` is for
 * MariaDB, what is in `!80000` for MySQL.
 */
export const SESSION = `SET SESSION innodb_lock_wait_timeout = 1,
  /*M! idle_transaction_timeout = 5, tx_isolation */
  /*!80000 wait_timeout = 30, transaction_isolation */ = 'READ-COMMITTED'`

/** The shape of each table as `mysql-schema.ts` reads it. */
export function shapesOf({ schema, schedules, leases }: Tables): Shapes {
  return new Map([
    [schema, 'one tinyint NOT NULL PRI, version int NOT NULL, token_floor bigint NOT NULL'],
    [
      schedules,
      'id varbinary(1024) NOT NULL PRI, kind varbinary(8) NOT NULL, spec longblob NOT NULL, ' +
        'next_run_at bigint, lease_owner longblob, lease_until bigint, ' +
        'fencing_token bigint NOT NULL, last_run_at bigint, updated_at bigint NOT NULL, ' +
        'deleted_at bigint',
    ],
    [
      leases,
      'name varbinary(1024) NOT NULL PRI, owner longblob, lease_until bigint NOT NULL, ' +
        'fencing_token bigint NOT NULL',
    ],
  ])
}

const token = (column: string): string =>
  `${column} BIGINT NOT NULL CHECK (${column} BETWEEN 0 AND ${TOKEN_MAX})`

// A key of 1024 bytes needs this row format, and row locks need this engine.
const INNODB = 'ENGINE = InnoDB ROW_FORMAT = DYNAMIC'

/** Creates the table with the version. Not in a transaction: a crash may leave it half done. */
export const schemaTable = ({ schema }: Tables): readonly string[] => [
  `CREATE TABLE IF NOT EXISTS ${quoted(schema)} (
    one TINYINT NOT NULL PRIMARY KEY CHECK (one = 1),
    version INT NOT NULL,
    ${token('token_floor')}
  ) ${INNODB}`,
  `INSERT INTO ${quoted(schema)} (one, version, token_floor) VALUES (1, 0, 0)
    ON DUPLICATE KEY UPDATE one = 1`,
]

/** Migration n leads from version n to n + 1 and can run again. Released ones never change. */
export const migrations: readonly ((tables: Tables) => readonly string[])[] = [
  ({ schedules, leases }) => [
    `CREATE TABLE IF NOT EXISTS ${quoted(schedules)} (
      id VARBINARY(1024) NOT NULL PRIMARY KEY,
      kind VARBINARY(8) NOT NULL CHECK (kind IN ('cron', 'every', 'delay')),
      spec LONGBLOB NOT NULL,
      next_run_at BIGINT,
      lease_owner LONGBLOB,
      lease_until BIGINT,
      ${token('fencing_token')},
      last_run_at BIGINT,
      updated_at BIGINT NOT NULL,
      deleted_at BIGINT,
      CHECK ((lease_owner IS NULL) = (lease_until IS NULL))
    ) ${INNODB}`,
    `CREATE TABLE IF NOT EXISTS ${quoted(leases)} (
      name VARBINARY(1024) NOT NULL PRIMARY KEY,
      owner LONGBLOB,
      lease_until BIGINT NOT NULL,
      ${token('fencing_token')}
    ) ${INNODB}`,
  ],
]

/** The statements on schedules. A list of ids, or of rows, is one value. */
export interface ScheduleStatements {
  /** Ids. */
  readonly get: string
  /** The id after which the page starts, and its length. */
  readonly page: string
  /** Ids. Locks their rows, tombstones too, and waits for those that are locked. */
  readonly lock: string
  /** Ids. Locks those rows that nobody else has locked. */
  readonly lockFree: string
  /** Rows of id, kind, spec, token, now, now. Adds tombstones where nothing is. */
  readonly addTombstones: string
  /** Rows of all columns but the last: live ones. */
  readonly put: string
  /** Now, now, id. */
  readonly delete: string
  /** The least token of new ids; nobody raises it before the transaction ends. */
  readonly floor: string
  readonly floorToRaise: string
  /** An instant. The highest token of older tombstones. */
  readonly highestToken: string
  /** The floor. */
  readonly raiseFloor: string
  /** An instant, and the floor. */
  readonly purge: string
}

/** For one set of tables. */
export function scheduleStatements(tables: Tables): ScheduleStatements {
  const table = quoted(tables.schedules)
  const schema = quoted(tables.schema)
  // By the key and in its order, whatever the planner thinks of long lists: a scan would lock rows
  // of others, and another order would let two transactions wait for each other.
  const locked = `
    SELECT * FROM ${table} FORCE INDEX (PRIMARY) WHERE id IN (?) ORDER BY id FOR UPDATE`
  // A tombstone that cannot be read is neither trusted nor removed.
  const isOldTombstone = `deleted_at < ? AND fencing_token BETWEEN 0 AND ${TOKEN_MAX}`
  const columns =
    'id, kind, spec, next_run_at, lease_owner, lease_until, fencing_token, last_run_at, updated_at'
  const updates = columns
    .split(', ')
    .slice(1)
    .map((column) => `${column} = VALUES(${column})`)
  return {
    get: `SELECT * FROM ${table} WHERE id IN (?) AND deleted_at IS NULL`,
    page: `SELECT * FROM ${table} WHERE deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?`,
    lock: locked,
    // A row that is locked is being claimed, committed or changed by another: not waited for, since
    // a claim that waits may be granted when its lease is half over.
    lockFree: `${locked} SKIP LOCKED`,
    addTombstones: `
      INSERT INTO ${table} (id, kind, spec, fencing_token, updated_at, deleted_at) VALUES ?
      ON DUPLICATE KEY UPDATE id = ${table}.id`,
    put: `
      INSERT INTO ${table} (${columns}) VALUES ?
      ON DUPLICATE KEY UPDATE deleted_at = NULL, ${updates.join(', ')}`,
    delete: `
      UPDATE ${table} SET deleted_at = ?, updated_at = ?, next_run_at = NULL, lease_owner = NULL,
        lease_until = NULL, last_run_at = NULL WHERE id = ?`,
    floor: `SELECT token_floor FROM ${schema} LOCK IN SHARE MODE`,
    floorToRaise: `SELECT token_floor FROM ${schema} FOR UPDATE`,
    highestToken: `SELECT MAX(fencing_token) AS token FROM ${table} WHERE ${isOldTombstone}`,
    raiseFloor: `UPDATE ${schema} SET token_floor = ?`,
    purge: `DELETE FROM ${table} WHERE ${isOldTombstone} AND fencing_token <= ?`,
  }
}

/** The statements on named leases. */
export interface LeaseStatements {
  /** Name. Locks the row. */
  readonly lock: string
  /** Name. Adds a released lease where nothing is. */
  readonly add: string
  /** Owner or null, the deadline, the token, name. */
  readonly put: string
}

/** For one set of tables. */
export function leaseStatements(tables: Tables): LeaseStatements {
  const table = quoted(tables.leases)
  return {
    lock: `SELECT * FROM ${table} WHERE name = ? FOR UPDATE`,
    add: `
      INSERT INTO ${table} (name, owner, lease_until, fencing_token) VALUES (?, NULL, 0, 0)
      ON DUPLICATE KEY UPDATE name = ${table}.name`,
    put: `UPDATE ${table} SET owner = ?, lease_until = ?, fencing_token = ? WHERE name = ?`,
  }
}
