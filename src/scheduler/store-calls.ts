// Calls to a store, for many ids at once whatever the store offers: a batch method where it has
// one, else single calls beside each other. Each item gets an answer of its own, an error where
// there is none; and a store that never answers is not waited for.

import type { Clock } from '../clock.ts'
import { CronfenceError } from '../errors.ts'
import type {
  ClaimResult,
  Completion,
  NewSchedule,
  Renewal,
  ScheduleRecord,
  ScheduleStore,
} from '../store/store.ts'

/** One round trip carries at most so many items. */
export const BATCH_MAX = 1000

/** Single calls that are under way at once, for a store without batch methods. */
const SINGLE_CALLS_MAX = 100

/** After that long without an answer the outcome counts as unknown. */
const ANSWER_MS_MAX = 30_000

/** An answer, or why there is none. */
export type Answer<T> = T | Error

/** One attempt to claim: the same for all its ids. */
export interface ClaimAttempt {
  /** Fresh for every attempt, so that the row tells whose claim it shows. */
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
}

/** A store as the engine calls it. No method rejects; every answer is in the order of the items. */
export class StoreCalls {
  readonly #store: ScheduleStore
  readonly #clock: Clock

  constructor(store: ScheduleStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Connects, for as long as that takes. */
  async start(): Promise<Answer<void>> {
    try {
      await this.#store.start?.()
    } catch (error) {
      return asError(error)
    }
  }

  get(ids: readonly string[]): Promise<Answer<ScheduleRecord | null>[]> {
    const { getMany } = this.#store
    return this.#each(ids, getMany && ((batch) => getMany.call(this.#store, batch)), (id) =>
      this.#store.get(id),
    )
  }

  register(schedules: readonly NewSchedule[], now: number): Promise<Answer<ScheduleRecord>[]> {
    const { registerMany } = this.#store
    return this.#each(
      schedules,
      registerMany && ((batch) => registerMany.call(this.#store, batch, now)),
      (schedule) => this.#store.register(schedule, now),
    )
  }

  claim(
    ids: readonly string[],
    { owner, now, leaseMs }: ClaimAttempt,
  ): Promise<Answer<ClaimResult | null>[]> {
    const { claimDueMany } = this.#store
    return this.#each(
      ids,
      claimDueMany && ((batch) => claimDueMany.call(this.#store, batch, owner, now, leaseMs)),
      (id) => this.#store.claimDue(id, owner, now, leaseMs),
    )
  }

  renew(renewals: readonly Renewal[]): Promise<Answer<boolean>[]> {
    const { renewMany } = this.#store
    return this.#each(
      renewals,
      renewMany && ((batch) => renewMany.call(this.#store, batch)),
      ({ id, fencingToken, leaseUntil }) => this.#store.renew(id, fencingToken, leaseUntil),
    )
  }

  complete(completions: readonly Completion[], now: number): Promise<Answer<boolean>[]> {
    const { completeMany } = this.#store
    return this.#each(
      completions,
      completeMany && ((batch) => completeMany.call(this.#store, batch, now)),
      ({ id, fencingToken, patch }) => this.#store.complete(id, fencingToken, patch, now),
    )
  }

  delete(
    rows: readonly { readonly storedId: string; readonly fencingToken: number }[],
  ): Promise<Answer<void>[]> {
    return this.#each(rows, undefined, ({ storedId, fencingToken }) =>
      this.#store.delete(storedId, fencingToken),
    )
  }

  async list(): Promise<Answer<ScheduleRecord[]>> {
    return this.#answer(() => this.#store.list())
  }

  async #each<Item, Result>(
    items: readonly Item[],
    many: ((batch: readonly Item[]) => Promise<Result[]>) | undefined,
    single: (item: Item) => Promise<Result>,
  ): Promise<Answer<Result>[]> {
    const answers: Answer<Result>[] = []
    const size = many ? BATCH_MAX : SINGLE_CALLS_MAX
    for (let from = 0; from < items.length; from += size) {
      const batch = items.slice(from, from + size)
      const together = many && (await this.#answer(() => many(batch)))
      if (together && !isAboutOneRow(together)) {
        answers.push(...spread(together, batch.length))
      } else {
        // One bad row must not take the others with it.
        answers.push(...(await Promise.all(batch.map((item) => this.#answer(() => single(item))))))
      }
    }
    return answers
  }

  async #answer<Result>(call: () => Promise<Result>): Promise<Answer<Result>> {
    let giveUp = () => {}
    const timer = this.#clock.setTimer(() => giveUp(), ANSWER_MS_MAX)
    const late = new Promise<Error>((resolve) => {
      giveUp = () => resolve(unanswered())
    })
    try {
      return await Promise.race([call(), late])
    } catch (error) {
      return asError(error)
    } finally {
      timer.cancel()
    }
  }
}

/** Whether trying again cannot help until somebody mends the row. */
export function isAboutOneRow(answer: unknown): boolean {
  if (!(answer instanceof CronfenceError)) return false
  return answer.code === 'STORE_DAMAGED_RECORD' || answer.code === 'STORE_TOKEN_CEILING'
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('the store threw no error', { cause: thrown })
}

function spread<Result>(together: Answer<Result[]>, length: number): Answer<Result>[] {
  if (together instanceof Error) return new Array<Answer<Result>>(length).fill(together)
  if (together.length === length) return together
  const error = new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    `The store gave ${together.length} answers to ${length} items of a batch`,
  )
  return new Array<Answer<Result>>(length).fill(error)
}

function unanswered(): CronfenceError {
  return new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    `The store has not answered for ${ANSWER_MS_MAX} ms; whether it did as asked is not known`,
  )
}
