// Entry `cronfence/mongo`. Importing it loads no driver.

export type { MongoClient, MongoDatabase, MongoFields } from './mongo-client.ts'
export { MongoStore, type MongoStoreOptions } from './mongo-store.ts'
