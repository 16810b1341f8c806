// Entry `cronfence/postgres`. Importing it loads no driver.

export type {
  PostgresClient,
  PostgresPool,
  PostgresQuery,
  PostgresValue,
} from './postgres-client.ts'
export { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
