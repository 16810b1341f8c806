// Schedules in a collection: a document for each id. A deleted one stays as a tombstone, with the
// token that a later registration starts from.

import type { Clock } from '../../clock.ts'
import type { ClaimResult, Completion, NewSchedule, Renewal, ScheduleRecord } from '../store.ts'
import {
  type ClaimRequest,
  claimed,
  completed,
  inserted,
  registered,
  renewed,
} from '../transitions.ts'
import type { Answer, ScheduleWaves } from '../wave-schedule-store.ts'
import { Cells, type Decider, type Step } from './mongo-cells.ts'
import type { MongoConnection } from './mongo-connection.ts'
import { type Collections, raiseTokenFloor, tokenFloor } from './mongo-schema.ts'
import {
  int64,
  readSchedule,
  rowOf,
  type StoredSchedule,
  scheduleFields,
} from './stored-schedule.ts'

const PAGE_DOCUMENTS = 2000

type Deciding<Item, R> = Decider<Item, StoredSchedule, R>['decide']

/** Durable tasks in MongoDB. */
export class MongoSchedules implements ScheduleWaves {
  readonly #connection: MongoConnection
  readonly #collections: Collections
  readonly #clock: Clock
  readonly #cells: Cells<StoredSchedule>

  /** Tombstones go by `clock`. */
  constructor(connection: MongoConnection, collections: Collections, clock: Clock) {
    this.#connection = connection
    this.#collections = collections
    this.#clock = clock
    this.#cells = new Cells({
      ...{ connection, collection: collections.schedules },
      ...{ parse: readSchedule, fieldsOf: scheduleFields },
    })
  }

  async get(ids: readonly string[]): Promise<Answer<ScheduleRecord | null>[]> {
    await this.#connection.open()
    const found = await this.#cells.read(ids)
    return ids.map((id) => {
      const stored = found.get(id)
      return stored instanceof Error ? stored : (rowOf(stored) ?? null)
    })
  }

  async register(
    schedules: readonly NewSchedule[],
    now: number,
  ): Promise<Answer<ScheduleRecord>[]> {
    await this.#connection.open()
    return this.#cells.change(schedules, {
      // A row that is as it should be is an answer without a write.
      isFinal: true,
      // A purge raises the floor before it removes tombstones: whoever saw none reads it after.
      beforeAdding: () => tokenFloor(this.#connection, this.#collections),
      decide(stored, schedule, floor) {
        const row = rowOf(stored)
        if (!row) {
          const next = inserted(schedule, stored?.fencingToken ?? floor, now)
          return { next, result: next }
        }
        const next = registered(row, schedule, now)
        return next === row ? { result: row } : { next, result: next }
      },
    })
  }

  async claim(ids: readonly string[], claim: ClaimRequest): Promise<Answer<ClaimResult | null>[]> {
    const items = ids.map((id) => ({ id }))
    return this.#change(items, (stored): Step<StoredSchedule, ClaimResult | null> => {
      const row = rowOf(stored)
      const next = row ? claimed(row, claim) : null
      if (!row || !next) return { result: null }
      const takenOver = row.leaseUntil !== undefined
      return { next, result: { record: next, fencingToken: next.fencingToken, takenOver } }
    })
  }

  async renew(renewals: readonly Renewal[]): Promise<Answer<boolean>[]> {
    return this.#change(renewals, (stored, { fencingToken, leaseUntil }) => {
      const row = rowOf(stored)
      return stepTo(row ? renewed(row, fencingToken, leaseUntil) : null)
    })
  }

  async complete(completions: readonly Completion[], now: number): Promise<Answer<boolean>[]> {
    return this.#change(completions, (stored, { fencingToken, patch }) => {
      const row = rowOf(stored)
      return stepTo(row ? completed(row, fencingToken, patch, now) : null)
    })
  }

  async delete(id: string, fencingToken: number | null): Promise<Answer<void>> {
    const deletedAt = this.#clock.now()
    const [answer] = await this.#change([{ id }], (stored): Step<StoredSchedule, void> => {
      const row = rowOf(stored)
      if (!row || (fencingToken ?? row.fencingToken) !== row.fencingToken) return NOTHING_TO_DO
      return { next: { id, fencingToken: row.fencingToken, deletedAt }, result: undefined }
    })
    return answer
  }

  async *pages(): AsyncGenerator<readonly Answer<ScheduleRecord>[]> {
    await this.#connection.open()
    let last = ''
    for (;;) {
      const page = await this.#cells.page({ deletedAt: null }, last, PAGE_DOCUMENTS)
      yield [...page.values()].flatMap((stored): Answer<ScheduleRecord>[] => {
        const row = stored instanceof Error ? stored : rowOf(stored)
        return row ? [row] : []
      })
      if (page.size < PAGE_DOCUMENTS) return
      last = [...page.keys()].at(-1) ?? ''
    }
  }

  /** See `ServerStore.purge`. */
  async purge(olderThan: number): Promise<number> {
    await this.#connection.open()
    const { schedules } = this.#collections
    // A tombstone that cannot be read is neither trusted nor removed.
    const isOld = (highest: number) => ({
      deletedAt: { $lt: int64(olderThan) },
      fencingToken: { $gte: int64(0), $lte: int64(highest) },
    })
    const [highest] = await this.#connection.find(schedules, {
      filter: isOld(Number.MAX_SAFE_INTEGER),
      sort: { fencingToken: -1 },
      limit: 1,
    })
    if (!highest) return 0
    const floor = Number(highest.fencingToken)
    await raiseTokenFloor(this.#connection, this.#collections, floor)
    return this.#connection.remove(schedules, isOld(floor))
  }

  async #change<Item extends { readonly id: string }, R>(
    items: readonly Item[],
    decide: Deciding<Item, R>,
  ): Promise<Answer<R>[]> {
    await this.#connection.open()
    return this.#cells.change(items, { decide })
  }
}

const NOTHING_TO_DO = { result: undefined }

function stepTo(next: ScheduleRecord | null): Step<StoredSchedule, boolean> {
  return next ? { next, result: true } : { result: false }
}
