// What the tests of MongoStore start from: the shared server, a database of the file's own, and a
// client that looks into it behind the store's back.

import { MongoClient } from 'mongodb'
import { afterAll, beforeAll } from 'vitest'
import type { CronfenceError } from '../../../src/errors.ts'
import { MongoStore, type MongoStoreOptions } from '../../../src/store/mongo/index.ts'
import { scheduleFields } from '../../../src/store/mongo/stored-schedule.ts'
import type { ScheduleRecord } from '../../../src/store/store.ts'
import { serverUrl } from '../../support/server-url.ts'

/** A schedule that is always due. */
export const dueTask = (id: string) => ({ id, kind: 'every', spec: '1', nextRunAt: 0 }) as const

/** The stage of one file. */
export class MongoStage {
  readonly database: string
  url = ''
  /** What stores told. */
  readonly damages: CronfenceError[] = []
  readonly warnings: string[] = []
  #inspector: MongoClient | undefined
  readonly #stores: MongoStore[] = []

  /** Declares the hooks. */
  constructor(database: string) {
    this.database = `cronfence_${database}`
    beforeAll(async () => {
      this.url = await serverUrl('mongo')
      this.#inspector = new MongoClient(this.url, { useBigInt64: true })
      await this.drop()
    }, 300_000)
    afterAll(async () => {
      for (const store of this.#stores) await store.stop()
      await this.drop()
      await this.#inspector?.close()
    })
  }

  get client(): MongoClient {
    if (!this.#inspector) throw new Error('the stage is not set yet')
    return this.#inspector
  }

  /** A collection as it is; by default that of the schedules. */
  collection(name = 'schedules') {
    return this.client.db(this.database).collection<{ _id: string; [field: string]: unknown }>(name)
  }

  async drop(): Promise<void> {
    await this.client.db(this.database).dropDatabase()
  }

  /** Removes all documents of a store that was started. */
  async empty(): Promise<void> {
    for (const name of ['schedules', 'schedule_leases']) await this.collection(name).deleteMany({})
    await this.collection('schedule_schema').updateOne({}, { $set: { tokenFloor: 0n } })
  }

  /** Writes records as they are, past the store. */
  async put(rows: readonly ScheduleRecord[]): Promise<void> {
    const documents = rows.map((row) => ({
      _id: row.id,
      ...scheduleFields(row),
      write: 'seed',
      past: [],
    }))
    if (documents.length > 0) await this.collection().insertMany(documents)
  }

  /** The document under an id. */
  async document(id: string) {
    return this.collection().findOne({ _id: id })
  }

  /** A store over the database, by its own client unless `options` say otherwise. */
  store(options: Partial<MongoStoreOptions> = {}): MongoStore {
    const store = new MongoStore({
      ...('client' in options ? {} : { url: this.url }),
      database: this.database,
      onDamaged: (error: CronfenceError) => this.damages.push(error),
      onWarning: (text: string) => this.warnings.push(text),
      ...options,
    } as MongoStoreOptions)
    this.#stores.push(store)
    return store
  }
}
