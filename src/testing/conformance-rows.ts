// What outlives a claim and a row: deletions, the tokens they keep, and the list of what is left.

import { same } from './assertions.ts'
import type { StoreCaseBody } from './conformance.ts'
import { ID, LEASE_MS } from './stage.ts'

type Cases = Readonly<Record<string, StoreCaseBody>>

export const deleteCases: Cases = {
  'a deleted task is gone from get and list': async (stage) => {
    await stage.register()
    await stage.store.delete(ID)
    same([await stage.store.get(ID), await stage.store.list()], [null, []])
  },
  'an absent id can be deleted, and a deleted one again': async (stage) => {
    await stage.store.delete(ID)
    await stage.register()
    await stage.store.delete(ID)
    await stage.store.delete(ID)
    same(await stage.store.get(ID), null)
  },
  'a registration after a deletion starts from the old token': async (stage) => {
    await stage.register()
    await stage.claim()
    await stage.store.delete(ID)
    same((await stage.register({}, stage.at + 1)).fencingToken, 1)
    same((await stage.claim(stage.at + 1)).fencingToken, 2)
  },
  'a registration after a deletion has no lease and no last run': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    const patch = { nextRunAt: stage.at, lastRunAt: stage.at }
    await stage.store.complete(ID, fencingToken, patch, stage.at)
    await stage.claim()
    await stage.store.delete(ID)
    const record = await stage.register({}, stage.at + 1)
    same(record, { ...stage.schedule(), fencingToken: 2, updatedAt: stage.at + 1 })
    same((await stage.claim(stage.at + 1)).takenOver, false)
  },
  'a registration after a deletion may be of another kind': async (stage) => {
    await stage.register()
    await stage.claim()
    await stage.store.delete(ID)
    const { kind, fencingToken } = await stage.register({ kind: 'cron', spec: '* * * * *' })
    same({ kind, fencingToken }, { kind: 'cron', fencingToken: 1 })
  },
  'tokens rise over twenty deletions': async (stage) => {
    for (let token = 1; token <= 20; token++) {
      await stage.register()
      same((await stage.claim()).fencingToken, token)
      await stage.store.delete(ID)
    }
  },
  'a token outlives registrations that nobody claims': async (stage) => {
    await stage.register()
    await stage.claim()
    for (let round = 0; round < 5; round++) {
      await stage.store.delete(ID)
      same((await stage.register()).fencingToken, 1)
    }
  },
  'the newest token deletes': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.delete(ID, fencingToken)
    same(await stage.store.get(ID), null)
  },
  'token 0 deletes what was never claimed': async (stage) => {
    await stage.register()
    await stage.store.delete(ID, 0)
    same(await stage.store.get(ID), null)
  },
  'a stale token deletes nothing': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.claim(stage.at + LEASE_MS)
    await stage.unchanged(() => stage.store.delete(ID, fencingToken))
    await stage.unchanged(() => stage.store.delete(ID, 0))
  },
  'a token from the future deletes nothing': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.unchanged(() => stage.store.delete(ID, fencingToken + 1))
  },
  'a delayed deletion does not reach a newer registration': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.delete(ID, fencingToken)
    await stage.register()
    await stage.claim()
    await stage.unchanged(() => stage.store.delete(ID, fencingToken))
  },
  'a deletion leaves other tasks alone': async (stage) => {
    await stage.register({ id: 'other' })
    await stage.claim(stage.at, { id: 'other' })
    await stage.register()
    await stage.unchanged(() => stage.store.delete(ID), 'other')
  },
}

export const listCases: Cases = {
  'an empty store lists nothing': async ({ store }) => {
    same(await store.list(), [])
  },
  'every live row is listed as get gives it': async (stage) => {
    await stage.register({ id: 'waiting' })
    await stage.register({ id: 'asleep', nextRunAt: null })
    await stage.register({ id: 'claimed' })
    await stage.claim(stage.at, { id: 'claimed' })
    await stage.register({ id: 'gone' })
    await stage.store.delete('gone')
    const ids = ['asleep', 'claimed', 'waiting']
    same(byId(await stage.store.list()), await Promise.all(ids.map((id) => stage.row(id))))
  },
  'a row that was deleted and registered again is listed once': async (stage) => {
    await stage.register()
    await stage.store.delete(ID)
    await stage.register()
    same(await stage.store.list(), [await stage.row()])
  },
  'three hundred rows are all listed': async (stage) => {
    const ids = Array.from({ length: 300 }, (_, index) => `task ${1000 + index}`)
    await Promise.all(ids.map((id) => stage.register({ id })))
    const listed = await stage.store.list()
    same(
      byId(listed).map(({ id }) => id),
      ids,
    )
  },
}

function byId<T extends { readonly id: string }>(records: readonly T[]): T[] {
  return [...records].sort((left, right) => (left.id < right.id ? -1 : 1))
}
