// What MySQL, MariaDB and their driver report, sorted by whether the transaction happened. Until
// its COMMIT is sent nothing can have happened: the server rolls back what a lost connection leaves
// open.

import type { Failure } from '../failures.ts'

const NOT_APPLIED = { outcome: 'not-applied' } as const

/** By the server's error number, or by the driver's code. */
const FAILURES: Readonly<Record<string, Partial<Failure>>> = {
  1213: { isTransient: true }, // ER_LOCK_DEADLOCK
  1205: {
    // ER_LOCK_WAIT_TIMEOUT: waited for long enough already, and the others of a batch wait too.
    details: { isLocked: true },
    remedy: 'another session keeps a row locked, look for it in information_schema.innodb_trx',
  },
  1020: { isTransient: true }, // ER_CHECKREAD: the row changed under innodb_snapshot_isolation
  1044: { remedy: 'grant the user access to the database' },
  1045: { remedy: 'check the user and the password' },
  1049: { remedy: 'create the database, or name another one in the URL' },
  1046: { remedy: 'name a database in the URL' },
  1142: {
    remedy:
      'the user needs SELECT, INSERT, UPDATE and DELETE on the tables; and CREATE, or tables ' +
      'that an administrator had a MysqlStore create',
  },
  1040: { remedy: 'raise max_connections, or lower connectionsMax' },
  1203: { remedy: 'raise max_user_connections, or lower connectionsMax' },
  1290: { remedy: 'the server is read only: the store needs the primary' },
  1792: { remedy: 'the session is read only: the store needs the primary' },
  1836: { remedy: 'the server is read only: the store needs the primary' },
  1021: { remedy: 'make room on the disk' },
  1114: { remedy: 'make room on the disk' },
  1665: { remedy: 'set binlog_format to ROW or MIXED' },
  1146: {
    code: 'STORE_FOREIGN_SCHEMA',
    remedy: 'a table was dropped while the store was running: restore it, tokens must not go back',
  },
  1054: { code: 'STORE_FOREIGN_SCHEMA', remedy: 'a table was changed: restore its columns' },
  1136: { code: 'STORE_FOREIGN_SCHEMA', remedy: 'a table was changed: restore its columns' },
  1366: { code: 'STORE_FOREIGN_SCHEMA', remedy: 'a table was changed: restore its columns' },
  ECONNREFUSED: { remedy: 'is the server running there?' },
  ENOENT: { remedy: 'is the server running there?' },
  ENOTFOUND: { remedy: 'is the name of the server right?' },
  EAI_AGAIN: { remedy: 'is the name of the server right?' },
  DEADLINE: { remedy: 'is the server reachable, and are there enough connections?' },
}

/** Errors of a COMMIT after which the server has rolled back. */
const UNDOES_COMMIT: readonly unknown[] = [1213]

/** A failure to connect, or of a statement before the COMMIT. */
export function failureBeforeCommit(error: unknown): Failure {
  const { errno, code } = error as { errno?: unknown; code?: unknown }
  return { ...NOT_APPLIED, ...(FAILURES[String(errno)] ?? FAILURES[String(code)]) }
}

/** A failure of the COMMIT. */
export function failureOfCommit(error: unknown): Failure {
  const { errno } = error as { errno?: unknown }
  return UNDOES_COMMIT.includes(errno) ? failureBeforeCommit(error) : { outcome: 'unknown' }
}

/** Whether the connection is still in step with the server after this error. */
export function isUsableAfter(error: unknown): boolean {
  const { errno, sqlState, fatal } = error as Record<string, unknown>
  return typeof errno === 'number' && typeof sqlState === 'string' && fatal !== true
}
