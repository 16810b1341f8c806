// The optional batch methods: each equals the single calls one after the other, in order. A store
// without them has none of them.

import type { ClaimResult, ScheduleStore } from '../store/store.ts'
import { same } from './assertions.ts'
import type { StoreCaseBody } from './conformance.ts'
import { LEASE_MS, type Stage } from './stage.ts'

type Cases = Readonly<Record<string, StoreCaseBody>>

const METHODS = ['getMany', 'registerMany', 'claimDueMany', 'renewMany', 'completeMany'] as const

/** The store with its batch methods; the capability record promised them. */
function batchOf(store: ScheduleStore): Required<ScheduleStore> {
  for (const method of METHODS) same(typeof store[method], 'function', method)
  return store as Required<ScheduleStore>
}

const tokensOf = (results: readonly (ClaimResult | null)[]) =>
  results.map((result) => result?.fencingToken ?? null)

async function registered(stage: Stage, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `task ${index}`)
  await batchOf(stage.store).registerMany(
    ids.map((id) => stage.schedule({ id })),
    stage.at,
  )
  return ids
}

export const batchCases: Cases = {
  'an empty batch has no results': async ({ store, at }) => {
    const batch = batchOf(store)
    same(await batch.getMany([]), [])
    same(await batch.registerMany([], at), [])
    same(await batch.claimDueMany([], 'owner', at, LEASE_MS), [])
    same(await batch.renewMany([]), [])
    same(await batch.completeMany([], at), [])
  },
  'getMany answers in the order asked, absent and repeated ids included': async (stage) => {
    await stage.register({ id: 'b' })
    await stage.register({ id: 'a', spec: '2' })
    const [a, b] = [await stage.row('a'), await stage.row('b')]
    same(await batchOf(stage.store).getMany(['b', 'x', 'a', 'b']), [b, null, a, b])
  },
  'registerMany inserts, leaves alone and overwrites, each by its own rule': async (stage) => {
    await stage.register({ id: 'same' })
    await stage.register({ id: 'changed' })
    await stage.claim(stage.at, { id: 'changed' })
    await stage.register({ id: 'deleted' })
    await stage.claim(stage.at, { id: 'deleted' })
    await stage.store.delete('deleted')
    const next = { spec: '2', nextRunAt: stage.at + 2 }
    const results = await batchOf(stage.store).registerMany(
      [
        stage.schedule({ id: 'new' }),
        stage.schedule({ id: 'same', nextRunAt: stage.at + 9 }),
        stage.schedule({ id: 'changed', ...next }),
        stage.schedule({ id: 'deleted' }),
      ],
      stage.at + 1,
    )
    const ids = ['new', 'same', 'changed', 'deleted']
    same(results, await Promise.all(ids.map((id) => stage.row(id))))
    same(
      results.map(({ fencingToken, nextRunAt }) => [fencingToken, nextRunAt]),
      [
        [0, stage.at],
        [0, stage.at],
        [1, stage.at + 2],
        [1, stage.at],
      ],
    )
    same(results[2]?.leaseOwner, 'first')
  },
  'registerMany of one id twice is one registration after the other': async (stage) => {
    const results = await batchOf(stage.store).registerMany(
      [
        stage.schedule({ nextRunAt: stage.at + 1 }),
        stage.schedule({ nextRunAt: stage.at + 2 }),
        stage.schedule({ spec: '7', nextRunAt: stage.at + 3 }),
      ],
      stage.at,
    )
    same(
      results.map((each) => each.nextRunAt),
      [stage.at + 1, stage.at + 1, stage.at + 3],
    )
  },
  'claimDueMany claims what is due and free, and only that': async (stage) => {
    await stage.register({ id: 'due' })
    await stage.register({ id: 'later', nextRunAt: stage.at + 1 })
    await stage.register({ id: 'asleep', nextRunAt: null })
    await stage.register({ id: 'taken' })
    await stage.claim(stage.at, { id: 'taken' })
    await stage.register({ id: 'lapsed' })
    await stage.claim(stage.at, { id: 'lapsed', leaseMs: 1 })
    const ids = ['due', 'later', 'asleep', 'taken', 'lapsed', 'absent']
    const now = stage.at + 1
    await stage.store.register(stage.schedule({ id: 'later', spec: '3', nextRunAt: now + 1 }), now)
    const results = await batchOf(stage.store).claimDueMany(ids, 'batch', now, LEASE_MS)
    same(tokensOf(results), [1, null, null, null, 2, null])
    same(
      results.map((each) => each?.takenOver ?? null),
      [false, null, null, null, true, null],
    )
    same(results[0]?.record, await stage.row('due'))
    same((await stage.row('lapsed')).leaseOwner, 'batch')
    same((await stage.row('taken')).leaseOwner, 'first')
  },
  'claimDueMany of one id twice has one winner': async (stage) => {
    await stage.register()
    const { id } = stage.schedule()
    const batch = batchOf(stage.store)
    same(tokensOf(await batch.claimDueMany([id, id, id], 'owner', stage.at, LEASE_MS)), [
      1,
      null,
      null,
    ])
  },
  'renewMany renews open claims, and only those': async (stage) => {
    const ids = await registered(stage, 4)
    for (const id of ids.slice(0, 3)) await stage.claim(stage.at, { id })
    const leaseUntil = stage.at + 3 * LEASE_MS
    const renewals = ids.map((id, index) => ({ id, fencingToken: index === 1 ? 9 : 1, leaseUntil }))
    const back = { id: 'task 2', fencingToken: 1, leaseUntil: stage.at }
    const absent = { id: 'absent', fencingToken: 1, leaseUntil }
    const results = await batchOf(stage.store).renewMany([...renewals, back, absent])
    same(results, [true, false, true, false, true, false])
    same((await stage.row('task 0')).leaseUntil, leaseUntil)
    same((await stage.row('task 1')).leaseUntil, stage.at + LEASE_MS)
    same((await stage.row('task 2')).leaseUntil, stage.at)
  },
  'completeMany commits open claims, and only those': async (stage) => {
    const ids = await registered(stage, 4)
    for (const id of ids.slice(0, 3)) await stage.claim(stage.at, { id })
    const completions = ids.map((id, index) => ({
      id,
      fencingToken: index === 1 ? 9 : 1,
      patch: { nextRunAt: stage.at + index, lastRunAt: stage.at },
    }))
    const again = { id: 'task 2', fencingToken: 1, patch: { nextRunAt: null } }
    const absent = { id: 'absent', fencingToken: 1, patch: { nextRunAt: null } }
    const batch = [...completions, again, absent]
    const results = await batchOf(stage.store).completeMany(batch, stage.at + 5)
    same(results, [true, false, true, false, false, false])
    const { nextRunAt, lastRunAt, leaseUntil, updatedAt } = await stage.row('task 2')
    same([nextRunAt, lastRunAt, leaseUntil], [stage.at + 2, stage.at, undefined])
    same(updatedAt, stage.at + 5)
  },
  'completeMany keeps the slot of a newer plan': async (stage) => {
    const ids = await registered(stage, 2)
    for (const id of ids) await stage.claim(stage.at, { id })
    await stage.register({ id: 'task 1', spec: '2', nextRunAt: stage.at + 2 })
    const { kind, spec } = stage.schedule()
    const patch = { nextRunAt: stage.at + 10, plan: { kind, spec } }
    const completions = ids.map((id) => ({ id, fencingToken: 1, patch }))
    same(await batchOf(stage.store).completeMany(completions, stage.at), [true, true])
    same((await stage.row('task 0')).nextRunAt, stage.at + 10)
    same((await stage.row('task 1')).nextRunAt, stage.at + 2)
  },
  'a thousand ids go through a whole life in batches': async (stage) => {
    const ids = await registered(stage, 1000)
    const batch = batchOf(stage.store)
    const claims = await batch.claimDueMany(ids, 'owner', stage.at, LEASE_MS)
    same([...new Set(tokensOf(claims))], [1])
    const leaseUntil = stage.at + 2 * LEASE_MS
    const renewals = ids.map((id) => ({ id, fencingToken: 1, leaseUntil }))
    same((await batch.renewMany(renewals)).every(Boolean), true, 'all renewed')
    same([...new Set((await batch.getMany(ids)).map((row) => row?.leaseUntil))], [leaseUntil])
    const patch = { nextRunAt: stage.at + 1, lastRunAt: stage.at }
    const completions = ids.map((id) => ({ id, fencingToken: 1, patch }))
    same((await batch.completeMany(completions, stage.at)).every(Boolean), true, 'all committed')
    const rows = await batch.getMany(ids)
    same(
      rows.map((row) => [row?.id, row?.nextRunAt, row?.leaseUntil]),
      ids.map((id) => [id, stage.at + 1, undefined]),
    )
    same((await stage.store.list()).length, 1000)
  },
  'batches of several clients at once claim each id once': async (stage) => {
    const ids = await registered(stage, 100)
    const stores = await stage.stores(4)
    const turned = stores.map((_, index) => [...ids.slice(25 * index), ...ids.slice(0, 25 * index)])
    const results = await Promise.all(
      stores.map((store, index) =>
        batchOf(store).claimDueMany(turned[index] ?? [], `owner ${index}`, stage.at, LEASE_MS),
      ),
    )
    const winners = results.flat().flatMap((result) => (result ? [result.record.id] : []))
    same(winners.sort(), [...ids].sort(), 'the ids claimed, by anyone')
  },
}

/** For a store that declares none. */
export const noBatchCases: Cases = {
  'a store that declares no batch methods has none': async ({ store }) => {
    for (const method of METHODS) same(typeof store[method], 'undefined', method)
  },
}
