// MongoDB against the model: see model-law.ts.

import { expect, it } from 'vitest'
import { alternating, assertAgrees } from '../model-law.ts'
import { MongoStage } from './stage.ts'

const stage = new MongoStage('model')

it('MongoDB agrees with the model, with calls from two clients in turn', async () => {
  const stores = [stage.store(), stage.store()]
  for (const store of stores) await store.start()
  await assertAgrees(() => alternating(stores), 60)
  expect(stage.damages).toEqual([])
}, 300_000)
