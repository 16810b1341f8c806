// Whose tables are these, how old are they, and how do they become current. Nothing is written
// before it is sure that they are ours and not from a newer release, and nothing at all when they
// are current: a user who may not create tables can use those that another one created.

import { CronfenceError } from '../../errors.ts'
import { textOf } from '../stored-row.ts'
import { type SchemaReader, schemaVersion, type Tables } from '../tables.ts'
import type { RunStatement } from './mysql-connection.ts'
import { migrations, quoted, schemaTable, shapesOf } from './mysql-statements.ts'

const VERSION = migrations.length

// Of many replicas that boot at once one migrates. A longer wait would end by `timeoutMs` anyway.
const MIGRATION_WAIT_S = 4

/** Checks the server and the tables, and creates or migrates them; safe from many at once. */
export async function setUp(
  run: RunStatement,
  tables: Tables,
  onWarning: (text: string) => void,
): Promise<void> {
  checkServer(await settingsOf(run), onWarning)
  const reader = readerOf(run, tables)
  if ((await schemaVersion(reader)) === VERSION) return
  // The server's changes of tables are no transactions, so the lock is one of the connection.
  const name = Buffer.from(`cronfence ${tables.schema}`)
  const lock = 'SHA1(CONCAT(DATABASE(), ?))'
  const [row] = await run(`SELECT GET_LOCK(${lock}, ${MIGRATION_WAIT_S}) AS is_locked`, [name])
  if (Number(row?.is_locked) !== 1) {
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      'MysqlStore: another replica has been creating or migrating the tables for ' +
        `${MIGRATION_WAIT_S} s; try again, or end its connection`,
    )
  }
  try {
    await migrate(run, reader)
  } finally {
    await run(`DO RELEASE_LOCK(${lock})`, [name])
  }
}

async function migrate(run: RunStatement, reader: SchemaReader): Promise<void> {
  const { tables } = reader
  const version = Math.max(await schemaVersion(reader), 0)
  for (const statement of version === 0 ? schemaTable(tables) : []) await run(statement)
  for (const migration of migrations.slice(version)) {
    for (const statement of migration(tables)) await run(statement)
  }
  await run(`UPDATE ${quoted(tables.schema)} SET version = ${VERSION}`)
  await schemaVersion(reader) // A table that was there and is not ours shows now.
}

async function settingsOf(run: RunStatement): Promise<ReadonlyMap<string, string>> {
  const rows = await run(`
    SHOW VARIABLES WHERE Variable_name IN ('version', 'read_only', 'wsrep_on', 'log_bin',
      'sync_binlog', 'innodb_flush_log_at_trx_commit')`)
  return new Map(rows.map((row) => [String(textOf(row.Variable_name)), String(textOf(row.Value))]))
}

function checkServer(
  settings: ReadonlyMap<string, string>,
  onWarning: (text: string) => void,
): void {
  const version = settings.get('version') ?? ''
  if (!isRecent(version)) {
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      `MysqlStore needs MariaDB 10.6 or MySQL 8.0.16, or newer; this server is ${version}`,
    )
  }
  if (settings.get('read_only') === 'ON') {
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      'MysqlStore: read_only is on, so this server is a replica, which may lag behind and be ' +
        'promoted with old tokens: connect to the primary.',
    )
  }
  const weak = [
    ...(settings.get('innodb_flush_log_at_trx_commit') === '1'
      ? []
      : ['innodb_flush_log_at_trx_commit is not 1']),
    ...(settings.get('log_bin') === 'ON' && settings.get('sync_binlog') !== '1'
      ? ['sync_binlog is not 1']
      : []),
  ]
  for (const problem of weak) {
    onWarning(
      `MysqlStore: ${problem} on this server, so a crash of it can undo commits that were ` +
        'confirmed: a slot may run again, under a fencing token that was given out before.',
    )
  }
  if (settings.get('wsrep_on') === 'ON') {
    onWarning(
      'MysqlStore: this server is a node of a Galera cluster, which can lose updates when ' +
        'several nodes are written to: have all replicas use one and the same node.',
    )
  }
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(/\D/).map(Number)
  const isMariadb = /mariadb/i.test(version)
  const oldest = isMariadb ? [10, 6, 0] : [8, 0, 16]
  const order = [major, minor, patch].map((number, index) => number - (oldest[index] ?? 0))
  return (order.find((difference) => difference !== 0) ?? 0) >= 0
}

function readerOf(run: RunStatement, tables: Tables): SchemaReader {
  return {
    tables,
    expected: shapesOf(tables),
    newest: VERSION,
    async shapes() {
      const names = Object.values(tables)
      const rows = await run(COLUMNS, [names.map((name) => Buffer.from(name))])
      const shapes = new Map<string, string>()
      for (const row of rows) {
        const table = String(textOf(row.table_name))
        const before = shapes.get(table)
        const column = String(textOf(row.shape))
        shapes.set(table, before === undefined ? column : `${before}, ${column}`)
      }
      return shapes
    },
    versionRows: () => run(`SELECT * FROM ${quoted(tables.schema)}`),
  }
}

// Lengths matter only where the key could be cut; a second unique key would confuse the upserts.
const COLUMNS = `
  SELECT c.table_name AS table_name,
    CONCAT(IF(t.engine = 'InnoDB', '', 'not InnoDB: '), c.column_name, ' ', c.data_type,
      IF(c.data_type = 'varbinary', CONCAT('(', c.character_maximum_length, ')'), ''),
      IF(c.is_nullable = 'NO', ' NOT NULL', ''),
      IF(c.column_key = '', '', CONCAT(' ', c.column_key))) AS shape
  FROM information_schema.columns AS c
  JOIN information_schema.tables AS t
    ON t.table_schema = c.table_schema AND t.table_name = c.table_name
  WHERE c.table_schema = DATABASE() AND c.table_name IN (?)
  ORDER BY c.table_name, c.ordinal_position`
