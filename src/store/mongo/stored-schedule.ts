// What a collection keeps of schedules: rows and tombstones. Integers are written as int64, so no
// reader and no operator makes a double of a token.

import type { ScheduleRecord, TaskKind } from '../store.ts'
import type { MongoFields } from './mongo-client.ts'
import type { StoredDocument } from './stored-document.ts'

/** What is left of a deleted schedule. */
export interface Tombstone {
  readonly id: string
  readonly fencingToken: number
  readonly deletedAt: number
}

/** What is under the id of a schedule. */
export type StoredSchedule = ScheduleRecord | Tombstone

const KINDS = ['cron', 'every', 'delay'] as const satisfies TaskKind[]

/** Throws `STORE_DAMAGED_RECORD`. */
export function readSchedule(stored: StoredDocument): StoredSchedule {
  const { id } = stored
  const fencingToken = stored.token('fencingToken')
  if (!stored.isNull('deletedAt')) {
    return { id, fencingToken, deletedAt: stored.instant('deletedAt') }
  }
  const isHeld = !stored.isNull('leaseUntil')
  if (isHeld === stored.isNull('leaseOwner')) {
    stored.fail('leaseOwner and leaseUntil: one is set and the other is not')
  }
  return Object.freeze({
    id,
    kind: stored.oneOf('kind', KINDS),
    spec: stored.text('spec'),
    nextRunAt: stored.instantOrNull('nextRunAt'),
    ...(isHeld
      ? { leaseOwner: stored.text('leaseOwner'), leaseUntil: stored.instant('leaseUntil') }
      : {}),
    fencingToken,
    ...(stored.isNull('lastRunAt') ? {} : { lastRunAt: stored.instant('lastRunAt') }),
    updatedAt: stored.instant('updatedAt'),
  })
}

/** The fields of a row or tombstone, all but its id. */
export function scheduleFields(schedule: StoredSchedule): MongoFields {
  const { fencingToken } = schedule
  if ('deletedAt' in schedule) {
    const nothing = { nextRunAt: null, leaseOwner: null, leaseUntil: null, lastRunAt: null }
    return { ...nothing, fencingToken: int64(fencingToken), deletedAt: int64(schedule.deletedAt) }
  }
  return {
    kind: schedule.kind,
    spec: schedule.spec,
    nextRunAt: int64(schedule.nextRunAt),
    leaseOwner: schedule.leaseOwner ?? null,
    leaseUntil: int64(schedule.leaseUntil),
    fencingToken: int64(fencingToken),
    lastRunAt: int64(schedule.lastRunAt),
    updatedAt: int64(schedule.updatedAt),
    deletedAt: null,
  }
}

/** The live row, if it is one. */
export function rowOf(stored: StoredSchedule | undefined): ScheduleRecord | undefined {
  return stored && 'kind' in stored ? stored : undefined
}

/** A number as the driver sends an int64. */
export function int64(value: number | null | undefined): bigint | null {
  return value === null || value === undefined ? null : BigInt(value)
}
