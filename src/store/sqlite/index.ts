// Entry `cronfence/sqlite`. Importing it loads no driver.

export type { SqliteClient, SqliteDriver, SqliteStatement } from './sqlite-client.ts'
export { SQLiteStore, type SQLiteStoreOptions } from './sqlite-store.ts'
