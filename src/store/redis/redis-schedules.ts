// The scripts on schedules as the calls of the store: keys and texts in, answers out.

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { CronfenceError } from '../../errors.ts'
import type { ClaimResult, Completion, NewSchedule, Renewal, ScheduleRecord } from '../store.ts'
import { type ClaimRequest, nextToken } from '../transitions.ts'
import { type Answer, answerOf, type ScheduleWaves } from '../wave-schedule-store.ts'
import type { RedisConnection } from './redis-connection.ts'
import type { Keys } from './redis-keys.ts'
import { inPieces } from './redis-pieces.ts'
import { type Reply, recordOf } from './redis-records.ts'
import {
  CLAIM,
  COMPLETE,
  DELETE,
  FIELDS,
  GET,
  PURGE,
  REGISTER,
  RENEW,
  SCAN,
  type Script,
} from './redis-statements.ts'

const PAGE_IDS = 1000
const MARK = 1 + FIELDS.indexOf('mark')

const textOrEmpty = (instant: number | null | undefined): string =>
  instant === null || instant === undefined ? '' : String(instant)

/** Durable tasks in Redis. */
export class RedisSchedules implements ScheduleWaves {
  readonly #connection: RedisConnection
  readonly #clock: Clock
  readonly #keys: Keys
  readonly #instance = randomUUID()
  #calls = 0

  /** Tombstones go by `clock`. */
  constructor(connection: RedisConnection, keys: Keys, clock: Clock) {
    this.#connection = connection
    this.#keys = keys
    this.#clock = clock
  }

  get(ids: readonly string[]): Promise<Answer<ScheduleRecord | null>[]> {
    const read = (reply: Reply, id: string) =>
      // A tombstone is as good as nothing.
      reply[0] === 'none' || reply[0] === 'dead' ? null : this.#record(reply, id)
    return inPieces(ids, async (piece) => {
      const replies = await this.#connection.run(GET, { keys: this.#keysOf(piece), args: [] })
      return answers(piece, replies, read)
    })
  }

  register(schedules: readonly NewSchedule[], now: number): Promise<Answer<ScheduleRecord>[]> {
    return inPieces(schedules, async (piece) => {
      const ids = piece.map(idOf)
      const plans = piece.flatMap(({ id, kind, spec, nextRunAt }) => {
        return [id, kind, spec, textOrEmpty(nextRunAt)]
      })
      const replies = await this.#connection.run(REGISTER, {
        keys: [this.#keys.ids, this.#keys.graves, ...this.#keysOf(ids)],
        args: [String(now), ...plans],
      })
      return answers(ids, replies, (reply, id) => this.#record(reply, id))
    })
  }

  claim(ids: readonly string[], claim: ClaimRequest): Promise<Answer<ClaimResult | null>[]> {
    const { owner, now, leaseMs } = claim
    const args = [owner, String(now), String(now + leaseMs), this.#callName()]
    return inPieces(ids, async (piece) => {
      const replies = await this.#connection.run(CLAIM, { keys: this.#keysOf(piece), args })
      return answers(piece, replies, (reply, id) => this.#claimIn(reply, id))
    })
  }

  renew(renewals: readonly Renewal[]): Promise<Answer<boolean>[]> {
    return inPieces(renewals, (piece) =>
      this.#change(RENEW, piece, {
        common: [],
        each: ({ fencingToken, leaseUntil }) => [String(fencingToken), String(leaseUntil)],
      }),
    )
  }

  complete(completions: readonly Completion[], now: number): Promise<Answer<boolean>[]> {
    const common = [String(now), this.#callName()]
    return inPieces(completions, (piece) =>
      this.#change(COMPLETE, piece, {
        common,
        each({ fencingToken, patch: { nextRunAt, lastRunAt, plan } }) {
          const instants = [textOrEmpty(nextRunAt), textOrEmpty(lastRunAt)]
          return [String(fencingToken), ...instants, plan?.kind ?? '', plan?.spec ?? '']
        },
      }),
    )
  }

  async delete(id: string, fencingToken: number | null): Promise<Answer<void>> {
    const { ids, graves } = this.#keys
    const reply = await this.#connection.run(DELETE, {
      keys: [ids, graves, this.#keys.schedule(id)],
      args: [id, textOrEmpty(fencingToken), String(this.#clock.now())],
    })
    return answerOf(() => {
      this.#isDone(reply as Reply, id)
    })
  }

  async *pages(): AsyncGenerator<readonly Answer<ScheduleRecord>[]> {
    for await (const ids of this.#scan(this.#keys.ids)) {
      yield (await this.get(ids)).filter((answer) => answer !== null)
    }
  }

  /** See `ServerStore.purge`. Floor and tombstones change in one step, page by page. */
  async purge(olderThan: number): Promise<number> {
    let count = 0
    for await (const ids of this.#scan(this.#keys.graves)) {
      const removed = await this.#connection.run(PURGE, {
        keys: [this.#keys.graves, ...this.#keysOf(ids)],
        args: [String(olderThan), ...ids],
      })
      count += Number(removed)
    }
    return count
  }

  /** The members of a set, some of a page at a time, none twice. */
  async *#scan(key: string): AsyncGenerator<string[]> {
    const seen = new Set<string>()
    let cursor = '0'
    do {
      const args = [cursor, String(PAGE_IDS)]
      const page = await this.#connection.run(SCAN, { keys: [key], args })
      const [next, members] = page as [string, string[]]
      const ids = members.filter((id) => !seen.has(id))
      for (const id of ids) seen.add(id)
      // A small set comes in one page, however large its members are.
      while (ids.length > 0) yield ids.splice(0, PAGE_IDS)
      cursor = next
    } while (cursor !== '0')
  }

  #keysOf(ids: readonly string[]): string[] {
    return ids.map((id) => this.#keys.schedule(id))
  }

  /** A name for one call, by which a driver's second sending of it is told from another call. */
  #callName(): string {
    return `${this.#instance}.${this.#calls++}`
  }

  async #change<Item extends { readonly id: string }>(
    script: Script,
    items: readonly Item[],
    { common, each }: { common: string[]; each: (item: Item) => string[] },
  ): Promise<Answer<boolean>[]> {
    const ids = items.map(idOf)
    const args = [...common, ...items.flatMap(each)]
    const replies = await this.#connection.run(script, { keys: this.#keysOf(ids), args })
    return answers(ids, replies, (reply, id) => this.#isDone(reply, id))
  }

  #claimIn(reply: Reply, id: string): ClaimResult | null {
    if (reply[0] === 'none') return null
    const record = this.#record(reply, id)
    const { fencingToken } = record
    if (reply[0] === 'full') nextToken(fencingToken, id) // Throws, being at the ceiling.
    return { record, fencingToken, takenOver: reply[MARK]?.startsWith('+') === true }
  }

  #isDone(reply: Reply, id: string): boolean {
    if (reply[0] === 'yes') return true
    if (reply[0] === 'no') return false
    throw this.#damageIn(reply, id)
  }

  #record(reply: Reply, id: string): ScheduleRecord {
    const record = recordOf(reply, { key: this.#keys.schedule(id), id })
    this.#connection.saw(record.fencingToken)
    return record
  }

  #damageIn(reply: Reply, id: string): CronfenceError {
    const answer = answerOf(() => this.#record(reply, id))
    if (answer instanceof CronfenceError) return answer
    throw new TypeError(`a script answered ${JSON.stringify(reply)}`)
  }
}

function answers<T>(
  ids: readonly string[],
  replies: unknown,
  read: (reply: Reply, id: string) => T,
): Answer<T>[] {
  const list = replies as readonly Reply[]
  return ids.map((id, index) => answerOf(() => read(list[index] ?? ['none'], id)))
}

const idOf = ({ id }: { readonly id: string }): string => id
