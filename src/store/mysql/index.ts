// Entry `cronfence/mysql`. Importing it loads no driver.

export type { MysqlClient, MysqlPool, MysqlQuery, MysqlValue } from './mysql-client.ts'
export { MysqlStore, type MysqlStoreOptions } from './mysql-store.ts'
