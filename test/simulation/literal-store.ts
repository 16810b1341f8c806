// The store, as SPEC §3 says it in words: a map whose operations happen one at a time. It shares no
// code with the stores of the library. What it lets through is what the engine has to live with.

import type { NewSchedule, ScheduleRecord } from '../../src/index.ts'

/** What a commit writes, as the engine sends it. */
export interface Patch {
  readonly nextRunAt: number | null
  readonly lastRunAt?: number
  readonly plan?: { readonly kind: string; readonly spec: string }
}

/** One operation on one row. */
export type Operation =
  | { readonly do: 'get'; readonly id: string }
  | { readonly do: 'register'; readonly id: string; readonly schedule: NewSchedule; now: number }
  | { readonly do: 'claim'; id: string; owner: string; now: number; leaseMs: number }
  | { readonly do: 'renew'; id: string; token: number; leaseUntil: number }
  | { readonly do: 'complete'; id: string; token: number; patch: Patch; now: number }
  | { readonly do: 'delete'; id: string; token: number | undefined }

/** What kind of store it is. */
export interface StoreTraits {
  /** Keeps the slot of a plan that is newer than the claim, as our own stores do. */
  readonly knowsPlans: boolean
  /**
   * Commits a claim once only, and moves no deadline back but to hand the slot back; the words of
   * the SPEC also allow to commit it again, and to let a late renewal shorten the lease.
   */
  readonly isStrict: boolean
}

/** Rows, and the tokens of deleted ones. */
export class LiteralStore {
  readonly rows = new Map<string, ScheduleRecord>()
  readonly #fences = new Map<string, number>()
  readonly #traits: StoreTraits

  constructor(traits: StoreTraits) {
    this.#traits = traits
  }

  /** Carries out one operation, whole. */
  apply(operation: Operation): unknown {
    const row = this.rows.get(operation.id)
    switch (operation.do) {
      case 'get':
        return row ?? null
      case 'register':
        return this.#register(row, operation.schedule, operation.now)
      case 'claim':
        return this.#claim(row, operation)
      case 'renew':
        if (row?.fencingToken !== operation.token || row.leaseUntil === undefined) return false
        if (!this.#isLate(row, operation.leaseUntil)) {
          this.rows.set(row.id, { ...row, leaseUntil: operation.leaseUntil })
        }
        return true
      case 'complete':
        return this.#complete(row, operation)
      case 'delete':
        if (!row || (operation.token ?? row.fencingToken) !== row.fencingToken) return
        this.#fences.set(row.id, row.fencingToken)
        this.rows.delete(row.id)
    }
  }

  #isLate({ nextRunAt, leaseUntil = 0 }: ScheduleRecord, deadline: number): boolean {
    const isHandBack = nextRunAt === null || deadline <= nextRunAt
    return this.#traits.isStrict && !isHandBack && deadline < leaseUntil
  }

  #register(row: ScheduleRecord | undefined, schedule: NewSchedule, now: number): ScheduleRecord {
    const { id, kind, spec, nextRunAt } = schedule
    if (row?.kind === kind && row.spec === spec) return row
    const fencingToken = this.#fences.get(id) ?? 0
    const old = row ?? { id, fencingToken }
    const stored = { ...old, kind, spec, nextRunAt, updatedAt: now }
    this.rows.set(id, stored)
    return stored
  }

  #claim(
    row: ScheduleRecord | undefined,
    { owner, now, leaseMs }: { owner: string; now: number; leaseMs: number },
  ) {
    if (!row || row.nextRunAt === null || row.nextRunAt > now) return null
    if (row.leaseUntil !== undefined && row.leaseUntil > now) return null
    const fencingToken = row.fencingToken + 1
    const leaseUntil = now + leaseMs
    const record = { ...row, fencingToken, leaseOwner: owner, leaseUntil, updatedAt: now }
    this.rows.set(row.id, record)
    return { record, fencingToken, takenOver: row.leaseUntil !== undefined }
  }

  #complete(
    row: ScheduleRecord | undefined,
    { token, patch, now }: { token: number; patch: Patch; now: number },
  ): boolean {
    if (row?.fencingToken !== token) return false
    if (this.#traits.isStrict && row.leaseUntil === undefined) return false
    const { leaseOwner: _, leaseUntil: __, ...free } = row
    const { plan } = patch
    const isNewer = plan && (plan.kind !== row.kind || plan.spec !== row.spec)
    const keeps = this.#traits.knowsPlans && isNewer
    this.rows.set(row.id, {
      ...free,
      nextRunAt: keeps ? row.nextRunAt : patch.nextRunAt,
      ...(patch.lastRunAt === undefined ? {} : { lastRunAt: patch.lastRunAt }),
      updatedAt: now,
    })
    return true
  }
}
