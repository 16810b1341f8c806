// The methods one by one: every sentence of the store contract, on one client, one call at a time.

import { same } from './assertions.ts'
import type { StoreCaseBody } from './conformance.ts'
import { EVERY_MS, ID, LEASE_MS } from './stage.ts'

type Cases = Readonly<Record<string, StoreCaseBody>>

export const getCases: Cases = {
  'an id that was never registered is null': async ({ store }) => {
    same(await store.get(ID), null)
  },
  'a row is what was registered, with token 0 and no lease': async (stage) => {
    await stage.register()
    same(await stage.row(), { ...stage.schedule(), fencingToken: 0, updatedAt: stage.at })
  },
  'a deleted row is null': async (stage) => {
    await stage.register()
    await stage.store.delete(ID)
    same(await stage.store.get(ID), null)
  },
  'a record that the caller changes does not change the row': async (stage) => {
    await stage.register()
    await stage.unchanged(async () => {
      const record = await stage.row()
      Reflect.set(record, 'fencingToken', 99)
      Reflect.set(record, 'nextRunAt', null)
    })
  },
  'start keeps the rows and may be called again': async (stage) => {
    await stage.register()
    await stage.unchanged(async () => {
      await stage.store.start?.()
      await Promise.all([stage.store.start?.(), stage.store.start?.()])
    })
  },
}

export const registerCases: Cases = {
  'an absent id is inserted, and the stored row returned': async (stage) => {
    same(await stage.register(), await stage.row())
  },
  'each kind is kept': async (stage) => {
    for (const kind of ['cron', 'every', 'delay'] as const) {
      await stage.register({ id: kind, kind, spec: '1' })
      same((await stage.row(kind)).kind, kind)
    }
  },
  'a plan without a slot is kept': async (stage) => {
    same((await stage.register({ nextRunAt: null })).nextRunAt, null)
    same((await stage.row()).nextRunAt, null)
  },
  'the same kind and spec leave the row untouched': async (stage) => {
    await stage.register()
    await stage.unchanged(async () => {
      const again = await stage.register({ nextRunAt: stage.at + 7 }, stage.at + 5)
      same(again, await stage.row())
    })
  },
  'the same kind and spec leave an open claim untouched': async (stage) => {
    await stage.register()
    await stage.claim()
    await stage.unchanged(async () => {
      same(await stage.register({ nextRunAt: null }, stage.at + 5), await stage.row())
    })
  },
  'the same kind and spec leave a task without a slot untouched': async (stage) => {
    await stage.register({ kind: 'delay' })
    const { fencingToken } = await stage.claim()
    await stage.store.complete(ID, fencingToken, { nextRunAt: null }, stage.at)
    await stage.unchanged(async () => {
      await stage.register({ kind: 'delay', nextRunAt: stage.at + 9 }, stage.at + 5)
    })
  },
  'another spec overwrites spec, slot and updatedAt': async (stage) => {
    await stage.register()
    const changed = { spec: '1000', nextRunAt: stage.at + 1000 }
    const record = await stage.register(changed, stage.at + 1)
    same(record, { ...stage.schedule(changed), fencingToken: 0, updatedAt: stage.at + 1 })
    same(await stage.row(), record)
  },
  'another kind with the same spec overwrites the plan': async (stage) => {
    await stage.register({ kind: 'every', spec: '5000' })
    await stage.register({ kind: 'delay', spec: '5000', nextRunAt: stage.at + 5000 }, stage.at)
    const { kind, nextRunAt } = await stage.row()
    same({ kind, nextRunAt }, { kind: 'delay', nextRunAt: stage.at + 5000 })
  },
  'another spec may take the slot away': async (stage) => {
    await stage.register()
    same((await stage.register({ spec: '2', nextRunAt: null })).nextRunAt, null)
  },
  'another spec keeps token, lease and last run': async (stage) => {
    await stage.register()
    const first = await stage.claim()
    const patch = { nextRunAt: stage.at + 1, lastRunAt: stage.at }
    await stage.store.complete(ID, first.fencingToken, patch, stage.at)
    const { record } = await stage.claim(stage.at + 1)
    const kept = await stage.register({ spec: '2', nextRunAt: stage.at + 2 }, stage.at + 2)
    const { fencingToken, leaseOwner, leaseUntil, lastRunAt } = record
    same(kept, {
      ...stage.schedule({ spec: '2', nextRunAt: stage.at + 2 }),
      ...{ fencingToken, leaseOwner, leaseUntil, lastRunAt },
      updatedAt: stage.at + 2,
    })
  },
  'a claim stays open over another spec: it renews and commits': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.register({ spec: '2' }, stage.at + 1)
    same(await stage.store.renew(ID, fencingToken, stage.at + 2 * LEASE_MS), true)
    same(await stage.store.complete(ID, fencingToken, { nextRunAt: null }, stage.at + 2), true)
  },
  'a spec goes there and back, and each change plans again': async (stage) => {
    await stage.register()
    await stage.register({ spec: '2', nextRunAt: stage.at + 2 })
    await stage.register({ nextRunAt: stage.at + 3 })
    same((await stage.row()).nextRunAt, stage.at + 3)
  },
  'a spec is kept to the letter': async (stage) => {
    const specs = ['*/5 * * * *', 'TZ=Europe/Madrid 30 2 * * *', '"\'`;-- %s {} $set \\n']
    for (const spec of [...specs, 'ключ 🎉 \u0301', ' a  b ', 'x'.repeat(4000)]) {
      await stage.register({ kind: 'cron', spec })
      same((await stage.row()).spec, spec, 'the spec')
    }
  },
  'a schedule that the caller changes afterwards does not change the row': async (stage) => {
    const schedule = { ...stage.schedule() }
    await stage.store.register(schedule, stage.at)
    await stage.unchanged(async () => {
      schedule.spec = 'changed'
      schedule.nextRunAt = null
    })
  },
}

export const claimCases: Cases = {
  'a slot is due at its instant': async (stage) => {
    await stage.register()
    await stage.claim(stage.at)
  },
  'a slot is not due one ms before its instant': async (stage) => {
    await stage.register()
    await stage.unchanged(async () => same(await stage.tryClaim(stage.at - 1), null))
  },
  'a slot is due long after its instant': async (stage) => {
    await stage.register()
    same((await stage.claim(stage.at + 30 * 86_400_000)).record.nextRunAt, stage.at)
  },
  'a task without a slot is never due': async (stage) => {
    await stage.register({ nextRunAt: null })
    await stage.unchanged(async () => same(await stage.tryClaim(stage.at + 1e9), null))
  },
  'an absent id cannot be claimed': async (stage) => {
    same(await stage.tryClaim(), null)
    same(await stage.store.get(ID), null)
  },
  'a deleted id cannot be claimed': async (stage) => {
    await stage.register()
    await stage.store.delete(ID)
    same(await stage.tryClaim(), null)
  },
  'a claim sets owner and deadline and adds one to the token': async (stage) => {
    await stage.register()
    const { record, fencingToken, takenOver } = await stage.claim(stage.at + 3, { owner: 'me' })
    const { leaseOwner, leaseUntil } = record
    same(
      { leaseOwner, leaseUntil, token: record.fencingToken, fencingToken, takenOver },
      {
        leaseOwner: 'me',
        leaseUntil: stage.at + 3 + LEASE_MS,
        token: 1,
        fencingToken: 1,
        takenOver: false,
      },
    )
    same(record, await stage.row(), 'the record of the claim')
  },
  'a claim keeps plan, slot and last run': async (stage) => {
    await stage.register()
    const first = await stage.claim()
    const patch = { nextRunAt: stage.at + 5, lastRunAt: stage.at }
    await stage.store.complete(ID, first.fencingToken, patch, stage.at)
    const { kind, spec, nextRunAt, lastRunAt } = (await stage.claim(stage.at + 5)).record
    same({ kind, spec, nextRunAt, lastRunAt }, { kind: 'every', spec: String(EVERY_MS), ...patch })
  },
  'a live lease keeps others out': async (stage) => {
    await stage.register()
    await stage.claim()
    await stage.unchanged(async () => {
      same(await stage.tryClaim(stage.at + 1, { owner: 'second' }), null)
    })
  },
  'a live lease keeps its own owner out': async (stage) => {
    await stage.register()
    await stage.claim(stage.at, { owner: 'me' })
    await stage.unchanged(async () => same(await stage.tryClaim(stage.at, { owner: 'me' }), null))
  },
  'a lease is live one ms before its deadline': async (stage) => {
    await stage.register()
    await stage.claim()
    same(await stage.tryClaim(stage.at + LEASE_MS - 1), null)
  },
  'a lease has lapsed at its deadline': async (stage) => {
    await stage.register()
    await stage.claim()
    same((await stage.claim(stage.at + LEASE_MS)).takenOver, true)
  },
  'a lease of one ms lapses after one ms': async (stage) => {
    await stage.register()
    await stage.claim(stage.at, { leaseMs: 1 })
    same(await stage.tryClaim(stage.at), null)
    await stage.claim(stage.at + 1)
  },
  'a take-over takes the same slot with a new owner and a higher token': async (stage) => {
    await stage.register()
    const first = await stage.claim()
    const { record } = await stage.claim(stage.at + LEASE_MS, { owner: 'second', leaseMs: 5 })
    same(record, {
      ...first.record,
      leaseOwner: 'second',
      leaseUntil: stage.at + LEASE_MS + 5,
      fencingToken: first.fencingToken + 1,
      updatedAt: record.updatedAt,
    })
  },
  'an owner takes over from itself': async (stage) => {
    await stage.register()
    await stage.claim(stage.at, { owner: 'me' })
    const { fencingToken, takenOver } = await stage.claim(stage.at + LEASE_MS, { owner: 'me' })
    same({ fencingToken, takenOver }, { fencingToken: 2, takenOver: true })
  },
  'a claim after a commit is no take-over': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.complete(ID, fencingToken, { nextRunAt: stage.at + 1 }, stage.at)
    const next = await stage.claim(stage.at + 1)
    same([next.fencingToken, next.takenOver], [2, false])
  },
  'a committed slot cannot be claimed again before the next': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.complete(ID, fencingToken, { nextRunAt: stage.at + 1 }, stage.at)
    same(await stage.tryClaim(stage.at), null)
  },
  'a replica whose clock is behind waits by its own clock': async (stage) => {
    await stage.register()
    await stage.claim()
    same(await stage.tryClaim(stage.at - 600_000), null)
    same(await stage.tryClaim(stage.at + LEASE_MS - 600_000), null)
  },
  'a replica whose clock is ahead takes over by its own clock': async (stage) => {
    await stage.register()
    await stage.claim()
    same((await stage.claim(stage.at + 600_000)).takenOver, true)
  },
  'owners are kept to the letter': async (stage) => {
    await stage.register()
    for (const owner of ['host/1', ' a ', '"\'; --', '{}%$', 'ключ 🎉', 'x'.repeat(500)]) {
      const { record, fencingToken } = await stage.claim(stage.at, { owner })
      same([record.leaseOwner, (await stage.row()).leaseOwner], [owner, owner], 'the owner')
      await stage.store.complete(ID, fencingToken, { nextRunAt: stage.at }, stage.at)
    }
  },
  'tokens of a hundred claims rise by one each': async (stage) => {
    await stage.register()
    for (let token = 1; token <= 100; token++) {
      same((await stage.claim()).fencingToken, token)
      await stage.store.complete(ID, token, { nextRunAt: stage.at }, stage.at)
    }
  },
}
