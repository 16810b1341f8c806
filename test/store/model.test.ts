// The stores that need no server against the model: see model-law.ts.

import { afterAll, describe, it } from 'vitest'
import { MemoryScheduleStore } from '../../src/store/memory/memory-schedule-store.ts'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'
import { alternating, assertAgrees } from './model-law.ts'
import { scratch } from './subjects.ts'

describe('a store agrees with the model', () => {
  it('in memory', () => assertAgrees(() => new MemoryScheduleStore(), 2000))

  const { file, remove } = scratch()
  const stores = [0, 1].map(() => new SQLiteStore({ file }))
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.stop()))
    remove()
  })

  it('in SQLite, with calls from two connections in turn', () =>
    assertAgrees(() => alternating(stores), 500))
})
