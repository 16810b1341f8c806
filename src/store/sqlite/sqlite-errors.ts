// What a driver throws, as a `CronfenceError`: wrapped once, where it enters.

import { CronfenceError } from '../../errors.ts'

// node:sqlite gives result codes as numbers, better-sqlite3 as names.
const NAMES: Readonly<Record<number, string>> = {
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  26: 'NOTADB',
}

const REMEDIES: Readonly<Record<string, string>> = {
  CANTOPEN: 'its folder must exist, and it must be a file that this process may read and write',
  READONLY: 'the file and its folder must be writable by this process',
  NOTADB: 'the file is not an SQLite database, it was left as it is',
  CORRUPT: 'restore a copy, or save what is left with `sqlite3 FILE .recover`',
  FULL: 'make room on the disk',
}

/** Another connection is in the way: nothing was done, and the same may work in a moment. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === 'BUSY' || code === 'LOCKED'
}

/** `STORE_UNAVAILABLE` (a file that is no database: `STORE_FOREIGN_SCHEMA`) with a remedy. */
export function storeError(what: string, cause: unknown, defaultCode?: string): CronfenceError {
  const code = resultCode(cause) ?? defaultCode
  const remedy = code === undefined ? undefined : REMEDIES[code]
  const text = cause instanceof Error ? cause.message : String(cause)
  return new CronfenceError(
    code === 'NOTADB' ? 'STORE_FOREIGN_SCHEMA' : 'STORE_UNAVAILABLE',
    `${what}: ${text}${remedy ? `; ${remedy}` : ''}`,
    { cause, details: { sqlite: code ?? null } },
  )
}

/** SQLite's primary result code, such as `BUSY` for any kind of busy; `undefined`: not SQLite's. */
export function resultCode(error: unknown): string | undefined {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return NAMES[errcode & 0xff] ?? 'ERROR'
  return typeof code === 'string' ? /^SQLITE_([A-Z]+)/.exec(code)?.[1] : undefined
}
