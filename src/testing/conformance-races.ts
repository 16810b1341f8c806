// Calls at the same moment, from as many clients as the store can have: one winner, exact tokens.

import type { ScheduleStore } from '../store/store.ts'
import { same } from './assertions.ts'
import type { StoreCaseBody } from './conformance.ts'
import { ID, LEASE_MS, type Stage } from './stage.ts'

const CLIENTS = 4

/** Runs `call` `count` times at once, spread over the clients. */
async function atOnce<T>(
  stage: Stage,
  count: number,
  call: (store: ScheduleStore, index: number) => Promise<T>,
): Promise<T[]> {
  const stores = await stage.stores(CLIENTS)
  const calls = Array.from({ length: count }, (_, index) =>
    call(stores[index % CLIENTS] as ScheduleStore, index),
  )
  return Promise.all(calls)
}

const won = <T>(results: readonly (T | null)[]): T[] => results.filter((each) => each !== null)

export const raceCases: Readonly<Record<string, StoreCaseBody>> = {
  'fifty claims at once have one winner': async (stage) => {
    await stage.register()
    const results = await atOnce(stage, 50, (store, index) =>
      stage.tryClaim(stage.at, { store, owner: `owner ${index}` }),
    )
    const [winner, ...others] = won(results)
    same(others, [])
    same(winner?.record, await stage.row())
  },
  'fifty claims at once of one owner have one winner': async (stage) => {
    await stage.register()
    const results = await atOnce(stage, 50, (store) => stage.tryClaim(stage.at, { store }))
    same(won(results).length, 1)
  },
  'fifty take-overs at once have one winner': async (stage) => {
    await stage.register()
    await stage.claim()
    const results = await atOnce(stage, 50, (store, index) =>
      stage.tryClaim(stage.at + LEASE_MS, { store, owner: `owner ${index}` }),
    )
    const tokens = won(results).map(({ fencingToken, takenOver }) => [fencingToken, takenOver])
    same(tokens, [[2, true]])
  },
  'twenty rounds of claims at once give twenty tokens in a row': async (stage) => {
    await stage.register()
    for (let token = 1; token <= 20; token++) {
      const results = await atOnce(stage, 8, (store) => stage.tryClaim(stage.at, { store }))
      same(
        won(results).map((each) => each.fencingToken),
        [token],
      )
      same(await stage.store.complete(ID, token, { nextRunAt: stage.at }, stage.at), true)
    }
  },
  'twenty rounds of leases that lapse at once give twenty tokens in a row': async (stage) => {
    await stage.register()
    for (let token = 1; token <= 20; token++) {
      const now = stage.at + token
      const results = await atOnce(stage, 8, (store) => stage.tryClaim(now, { store, leaseMs: 1 }))
      same(
        won(results).map((each) => each.fencingToken),
        [token],
      )
    }
  },
  'thirty-two registrations at once make one row': async (stage) => {
    const results = await atOnce(stage, 32, (store, index) =>
      store.register(stage.schedule({ nextRunAt: stage.at + index }), stage.at),
    )
    const row = await stage.row()
    for (const result of results) same(result, row, 'what each registration returned')
    same(await stage.store.list(), [row])
  },
  'thirty-two registrations at once of different specs leave one of them': async (stage) => {
    const results = await atOnce(stage, 32, (store, index) =>
      store.register(stage.schedule({ spec: String(index), nextRunAt: index }), stage.at),
    )
    for (const [index, { spec }] of results.entries()) same(spec, String(index))
    const [row, ...others] = await stage.store.list()
    same(others, [])
    same(String(row?.nextRunAt), row?.spec, 'slot and spec of one registration')
  },
  'thirty-two registrations at once after a deletion share the old token': async (stage) => {
    await stage.register()
    await stage.claim()
    await stage.store.delete(ID)
    const results = await atOnce(stage, 32, (store) => store.register(stage.schedule(), stage.at))
    same([...new Set(results.map((each) => each.fencingToken))], [1])
  },
  'a commit and a take-over at once: one of them counts': async (stage) => {
    for (let round = 0; round < 10; round++) {
      const id = `task ${round}`
      await stage.register({ id })
      await stage.claim(stage.at, { id })
      const late = stage.at + LEASE_MS
      const [isCommitted, taken] = await atOnce(stage, 2, async (store, index) =>
        index === 0
          ? await store.complete(id, 1, { nextRunAt: late + 1 }, late)
          : (await stage.tryClaim(late, { id, store })) !== null,
      )
      same(isCommitted, !taken, 'the commit, when the take-over was the opposite')
    }
  },
  'deletions, registrations and claims at once never repeat a token': async (stage) => {
    await stage.register()
    const results = await atOnce(stage, 60, async (store, index) => {
      if (index % 3 === 0) await store.delete(ID)
      if (index % 3 === 1) await store.register(stage.schedule(), stage.at)
      return index % 3 === 2 ? stage.tryClaim(stage.at, { store, leaseMs: 1 }) : null
    })
    const tokens = won(results).map((each) => each.fencingToken)
    same(new Set(tokens).size, tokens.length, 'the number of different tokens')
    same((await stage.register()).fencingToken, Math.max(0, ...tokens))
  },
  'claims of a hundred tasks at once are all won': async (stage) => {
    const ids = Array.from({ length: 100 }, (_, index) => `task ${index}`)
    await Promise.all(ids.map((id) => stage.register({ id })))
    const results = await atOnce(stage, 100, (store, index) =>
      stage.tryClaim(stage.at, { store, id: `task ${index}` }),
    )
    same(won(results).length, 100)
  },
  'a write of one client is seen by the others': async (stage) => {
    const [first, second] = (await stage.stores(2)) as [ScheduleStore, ScheduleStore]
    for (let token = 1; token <= 10; token++) {
      await first.register(stage.schedule(), stage.at)
      same((await second.get(ID))?.fencingToken, token - 1)
      same((await stage.claim(stage.at, { store: second })).fencingToken, token)
      same(await first.renew(ID, token, stage.at + 2 * LEASE_MS), true)
      same((await second.get(ID))?.leaseUntil, stage.at + 2 * LEASE_MS)
      same(await first.complete(ID, token, { nextRunAt: stage.at }, stage.at), true)
    }
  },
}

/** Of stores that ask for an open claim and not for the newest token alone. */
export const openClaimRaceCases: Readonly<Record<string, StoreCaseBody>> = {
  'a commit sent many times at once counts once': async (stage) => {
    await stage.register()
    await stage.claim()
    const results = await atOnce(stage, 20, (store) =>
      store.complete(ID, 1, { nextRunAt: null }, stage.at),
    )
    same(results.filter(Boolean).length, 1)
  },
}
