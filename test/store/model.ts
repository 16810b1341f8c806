// The contract a second time, as a map and a few questions, sharing no code with the stores. The
// model test compares the stores with it; the suite's own test breaks one question at a time.

import type {
  ClaimResult,
  CompletePatch,
  NewSchedule,
  ScheduleRecord,
  ScheduleStore,
} from '../../src/store/store.ts'

/** A live or deleted task; plain and mutable. */
export interface ModelRow {
  id: string
  kind: ScheduleRecord['kind']
  spec: string
  nextRunAt: number | null
  lease: { owner: string; until: number } | null
  token: number
  lastRunAt: number | null
  updatedAt: number
  isDeleted: boolean
}

/** The contract, one overridable question per rule. */
export class ModelStore implements ScheduleStore {
  rows = new Map<string, ModelRow>()

  key(id: string): string {
    const bytes = Buffer.from(id)
    if (id === '' || id.includes('\0') || bytes.length > 1024 || bytes.toString() !== id) {
      throw new TypeError('id')
    }
    return id
  }
  isDue(row: ModelRow, now: number): boolean {
    return row.nextRunAt !== null && row.nextRunAt <= now
  }
  isLive(row: ModelRow, now: number, _owner: string): boolean {
    return row.lease !== null && row.lease.until > now
  }
  tokenAfter(row: ModelRow): number {
    if (row.token === Number.MAX_SAFE_INTEGER) throw new Error('ceiling')
    return row.token + 1
  }
  isTakeOver(row: ModelRow): boolean {
    return row.lease !== null
  }
  isOpen(row: ModelRow, token: number): boolean {
    return row.lease !== null && row.token === token
  }
  mayRenew(row: ModelRow, token: number, _until: number): boolean {
    return this.isOpen(row, token)
  }
  isHandBack(row: ModelRow, until: number): boolean {
    return row.nextRunAt === null || until <= row.nextRunAt
  }
  mayCommit(row: ModelRow, token: number, _now: number): boolean {
    return this.isOpen(row, token)
  }
  isSamePlan(row: ModelRow, plan: { kind: string; spec: string }): boolean {
    return row.kind === plan.kind && row.spec === plan.spec
  }
  mayOverwrite(row: ModelRow, schedule: NewSchedule): boolean {
    return !this.isSamePlan(row, schedule)
  }
  overwrite(row: ModelRow, { kind, spec, nextRunAt }: NewSchedule, now: number): void {
    Object.assign(row, { kind, spec, nextRunAt, updatedAt: now })
  }
  commit(row: ModelRow, { nextRunAt, lastRunAt, plan }: CompletePatch, now: number): void {
    if (!plan || this.isSamePlan(row, plan)) row.nextRunAt = nextRunAt
    row.lastRunAt = lastRunAt ?? row.lastRunAt
    row.lease = null
    row.updatedAt = now
  }
  tombstoneToken(row: ModelRow): number {
    return row.token
  }
  mayDelete(row: ModelRow, token: number | undefined): boolean {
    return token === undefined || token === row.token
  }
  isListed(row: ModelRow): boolean {
    return !row.isDeleted
  }
  record({ lease, lastRunAt, isDeleted: _, token, ...rest }: ModelRow): ScheduleRecord {
    return {
      ...rest,
      fencingToken: token,
      ...(lease && { leaseOwner: lease.owner, leaseUntil: lease.until }),
      ...(lastRunAt !== null && { lastRunAt }),
    }
  }
  live(id: string): ModelRow | undefined {
    const row = this.rows.get(this.key(id))
    return row?.isDeleted ? undefined : row
  }

  async get(id: string): Promise<ScheduleRecord | null> {
    const row = this.live(id)
    return row ? this.record(row) : null
  }

  async register(schedule: NewSchedule, now: number): Promise<ScheduleRecord> {
    const key = this.key(schedule.id)
    const row = this.rows.get(key)
    if (row && !row.isDeleted) {
      if (this.mayOverwrite(row, schedule)) this.overwrite(row, schedule, now)
      return this.record(row)
    }
    const { id, kind, spec, nextRunAt } = schedule
    const token = row ? this.tombstoneToken(row) : 0
    const fresh = { lease: null, token, lastRunAt: null, updatedAt: now, isDeleted: false }
    this.rows.set(key, { id, kind, spec, nextRunAt, ...fresh })
    return this.record(this.rows.get(key) as ModelRow)
  }

  async claimDue(
    id: string,
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<ClaimResult | null> {
    const row = this.live(id)
    if (!row || !this.isDue(row, now) || this.isLive(row, now, owner)) return null
    const takenOver = this.isTakeOver(row)
    row.token = this.tokenAfter(row)
    row.lease = { owner, until: now + leaseMs }
    row.updatedAt = now
    return { record: this.record(row), fencingToken: row.token, takenOver }
  }

  async renew(id: string, token: number, leaseUntil: number): Promise<boolean> {
    const row = this.live(id)
    if (!row || !this.mayRenew(row, token, leaseUntil)) return false
    const { owner, until } = row.lease ?? { owner: 'nobody', until: leaseUntil }
    const isLate = leaseUntil < until && !this.isHandBack(row, leaseUntil)
    row.lease = { owner, until: isLate ? until : leaseUntil }
    return true
  }

  async complete(id: string, token: number, patch: CompletePatch, now: number): Promise<boolean> {
    const row = this.live(id)
    if (!row || !this.mayCommit(row, token, now)) return false
    this.commit(row, patch, now)
    return true
  }

  async delete(id: string, token?: number): Promise<void> {
    const row = this.live(id)
    if (row && this.mayDelete(row, token)) row.isDeleted = true
  }

  async list(): Promise<ScheduleRecord[]> {
    return [...this.rows.values()]
      .filter((row) => this.isListed(row))
      .map((row) => this.record(row))
  }
}
