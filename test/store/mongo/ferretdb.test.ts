// Not of our store: what FerretDB 1.24 does as it is, and as it is built for these tests. The store
// rests on what MongoDB documents, that a change of one document is atomic, its condition included.

import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMongo } from '../../support/mongo.ts'
import type { RunningDatabase } from '../../support/server.ts'
import { serverUrl } from '../../support/server-url.ts'
import { MongoStage } from './stage.ts'

const CONTENDERS = 32
const ROUNDS_MAX = 300

interface Document {
  _id: string
  owner: string | null
}

const stage = new MongoStage('atomic')

/** How many of many took a free document, each by one conditional change. */
const CHANGES = {
  async findOneAndUpdate(documents: Documents, id: string, owner: string) {
    const free = { _id: id, owner: null }
    return (await documents.findOneAndUpdate(free, { $set: { owner } })) !== null
  },
  async updateOne(documents: Documents, id: string, owner: string) {
    const free = { _id: id, owner: null }
    return (await documents.updateOne(free, { $set: { owner } })).matchedCount === 1
  },
}
type Documents = ReturnType<typeof documentsOf>

const documentsOf = (client: MongoClient) => client.db(stage.database).collection<Document>('raw')

async function winners(documents: Documents, change: keyof typeof CHANGES, id: string) {
  await documents.insertOne({ _id: id, owner: null })
  const attempts = Array.from({ length: CONTENDERS }, (_, index) =>
    CHANGES[change](documents, id, `owner ${index}`),
  )
  return (await Promise.all(attempts)).filter(Boolean).length
}

describe.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])('%s', (change) => {
  it('has one winner in each round, on the server that the store is tested on', async () => {
    const documents = documentsOf(stage.client)
    for (let round = 0; round < 30; round++) {
      expect(await winners(documents, change, `${change} ${round}`)).toBe(1)
    }
  })
})

describe('FerretDB as it is', () => {
  let server: RunningDatabase
  let client: MongoClient
  beforeAll(async () => {
    const postgresUrl = () => serverUrl('postgres')
    server = await startMongo({ postgresUrl, isAsItIs: true })
    client = new MongoClient(server.url, { maxPoolSize: CONTENDERS })
  }, 300_000)
  afterAll(async () => {
    await client.close()
    await server.stop()
  })

  it.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])(
    'lets several win by %s: no store that rests on it keeps its word there',
    async (change) => {
      const documents = documentsOf(client)
      let most = 0
      for (let round = 0; most < 2 && round < ROUNDS_MAX; round++) {
        most = Math.max(most, await winners(documents, change, `raw ${change} ${round}`))
      }
      expect(most).toBeGreaterThan(1)
    },
  )
})
