// What a bucket keeps of schedules: rows, tombstones, and the floor of all tokens.

import type { ScheduleRecord, TaskKind } from '../store.ts'
import type { StoredValue } from './stored-value.ts'

/** The prefix of the keys of rows and tombstones. */
export const PREFIX = 'schedule'

/** The key of the floor. */
export const FLOOR_KEY = 'floor'

/** What is left of a deleted schedule. */
export interface Tombstone {
  readonly id: string
  readonly fencingToken: number
  readonly deletedAt: number
}

/** What is under the key of a schedule. */
export type StoredSchedule = ScheduleRecord | Tombstone

/** The least token of new ids. */
export interface Floor {
  readonly tokenFloor: number
}

const KINDS = ['cron', 'every', 'delay'] as const satisfies TaskKind[]

/** Throws `STORE_DAMAGED_RECORD`. */
export function readSchedule(stored: StoredValue): StoredSchedule {
  const id = stored.text('id')
  stored.assertKey('id', PREFIX)
  const fencingToken = stored.token('fencingToken')
  if (stored.has('deletedAt')) return { id, fencingToken, deletedAt: stored.instant('deletedAt') }
  const isHeld = stored.has('leaseUntil')
  if (isHeld !== stored.has('leaseOwner')) {
    stored.fail('leaseOwner and leaseUntil: one is there and the other is not')
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
    ...(stored.has('lastRunAt') ? { lastRunAt: stored.instant('lastRunAt') } : {}),
    updatedAt: stored.instant('updatedAt'),
  })
}

/** Throws `STORE_DAMAGED_RECORD`. */
export function readFloor(stored: StoredValue): Floor {
  return { tokenFloor: stored.token('tokenFloor') }
}

/** The live row, if it is one. */
export function rowOf(stored: StoredSchedule | undefined): ScheduleRecord | null {
  return stored && 'kind' in stored ? stored : null
}
