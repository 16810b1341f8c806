// What the tests of SQLiteStore's file share: a folder for each test, and stores and connections
// that are closed after it.

import Database from 'better-sqlite3'
import { afterEach, beforeEach } from 'vitest'
import { CronfenceError } from '../../src/errors.ts'
import { SQLiteStore, type SQLiteStoreOptions } from '../../src/store/sqlite/index.ts'
import { scratch } from './subjects.ts'

export const task = { id: 'task', kind: 'every', spec: '1', nextRunAt: 0 } as const

/** Sets up the folder; `place` is the running test's. */
export function sqliteStage() {
  let current: ReturnType<typeof scratch>
  const opened: { stop?(): Promise<void>; close?(): unknown }[] = []

  beforeEach(() => {
    current = scratch()
  })
  afterEach(async () => {
    for (const each of opened.splice(0)) await (each.stop?.() ?? each.close?.())
    current.remove()
  })

  return {
    place: {
      get file(): string {
        return current.file
      },
      get folder(): string {
        return current.folder
      },
    },

    storeOn(options: Partial<SQLiteStoreOptions> = {}): SQLiteStore {
      const source = 'client' in options ? {} : { file: current.file }
      const store = new SQLiteStore({ ...source, ...options } as SQLiteStoreOptions)
      opened.push(store)
      return store
    },

    database(options?: Database.Options): Database.Database {
      const client = new Database(current.file, options)
      opened.push(client)
      return client
    },
  }
}

/** The error that `action` rejects with, which must be ours. */
export async function errorOf(action: Promise<unknown>): Promise<CronfenceError> {
  const error: unknown = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof CronfenceError)) throw new Error(`not a CronfenceError: ${error}`)
  return error
}
