// The suite itself: it accepts a right store, and notices each of these wrong ones.

import { describe, expect, it } from 'vitest'
import { MemoryScheduleStore } from '../../src/store/memory/memory-schedule-store.ts'
import type { NewSchedule, Renewal, ScheduleStore } from '../../src/store/store.ts'
import {
  type ConformanceCase,
  leaseProviderCases,
  type StoreSuite,
  scheduleStoreCases,
} from '../../src/testing/index.ts'
import { type ModelRow, ModelStore } from './model.ts'
import { memoryLeases, memorySuite } from './subjects.ts'

const suiteOf = (create: () => ScheduleStore, batch = false): StoreSuite => ({
  supports: { batch, clients: false, seeding: false, strict: true },
  open: async () => ({ store: create(), close: async () => {} }),
})

async function failures(cases: readonly ConformanceCase[]): Promise<string[]> {
  const names: string[] = []
  for (const { group, name, run } of cases) {
    await run().catch((error: Error) => names.push(`${group}: ${name}: ${error.message}`))
  }
  return names
}

/** A store that is right but for the questions it answers otherwise. */
const wrong = (answers: (right: ModelStore) => Partial<ModelStore>) => (): ScheduleStore => {
  const store = new ModelStore()
  return Object.assign(store, answers(new ModelStore()))
}

const WRONG: Record<string, () => ScheduleStore> = {
  'is due one ms early': wrong((right) => ({ isDue: (row, now) => right.isDue(row, now + 1) })),
  'is due one ms late': wrong((right) => ({ isDue: (row, now) => right.isDue(row, now - 1) })),
  'is due without a slot': wrong((right) => ({
    isDue: (row, now) => row.nextRunAt === null || right.isDue(row, now),
  })),
  'is due by its own clock': wrong((right) => ({ isDue: (row) => right.isDue(row, Date.now()) })),
  'lets leases live one ms too long': wrong((right) => ({
    isLive: (row, now, owner) => right.isLive(row, now - 1, owner),
  })),
  'lets leases lapse one ms early': wrong((right) => ({
    isLive: (row, now, owner) => right.isLive(row, now + 1, owner),
  })),
  'lets leases lapse by its own clock': wrong((right) => ({
    isLive: (row, _now, owner) => right.isLive(row, Date.now(), owner),
  })),
  'lets an owner in twice': wrong((right) => ({
    isLive: (row, now, owner) => right.isLive(row, now, owner) && row.lease?.owner !== owner,
  })),
  'never lets a lease lapse': wrong(() => ({ isLive: (row) => row.lease !== null })),
  'keeps the token on a take-over': wrong(() => ({
    tokenAfter: (row) => (row.lease ? row.token : row.token + 1),
  })),
  'skips tokens': wrong(() => ({ tokenAfter: (row) => row.token + 2 })),
  'never says taken over': wrong(() => ({ isTakeOver: () => false })),
  'always says taken over': wrong(() => ({ isTakeOver: () => true })),
  'says taken over after a commit': wrong(() => ({ isTakeOver: (row) => row.lastRunAt !== null })),
  'renews without an open claim': wrong(() => ({ mayRenew: (row, token) => row.token === token })),
  'lets a renewal that comes late shorten the lease': wrong(() => ({ isHandBack: () => true })),
  'renews under any token': wrong(() => ({ mayRenew: (row) => row.lease !== null })),
  'renews under newer tokens': wrong(() => ({
    mayRenew: (row, token) => row.lease !== null && token >= row.token,
  })),
  'renews only forwards': wrong((right) => ({
    mayRenew: (row, token, until) => right.isOpen(row, token) && until >= (row.lease?.until ?? 0),
  })),
  'commits without an open claim': wrong(() => ({
    mayCommit: (row, token) => row.token === token,
  })),
  'commits under any token': wrong(() => ({ mayCommit: (row) => row.lease !== null })),
  'refuses late commits': wrong((right) => ({
    mayCommit: (row, token, now) => right.isOpen(row, token) && right.isLive(row, now, ''),
  })),
  'keeps the lease in a commit': wrong((right) => ({
    commit: (row, patch, now) => right.commit({ ...row }, patch, now),
  })),
  'ignores the plan of a commit': wrong((right) => ({
    commit: (row, { plan: _, ...patch }, now) => right.commit(row, patch, now),
  })),
  'ignores the kind of a plan': wrong(() => ({
    isSamePlan: (row, plan) => row.spec === plan.spec,
  })),
  'ignores the spec of a plan': wrong(() => ({
    isSamePlan: (row, plan) => row.kind === plan.kind,
  })),
  'refuses to lose the last run': wrong((right) => ({
    commit: (row, patch, now) => {
      right.commit(row, patch, now)
      row.lastRunAt = patch.lastRunAt ?? null
    },
  })),
  'moves slots only forwards': wrong((right) => ({
    commit: (row, patch, now) => {
      const before = row.nextRunAt ?? 0
      right.commit(row, patch, now)
      if (row.nextRunAt !== null) row.nextRunAt = Math.max(before, row.nextRunAt)
    },
  })),
  'does not date commits': wrong((right) => ({
    commit: (row, patch) => right.commit(row, patch, row.updatedAt),
  })),
  'never overwrites': wrong(() => ({ mayOverwrite: () => false })),
  'always overwrites': wrong(() => ({ mayOverwrite: () => true })),
  'overwrites the slot of a sleeping task': wrong((right) => ({
    mayOverwrite: (row, schedule) => row.nextRunAt === null || !right.isSamePlan(row, schedule),
  })),
  'ends the claim when it overwrites': wrong((right) => ({
    overwrite: (row, schedule, now) => {
      right.overwrite(row, schedule, now)
      row.lease = null
    },
  })),
  'resets the token when it overwrites': wrong((right) => ({
    overwrite: (row, schedule, now) => {
      right.overwrite(row, schedule, now)
      row.token = 0
    },
  })),
  'keeps the slot when it overwrites': wrong((right) => ({
    overwrite: (row, schedule, now) =>
      right.overwrite(row, { ...schedule, nextRunAt: row.nextRunAt }, now),
  })),
  'forgets tokens': wrong(() => ({ tombstoneToken: () => 0 })),
  'raises tokens of the deleted': wrong(() => ({ tombstoneToken: (row) => row.token + 1 })),
  'deletes under any token': wrong(() => ({ mayDelete: () => true })),
  'deletes under older tokens': wrong(() => ({
    mayDelete: (row, token) => token === undefined || token <= row.token,
  })),
  'deletes only by token': wrong(() => ({ mayDelete: (row, token) => token === row.token })),
  'lists the deleted': wrong(() => ({ isListed: () => true })),
  'lists only the due': wrong((right) => ({
    isListed: (row) => right.isListed(row) && row.nextRunAt !== null,
  })),
  'lists only the free': wrong((right) => ({
    isListed: (row) => right.isListed(row) && row.lease === null,
  })),
  'ignores case': wrong((right) => ({ key: (id) => right.key(id).toLowerCase() })),
  'ignores accents': wrong((right) => ({ key: (id) => right.key(id).normalize('NFC') })),
  'ignores width': wrong((right) => ({ key: (id) => right.key(id).normalize('NFKC') })),
  'ignores blanks at the ends': wrong((right) => ({ key: (id) => right.key(id).trimEnd() })),
  'cuts ids at 767 characters': wrong((right) => ({ key: (id) => right.key(id).slice(0, 767) })),
  'takes any id': wrong(() => ({ key: (id) => id })),
  'keeps ids in an object': wrong((right) => ({
    key: (id) => (id in {} ? 'an inherited property' : right.key(id)),
  })),
  'keeps instants in 32 bits of seconds': wrong((right) => ({
    record: (row) => ({ ...right.record(row), updatedAt: ((row.updatedAt / 1000) | 0) * 1000 }),
  })),
  'keeps instants from the epoch up': wrong((right) => ({
    isDue: (row, now) => right.isDue(row, Math.max(0, now)),
  })),
  'hands out its own rows': () => new SharesRows(),
  'looks, waits, then acts': () => new Racing(),
}

/** `get` gives the object that the store works on. */
class SharesRows extends ModelStore {
  readonly #given = new Map<ModelRow, ReturnType<ModelStore['record']>>()
  override record(row: ModelRow) {
    const given = this.#given.get(row)
    const fresh = super.record(row)
    if (given && JSON.stringify(given) !== JSON.stringify(fresh)) {
      row.token = given.fencingToken
      row.nextRunAt = given.nextRunAt
    }
    this.#given.set(row, given ?? fresh)
    return this.#given.get(row) as typeof fresh
  }
}

/** A claim in two steps, with room for another between them. */
class Racing extends ModelStore {
  override async claimDue(...[id, owner, now, leaseMs]: Parameters<ScheduleStore['claimDue']>) {
    const row = this.live(id)
    if (!row || !this.isDue(row, now) || this.isLive(row, now, owner)) return null
    await Promise.resolve()
    row.lease = null
    return super.claimDue(id, owner, now, leaseMs)
  }
}

/** Stores that are right but for one batch method. */
const WRONG_BATCH: Record<string, () => ScheduleStore> = {
  'getMany leaves absent rows out': () =>
    Object.assign(new MemoryScheduleStore(), {
      async getMany(this: ScheduleStore, ids: readonly string[]) {
        return (await Promise.all(ids.map((id) => this.get(id)))).filter((row) => row !== null)
      },
    }),
  'getMany answers in its own order': () =>
    Object.assign(new MemoryScheduleStore(), {
      async getMany(this: ScheduleStore, ids: readonly string[]) {
        return Promise.all([...ids].sort().map((id) => this.get(id)))
      },
    }),
  'registerMany returns what it was given': () =>
    Object.assign(new MemoryScheduleStore(), {
      async registerMany(this: ScheduleStore, schedules: readonly NewSchedule[], now: number) {
        for (const schedule of schedules) await this.register(schedule, now)
        return schedules.map((each) => ({ ...each, fencingToken: 0, updatedAt: now }))
      },
    }),
  'renewMany answers for all when one is refused': () =>
    Object.assign(new MemoryScheduleStore(), {
      async renewMany(this: ScheduleStore, renewals: readonly Renewal[]) {
        const results = await Promise.all(
          renewals.map((each) => this.renew(each.id, each.fencingToken, each.leaseUntil)),
        )
        return results.map(() => results.every(Boolean))
      },
    }),
}

describe('the suite', () => {
  it('has more than three hundred cases with names of their own', () => {
    const names = scheduleStoreCases(memorySuite).map(({ group, name }) => `${group}: ${name}`)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(300)
  })

  it('accepts the model', async () => {
    expect(await failures(scheduleStoreCases(suiteOf(() => new ModelStore())))).toEqual([])
  })

  it('accepts a literal store, unless it claims to be strict', async () => {
    const literal = wrong((right) => ({
      key: (id) => id,
      mayCommit: (row, token) => row.token === token,
      isHandBack: () => true,
      commit: (row, { plan: _, ...patch }, now) => right.commit(row, patch, now),
    }))
    const supports = { batch: false, clients: false, seeding: false }
    const open = suiteOf(literal).open
    expect(await failures(scheduleStoreCases({ supports, open }))).toEqual([])
    const strict = scheduleStoreCases({ supports: { ...supports, strict: true }, open })
    expect((await failures(strict)).length).toBeGreaterThan(20)
  })

  for (const [fault, create] of Object.entries(WRONG)) {
    it(`notices a store that ${fault}`, async () => {
      expect(await failures(scheduleStoreCases(suiteOf(create)))).not.toEqual([])
    })
  }

  for (const [fault, create] of Object.entries(WRONG_BATCH)) {
    it(`notices that ${fault}`, async () => {
      const found = await failures(scheduleStoreCases(suiteOf(create, true)))
      expect(found.map((text) => text.slice(0, 5))).toContain('batch')
    })
  }

  it('notices batch methods that were not declared', async () => {
    const cases = scheduleStoreCases(suiteOf(() => new MemoryScheduleStore()))
    expect(await failures(cases)).toHaveLength(1)
  })

  const leaseFaults = {
    'repeats tokens': { acquire: async () => ({ fencingToken: 1, leaseUntil: 0 }) },
    'renews anything': { renew: async () => true },
    'renews nothing': { renew: async () => false },
    'never releases': { release: async () => {} },
  }
  for (const [fault, broken] of Object.entries(leaseFaults)) {
    it(`notices a lease provider that ${fault}`, async () => {
      const open = async () => {
        const subject = await memoryLeases.open()
        return { ...subject, provider: Object.assign(subject.provider, broken) }
      }
      expect(await failures(leaseProviderCases({ open }))).not.toEqual([])
    })
  }
})
