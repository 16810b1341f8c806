// The protocol of SPEC §3, once: each step of a task's life as a pure function of the stored row.
// A store reads the row, asks here what becomes of it, and writes the answer, all in one atomic
// step of its own. A claim is open while the row has a `leaseUntil`, whatever the clock says.

import { CronfenceError } from '../errors.ts'
import { checkDuration, checkInstant, checkText, checkToken, idBytes } from './arguments.ts'
import type { CompletePatch, Completion, NewSchedule, Renewal, ScheduleRecord } from './store.ts'

/** A claim's parameters besides the id. */
export interface ClaimRequest {
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
}

/** Throws a `TypeError` or `RangeError` for a schedule that no store may take. */
export function checkSchedule(schedule: NewSchedule, now: number): void {
  if (!['cron', 'every', 'delay'].includes(schedule.kind)) {
    throw new TypeError(`kind: must be 'cron', 'every' or 'delay', got ${schedule.kind}`)
  }
  checkText('spec', schedule.spec)
  if (schedule.nextRunAt !== null) checkInstant('nextRunAt', schedule.nextRunAt)
  checkInstant('now', now)
}

/** Throws a `TypeError` or `RangeError` for a claim that no store may take. */
export function checkClaim({ owner, now, leaseMs }: ClaimRequest): void {
  checkText('owner', owner)
  checkInstant('now', now)
  checkDuration('leaseMs', leaseMs)
  checkInstant('now + leaseMs', now + leaseMs)
}

/** Throws a `RangeError` for a commit that no store may take. */
export function checkCompletion(fencingToken: number, patch: CompletePatch, now: number): void {
  checkToken(fencingToken)
  if (patch.nextRunAt !== null) checkInstant('patch.nextRunAt', patch.nextRunAt)
  if (patch.lastRunAt !== undefined) checkInstant('patch.lastRunAt', patch.lastRunAt)
  checkInstant('now', now)
}

/** Throws as {@link checkSchedule}, and a `TypeError` for an id that is none. */
export function checkRegistrations(schedules: readonly NewSchedule[], now: number): void {
  for (const schedule of schedules) {
    idBytes(schedule.id)
    checkSchedule(schedule, now)
  }
}

/** Throws a `TypeError` or `RangeError` for renewals that no store may take. */
export function checkRenewals(renewals: readonly Renewal[]): void {
  for (const { id, fencingToken, leaseUntil } of renewals) {
    idBytes(id)
    checkToken(fencingToken)
    checkInstant('leaseUntil', leaseUntil)
  }
}

/** Throws as {@link checkCompletion}, and a `TypeError` for an id that is none. */
export function checkCompletions(completions: readonly Completion[], now: number): void {
  for (const { id, fencingToken, patch } of completions) {
    idBytes(id)
    checkCompletion(fencingToken, patch, now)
  }
}

/** A first registration; `fencingToken` is the high-water mark of a deleted predecessor, or 0. */
export function inserted(
  { id, kind, spec, nextRunAt }: NewSchedule,
  fencingToken: number,
  now: number,
): ScheduleRecord {
  return Object.freeze({ id, kind, spec, nextRunAt, fencingToken, updatedAt: now })
}

/** A registration over a stored row: the same row when kind and spec are the stored ones. */
export function registered(
  row: ScheduleRecord,
  { kind, spec, nextRunAt }: NewSchedule,
  now: number,
): ScheduleRecord {
  if (row.kind === kind && row.spec === spec) return row
  return Object.freeze({ ...row, kind, spec, nextRunAt, updatedAt: now })
}

/**
 * The row under a new claim, or `null` when it is not due or its lease is live.
 * Throws `STORE_TOKEN_CEILING` when the token cannot grow.
 */
export function claimed(row: ScheduleRecord, claim: ClaimRequest): ScheduleRecord | null {
  const { owner, now, leaseMs } = claim
  if (row.nextRunAt === null || row.nextRunAt > now) return null
  if (row.leaseUntil !== undefined && row.leaseUntil > now) return null
  return Object.freeze({
    ...row,
    leaseOwner: owner,
    leaseUntil: now + leaseMs,
    fencingToken: nextToken(row.fencingToken, row.id),
    updatedAt: now,
  })
}

/**
 * The row with its deadline moved, or `null` when the claim is not open under this token. Only what
 * hands the slot back moves it to an earlier instant: a renewal that was long under way may come
 * after a newer one, which its runner relies on.
 */
export function renewed(
  row: ScheduleRecord,
  fencingToken: number,
  leaseUntil: number,
): ScheduleRecord | null {
  if (!isOpen(row, fencingToken)) return null
  const { nextRunAt, leaseUntil: before = leaseUntil } = row
  const isHandBack = nextRunAt === null || leaseUntil <= nextRunAt
  return Object.freeze({
    ...row,
    leaseUntil: isHandBack ? leaseUntil : Math.max(leaseUntil, before),
  })
}

/** The row after a commit, or `null` when the claim is not open under this token. */
export function completed(
  row: ScheduleRecord,
  fencingToken: number,
  patch: CompletePatch,
  now: number,
): ScheduleRecord | null {
  if (!isOpen(row, fencingToken)) return null
  const { leaseOwner: _owner, leaseUntil: _until, ...rest } = row
  const { plan, lastRunAt } = patch
  const planChanged = plan !== undefined && (plan.kind !== row.kind || plan.spec !== row.spec)
  return Object.freeze({
    ...rest,
    nextRunAt: planChanged ? row.nextRunAt : patch.nextRunAt,
    ...(lastRunAt === undefined ? {} : { lastRunAt }),
    updatedAt: now,
  })
}

/** The token of the next claim or lease. Throws `STORE_TOKEN_CEILING` at 2^53 - 1. */
export function nextToken(fencingToken: number, name: string): number {
  if (fencingToken < Number.MAX_SAFE_INTEGER) return fencingToken + 1
  throw new CronfenceError(
    'STORE_TOKEN_CEILING',
    `The fencing token of ${JSON.stringify(name)} is at 2^53 - 1 and cannot grow: use another id`,
    { details: { id: name } },
  )
}

function isOpen(row: ScheduleRecord, fencingToken: number): boolean {
  return row.leaseUntil !== undefined && row.fencingToken === fencingToken
}
