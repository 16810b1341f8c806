// What PostgreSQL and its driver report, sorted by whether the statement happened. Each call of the
// store is one statement in a transaction of its own, so an ERROR of the server undoes all of it. A
// connection that ended first (FATAL, or an error of the network) leaves the outcome open.

import type { Failure } from '../failures.ts'

const APPLIED_NOTHING = { outcome: 'not-applied' } as const

/** By SQLSTATE, or by the first two letters of it: its class. */
const FAILURES: Readonly<Record<string, Partial<Failure>>> = {
  '40001': { isTransient: true }, // serialization_failure
  '40P01': { isTransient: true }, // deadlock_detected
  '55P03': {
    details: { isLocked: true },
    remedy: 'another session keeps a row or the table locked, look for it in pg_locks',
  },
  '57014': { remedy: 'statement_timeout ended it, or somebody cancelled it' },
  '25006': {
    remedy: 'the server is a standby, or read only: the store needs the primary',
  },
  '28': { remedy: 'check the user, the password and pg_hba.conf' },
  '3D000': { remedy: 'create the database, or name another one in the URL' },
  '42501': {
    remedy:
      'the role needs SELECT, INSERT, UPDATE and DELETE on the tables; and CREATE on the schema, ' +
      'or tables that an administrator had a PostgresStore create',
  },
  '3F000': { remedy: 'the role has no schema to create tables in: set its search_path' },
  '42P01': {
    code: 'STORE_FOREIGN_SCHEMA',
    remedy: 'a table was dropped while the store was running: restore it, tokens must not go back',
  },
  '42703': { code: 'STORE_FOREIGN_SCHEMA', remedy: 'a table was changed: restore its columns' },
  '42804': { code: 'STORE_FOREIGN_SCHEMA', remedy: 'a table was changed: restore its columns' },
  '42883': { code: 'STORE_FOREIGN_SCHEMA', remedy: 'a table was changed: restore its columns' },
  '53': { remedy: 'give the server more connections, memory or disk' },
}

/** For failures before anything was sent. */
const CONNECT_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is the server running there?',
  ENOTFOUND: 'is the name of the server right?',
  EAI_AGAIN: 'is the name of the server right?',
  ENOENT: 'is the server running there?',
  DEADLINE: 'is the server reachable, and are there enough connections?',
}

/** A failure to get a connection: nothing was sent. */
export function connectFailure(error: unknown): Failure {
  const { code } = error as { code?: unknown }
  const remedy = CONNECT_FAILURES[String(code)] ?? rowOf(String(code))?.remedy
  return { ...APPLIED_NOTHING, ...(remedy === undefined ? {} : { remedy }) }
}

/** A failure of a statement that was sent. */
export function statementFailure(error: unknown): Failure {
  if (!isUsableAfter(error)) return { outcome: 'unknown' }
  return { ...APPLIED_NOTHING, ...rowOf(String((error as { code?: unknown }).code)) }
}

/**
 * Whether the server only refused the statement, so that the connection can be used again. Servers
 * translate the word ERROR; in other languages the codes that we know have to tell.
 */
export function isUsableAfter(error: unknown): boolean {
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  if (severity === 'ERROR') return true
  if (severity === undefined || severity === 'FATAL' || severity === 'PANIC') return false
  return rowOf(String(code)) !== undefined
}

function rowOf(code: string): Partial<Failure> | undefined {
  return FAILURES[code] ?? FAILURES[code.slice(0, 2)]
}
