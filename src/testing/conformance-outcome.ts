// What prolongs or ends a claim: renew and complete.

import { same } from './assertions.ts'
import type { StoreCaseBody } from './conformance.ts'
import { ID, LEASE_MS, type Stage } from './stage.ts'

type Cases = Readonly<Record<string, StoreCaseBody>>

type Losses = Readonly<Record<string, (stage: Stage) => Promise<number>>>

/** Ways to lose a claim, or never to have had it; each leaves a token that is not the newest. */
const LOST: Losses = {
  'an id that is absent': async () => 1,
  'a token from the future': async (stage) => {
    await stage.register()
    return (await stage.claim()).fencingToken + 1
  },
  'a claim that was taken over': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.claim(stage.at + LEASE_MS, { owner: 'second' })
    return fencingToken
  },
  'a claim that was committed and followed by another': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.complete(ID, fencingToken, { nextRunAt: stage.at }, stage.at)
    await stage.claim()
    return fencingToken
  },
  'a claim whose task was deleted': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.delete(ID)
    return fencingToken
  },
}

/** Ways to have no open claim though the token is the newest. */
const CLOSED: Losses = {
  'a task that was never claimed': async (stage) => {
    await stage.register()
    return 0
  },
  'a claim that was committed': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.complete(ID, fencingToken, { nextRunAt: stage.at + 1 }, stage.at)
    return fencingToken
  },
  'a claim whose task was deleted and registered again': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.delete(ID)
    await stage.register()
    return fencingToken
  },
}

/** A negative case per way to lose: the call answers false and changes nothing. */
function refusedAfter(
  losses: Losses,
  call: (stage: Stage, token: number) => Promise<boolean>,
): Cases {
  const cases: Record<string, StoreCaseBody> = {}
  for (const [loss, lose] of Object.entries(losses)) {
    cases[`${loss} is refused, and nothing changes`] = async (stage) => {
      const token = await lose(stage)
      await stage.unchanged(async () => same(await call(stage, token), false))
    }
  }
  return cases
}

export const renewCases: Cases = {
  ...refusedAfter({ ...LOST, ...CLOSED }, ({ store, at }, token) =>
    store.renew(ID, token, at + 9 * LEASE_MS),
  ),
  'a renewal moves the deadline and nothing else': async (stage) => {
    await stage.register()
    const { record, fencingToken } = await stage.claim()
    same(await stage.store.renew(ID, fencingToken, stage.at + 2 * LEASE_MS), true)
    const row = await stage.row()
    const leaseUntil = stage.at + 2 * LEASE_MS
    same(row, { ...record, leaseUntil, updatedAt: row.updatedAt })
  },
  'a renewed lease is live until its new deadline': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.renew(ID, fencingToken, stage.at + 2 * LEASE_MS)
    same(await stage.tryClaim(stage.at + 2 * LEASE_MS - 1), null)
    same((await stage.claim(stage.at + 2 * LEASE_MS)).takenOver, true)
  },
  'a renewal to the slot hands it back at once': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim(stage.at + 5)
    same(await stage.store.renew(ID, fencingToken, stage.at), true)
    const { record, takenOver } = await stage.claim(stage.at + 5, { owner: 'second' })
    same([record.nextRunAt, takenOver], [stage.at, true])
  },
  'a renewal to the past hands the slot back too': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    same(await stage.store.renew(ID, fencingToken, stage.at - 10 * LEASE_MS), true)
    await stage.claim(stage.at)
  },
  'a claim that lapsed unchallenged can be renewed': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    const late = stage.at + 5 * LEASE_MS
    same(await stage.store.renew(ID, fencingToken, late + LEASE_MS), true)
    same(await stage.tryClaim(late), null)
  },
  'a claim that was handed back unchallenged can be renewed': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.renew(ID, fencingToken, stage.at)
    same(await stage.store.renew(ID, fencingToken, stage.at + LEASE_MS), true)
    same(await stage.tryClaim(stage.at), null)
  },
  'the newest claim renews after a take-over': async (stage) => {
    await stage.register()
    await stage.claim()
    const { fencingToken } = await stage.claim(stage.at + LEASE_MS)
    same(await stage.store.renew(ID, fencingToken, stage.at + 5 * LEASE_MS), true)
  },
}

/** What stores do that know a renewal by its deadline: the network may swap two of them. */
export const lateRenewalCases: Cases = {
  'a renewal that comes after a newer one leaves the deadline where it is': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    const [older, newer] = [stage.at + 2 * LEASE_MS, stage.at + 3 * LEASE_MS]
    same(await stage.store.renew(ID, fencingToken, newer), true)
    same(await stage.store.renew(ID, fencingToken, older), true)
    same((await stage.row()).leaseUntil, newer)
    same(await stage.tryClaim(older), null)
  },
}

const commitUnder = ({ store, at }: Stage, token: number) =>
  store.complete(ID, token, { nextRunAt: at + 77, lastRunAt: at + 7 }, at + 777)

export const completeCases: Cases = {
  ...refusedAfter(LOST, commitUnder),
  'a commit writes slot, last run and updatedAt and clears the lease': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    const patch = { nextRunAt: stage.at + 10, lastRunAt: stage.at }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at + 3), true)
    same(await stage.row(), {
      ...stage.schedule(patch),
      ...{ lastRunAt: stage.at, fencingToken, updatedAt: stage.at + 3 },
    })
  },
  'a commit without a last run keeps the one before': async (stage) => {
    await stage.register()
    const first = await stage.claim()
    const patch = { nextRunAt: stage.at, lastRunAt: stage.at - 5 }
    await stage.store.complete(ID, first.fencingToken, patch, stage.at)
    const { fencingToken } = await stage.claim()
    same(await stage.store.complete(ID, fencingToken, { nextRunAt: null }, stage.at + 1), true)
    same((await stage.row()).lastRunAt, stage.at - 5)
  },
  'a commit may leave the task without a slot': async (stage) => {
    await stage.register({ kind: 'delay' })
    const { fencingToken } = await stage.claim()
    const patch = { nextRunAt: null, lastRunAt: stage.at }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at), true)
    same((await stage.row()).nextRunAt, null)
    same(await stage.tryClaim(stage.at + 1e9), null)
  },
  'slot and last run may go back in time': async (stage) => {
    await stage.register()
    const first = await stage.claim()
    const patch = { nextRunAt: stage.at, lastRunAt: stage.at }
    await stage.store.complete(ID, first.fencingToken, patch, stage.at)
    const { fencingToken } = await stage.claim()
    const back = { nextRunAt: stage.at - 100, lastRunAt: stage.at - 200 }
    same(await stage.store.complete(ID, fencingToken, back, stage.at - 300), true)
    const { nextRunAt, lastRunAt, updatedAt } = await stage.row()
    same({ nextRunAt, lastRunAt, updatedAt }, { ...back, updatedAt: stage.at - 300 })
  },
  'a late commit that nobody challenged counts': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    const late = stage.at + 100 * LEASE_MS
    same(await stage.store.complete(ID, fencingToken, { nextRunAt: late }, late), true)
  },
  'a commit after a hand-back that nobody took counts': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.store.renew(ID, fencingToken, stage.at)
    same(await stage.store.complete(ID, fencingToken, { nextRunAt: null }, stage.at + 1), true)
  },
  'the newest claim commits after a take-over': async (stage) => {
    await stage.register()
    await stage.claim()
    const { fencingToken } = await stage.claim(stage.at + LEASE_MS)
    same(await stage.store.complete(ID, fencingToken, { nextRunAt: null }, stage.at), true)
  },
  'a commit without a plan writes its slot over a newer plan': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.register({ spec: '2', nextRunAt: stage.at + 2 })
    const patch = { nextRunAt: stage.at + 10 }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at), true)
    same((await stage.row()).nextRunAt, stage.at + 10)
  },
}

/** What a commit with a plan does; see `CompletePatch.plan`. */
export const planCases: Cases = {
  'a commit of the stored plan writes its slot': async (stage) => {
    const { kind, spec } = await stage.register()
    const { fencingToken } = await stage.claim()
    const patch = { nextRunAt: stage.at + 10, plan: { kind, spec } }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at), true)
    same((await stage.row()).nextRunAt, stage.at + 10)
  },
  'a commit of an older spec keeps the newer slot and writes the rest': async (stage) => {
    const { kind, spec } = await stage.register()
    const { fencingToken } = await stage.claim()
    const newer = { spec: '2', nextRunAt: stage.at + 2 }
    await stage.register(newer, stage.at + 1)
    const patch = { nextRunAt: stage.at + 10, lastRunAt: stage.at, plan: { kind, spec } }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at + 3), true)
    same(await stage.row(), {
      ...stage.schedule(newer),
      ...{ lastRunAt: stage.at, fencingToken, updatedAt: stage.at + 3 },
    })
  },
  'a commit of an older kind keeps the newer slot': async (stage) => {
    const { kind, spec } = await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.register({ kind: 'delay', nextRunAt: stage.at + 2 })
    const patch = { nextRunAt: null, plan: { kind, spec } }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at), true)
    same((await stage.row()).nextRunAt, stage.at + 2)
  },
  'a commit of an older plan keeps that the newer has no slot': async (stage) => {
    const { kind, spec } = await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.register({ spec: '2', nextRunAt: null })
    const patch = { nextRunAt: stage.at + 10, plan: { kind, spec } }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at), true)
    same((await stage.row()).nextRunAt, null)
  },
  'a commit of a plan that went and came back writes its slot': async (stage) => {
    const { kind, spec } = await stage.register()
    const { fencingToken } = await stage.claim()
    await stage.register({ spec: '2', nextRunAt: stage.at + 2 })
    await stage.register({ nextRunAt: stage.at + 3 })
    const patch = { nextRunAt: stage.at + 10, plan: { kind, spec } }
    same(await stage.store.complete(ID, fencingToken, patch, stage.at), true)
    same((await stage.row()).nextRunAt, stage.at + 10)
  },
}

/** What stores do that ask for an open claim and not for the newest token alone. */
export const openClaimCases: Cases = {
  ...refusedAfter(CLOSED, commitUnder),
  'the same commit a second time is refused': async (stage) => {
    await stage.register()
    const { fencingToken } = await stage.claim()
    const commit = () => stage.store.complete(ID, fencingToken, { nextRunAt: stage.at }, stage.at)
    same([await commit(), await commit()], [true, false])
  },
}
