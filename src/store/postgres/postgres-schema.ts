// Whose tables are these, how old are they, and how do they become current. Nothing is written
// before it is sure that they are ours and not from a newer release, and nothing at all when they
// are current: a role that may not create tables can use those that another one created.

import { CronfenceError } from '../../errors.ts'
import type { Row } from '../stored-row.ts'
import { type SchemaReader, schemaVersion, type Tables } from '../tables.ts'
import type { RunStatement } from './postgres-connection.ts'
import { migrations, quoted, schemaTable, shapesOf } from './postgres-statements.ts'

const VERSION = migrations.length

/** Checks the server and the tables, and creates or migrates them; safe from many at once. */
export async function setUp(
  run: RunStatement,
  tables: Tables,
  onWarning: (text: string) => void,
): Promise<void> {
  checkServer(await run(SETTINGS), onWarning)
  const reader = readerOf(run, tables)
  if ((await schemaVersion(reader)) === VERSION) return
  await run('BEGIN ISOLATION LEVEL READ COMMITTED')
  try {
    // Held until the end of the transaction: of many replicas that boot at once, one migrates.
    await run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `cronfence ${tables.schema}`,
    ])
    await migrate(run, reader)
    await run('COMMIT')
  } catch (error) {
    await run('ROLLBACK').catch(() => {}) // The connection is gone, and with it the transaction.
    throw error
  }
}

async function migrate(run: RunStatement, reader: SchemaReader): Promise<void> {
  const { tables } = reader
  let version = await schemaVersion(reader)
  if (version === -1) {
    for (const statement of schemaTable(tables)) await run(statement)
    version = 0
  }
  for (const migration of migrations.slice(version)) {
    for (const statement of migration(tables)) await run(statement)
  }
  await run(`UPDATE ${quoted(tables.schema)} SET version = ${VERSION}`)
}

const SETTINGS = `
  SELECT pg_is_in_recovery() AS is_standby, current_setting('server_encoding') AS encoding,
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit`

const DURABLE = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

function checkServer([settings]: readonly Row[], onWarning: (text: string) => void): void {
  if (settings?.is_standby === true) {
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      'PostgresStore: this server is a standby, which may lag behind and be promoted with old ' +
        'tokens: connect to the primary.',
    )
  }
  if (settings?.encoding !== 'UTF8') {
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      `PostgresStore: the database has the encoding ${settings?.encoding}, which cannot hold ` +
        'every id: use a database with the encoding UTF8.',
    )
  }
  for (const name of DURABLE) {
    if (settings[name] !== 'off') continue
    onWarning(
      `PostgresStore: ${name} is off on this server, so a crash of it can undo commits that were ` +
        'confirmed: a slot may run again, under a fencing token that was given out before.',
    )
  }
}

function readerOf(run: RunStatement, tables: Tables): SchemaReader {
  return {
    tables,
    expected: shapesOf(tables),
    newest: VERSION,
    async shapes() {
      const rows = await run(SHAPES, [Object.values(tables)])
      return new Map(rows.map(({ name, shape }) => [String(name), String(shape)]))
    },
    versionRows: () => run(`SELECT * FROM ${quoted(tables.schema)}`),
  }
}

// The tables that the search path finds by these names. Tables that are not logged are emptied by a
// crash, views and foreign tables have no row locks: none of them is ours.
const SHAPES = `
  SELECT wanted.name, CASE WHEN class.relkind <> 'r' THEN 'no table of rows'
    WHEN class.relpersistence <> 'p' THEN 'no log'
    ELSE coalesce(string_agg(
      attname || ' ' || format_type(atttypid, atttypmod)
        || CASE WHEN attcollation = 950 THEN ' "C"' ELSE '' END
        || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END,
      ', ' ORDER BY attnum), '') END AS shape
  FROM unnest($1::text[]) AS wanted(name)
  JOIN pg_class AS class ON class.oid = to_regclass(quote_ident(wanted.name))
  LEFT JOIN pg_attribute ON attrelid = class.oid AND attnum > 0 AND NOT attisdropped
  GROUP BY wanted.name, class.relkind, class.relpersistence`
