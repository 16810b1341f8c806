// Schedules in a bucket: a key for each id. A deleted one leaves a tombstone under its key, with
// the token that a later registration starts from: NATS' own deletions would forget it.

import type { Clock } from '../../clock.ts'
import { CronfenceError } from '../../errors.ts'
import type { ClaimResult, Completion, NewSchedule, Renewal, ScheduleRecord } from '../store.ts'
import {
  type ClaimRequest,
  claimed,
  completed,
  inserted,
  registered,
  renewed,
} from '../transitions.ts'
import { type Answer, answerOf, type ScheduleWaves } from '../wave-schedule-store.ts'
import { together } from './batch.ts'
import { type Cell, Cells, type Decide, type Step } from './cells.ts'
import type { NatsBucket } from './nats-bucket.ts'
import {
  FLOOR_KEY,
  type Floor,
  PREFIX,
  readFloor,
  readSchedule,
  rowOf,
  type StoredSchedule,
} from './stored-schedule.ts'
import { keyOf } from './stored-value.ts'

/** What {@link NatsSchedules} stand on. */
export interface NatsSchedulesOptions {
  readonly bucket: NatsBucket
  readonly timeoutMs: number
  /** Tombstones go by it. */
  readonly clock: Clock
}

type DecideRow<R> = Decide<StoredSchedule, R>

/** Durable tasks in a bucket. */
export class NatsSchedules implements ScheduleWaves {
  readonly #bucket: NatsBucket
  readonly #clock: Clock
  readonly #cells: Cells<StoredSchedule>
  readonly #floor: Cells<Floor>
  #floorUnderWay: Promise<unknown> = Promise.resolve()
  #floorToCome: Promise<number> | undefined

  constructor({ bucket, timeoutMs, clock }: NatsSchedulesOptions) {
    this.#bucket = bucket
    this.#clock = clock
    this.#cells = new Cells({ bucket, timeoutMs, parse: readSchedule })
    this.#floor = new Cells({ bucket, timeoutMs, parse: readFloor })
  }

  /** Forgets what was seen of the bucket. */
  forget(): void {
    this.#cells.forget()
    this.#floor.forget()
  }

  async get(ids: readonly string[]): Promise<Answer<ScheduleRecord | null>[]> {
    const run = async (id: string) => rowOf((await this.#cells.read(keyOf(PREFIX, id))).value)
    return together(ids, { isWrite: false, run })
  }

  async register(
    schedules: readonly NewSchedule[],
    now: number,
  ): Promise<Answer<ScheduleRecord>[]> {
    return this.#change(
      schedules,
      (schedule): DecideRow<ScheduleRecord> =>
        async (cell) => {
          const row = rowOf(cell.value)
          const next = row
            ? registered(row, schedule, now)
            : inserted(schedule, await this.#tokenAfter(cell), now)
          return next === row ? { result: row } : { next, result: next }
        },
    )
  }

  async claim(ids: readonly string[], claim: ClaimRequest): Promise<Answer<ClaimResult | null>[]> {
    const items = ids.map((id) => ({ id }))
    return this.#change(items, () => decideClaim(claim))
  }

  async renew(renewals: readonly Renewal[]): Promise<Answer<boolean>[]> {
    return this.#change(renewals, ({ fencingToken, leaseUntil }): DecideRow<boolean> => {
      return ({ value }) => {
        const row = rowOf(value)
        return stepTo(row && renewed(row, fencingToken, leaseUntil))
      }
    })
  }

  async complete(completions: readonly Completion[], now: number): Promise<Answer<boolean>[]> {
    return this.#change(completions, ({ fencingToken, patch }): DecideRow<boolean> => {
      return ({ value }) => {
        const row = rowOf(value)
        // Nothing tells whether a write without a reply had committed it before it went on.
        return { ...stepTo(row && completed(row, fencingToken, patch, now)), isAmbiguous: true }
      }
    })
  }

  async delete(id: string, fencingToken: number | null): Promise<Answer<void>> {
    const deletedAt = this.#clock.now()
    const [answer] = await this.#change(
      [{ id }],
      (): DecideRow<void> =>
        ({ value }) => {
          const row = rowOf(value)
          if (!row || (fencingToken ?? row.fencingToken) !== row.fencingToken) return NOTHING_TO_DO
          return { next: { id, fencingToken: row.fencingToken, deletedAt }, result: undefined }
        },
    )
    return answer
  }

  async *pages(): AsyncGenerator<readonly Answer<ScheduleRecord>[]> {
    const answers = await this.#all()
    yield answers.flatMap((answer): Answer<ScheduleRecord>[] => {
      if (answer instanceof CronfenceError) return [answer]
      const row = rowOf(answer.value)
      return row ? [row] : []
    })
  }

  /** See `ServerStore.purge`. The floor is raised first, so no new id can start below it. */
  async purge(olderThan: number): Promise<number> {
    const old = (await this.#all()).flatMap((answer) => {
      if (answer instanceof CronfenceError || !answer.value) return []
      const { value, revision } = answer
      return 'deletedAt' in value && value.deletedAt < olderThan ? { ...value, revision } : []
    })
    if (old.length === 0) return 0
    const tokenFloor = old.reduce((most, { fencingToken }) => Math.max(most, fencingToken), 0)
    await this.#floor.change<void>(FLOOR_KEY, ({ value }) => {
      if (value && value.tokenFloor >= tokenFloor) return NOTHING_TO_DO
      return { next: { tokenFloor }, result: undefined }
    })
    const erased = await Promise.all(
      old.map(({ id, revision }) => this.#bucket.erase(keyOf(PREFIX, id), revision)),
    )
    return erased.filter(Boolean).length
  }

  /**
   * The token that a new row starts from. The floor is read after the key was seen to be empty,
   * since a purge raises it before it empties a key. A key that another tool deleted, and its token
   * with it, goes on from the revision of that: tokens of a bucket grow no faster than revisions.
   */
  async #tokenAfter({ value, revision }: Cell<StoredSchedule>): Promise<number> {
    if (value) return value.fencingToken
    return Math.max(await this.#nextFloor(), revision)
  }

  /** The floor by a read that has not begun yet: one serves all who wait for it. */
  #nextFloor(): Promise<number> {
    this.#floorToCome ??= this.#floorUnderWay.then(() => {
      this.#floorToCome = undefined
      const floor = this.#floor.read(FLOOR_KEY).then(({ value }) => value?.tokenFloor ?? 0)
      this.#floorUnderWay = floor.catch(() => {})
      return floor
    })
    return this.#floorToCome
  }

  async #all(): Promise<Answer<Cell<StoredSchedule>>[]> {
    const entries = await this.#bucket.entries(`${PREFIX}.*`)
    return entries.map((entry) => answerOf(() => this.#cells.cellOf(entry)))
  }

  #change<Item extends { readonly id: string }, R>(
    items: readonly Item[],
    decideFor: (item: Item) => DecideRow<R>,
  ): Promise<Answer<R>[]> {
    const run = (item: Item) => this.#cells.change(keyOf(PREFIX, item.id), decideFor(item))
    return together(items, { isWrite: true, run })
  }
}

const NOTHING_TO_DO = { result: undefined }

function decideClaim(claim: ClaimRequest): DecideRow<ClaimResult | null> {
  let takenOver = false
  const granted = (record: ScheduleRecord): ClaimResult => {
    return { record, fencingToken: record.fencingToken, takenOver }
  }
  return ({ value }, lost) => {
    const row = rowOf(value)
    if (!row) return { result: null }
    if (row.leaseOwner === claim.owner && row.fencingToken === lost?.fencingToken) {
      // Won by a write without a reply, over which the plan was changed since.
      return { result: granted(row) }
    }
    const next = claimed(row, claim)
    if (!next) return { result: null }
    takenOver = row.leaseUntil !== undefined
    return { next, result: granted(next) }
  }
}

function stepTo(next: ScheduleRecord | null): Step<StoredSchedule, boolean> {
  return next ? { next, result: true } : { result: false }
}
