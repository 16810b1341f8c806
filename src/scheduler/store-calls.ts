// Calls to a store, for many ids at once whatever the store offers: a batch method where it has
// one, else single calls beside each other. Each item gets an answer of its own, an error where
// there is none; and a store that never answers is not waited for.

import type { Clock } from '../clock.ts'
import { BatchError, CronfenceError } from '../errors.ts'
import type {
  ClaimResult,
  CompletePatch,
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

/** After that long without an answer the outcome counts as unknown, or sooner where told so. */
const ANSWER_MS_MAX = 10_000

/** The same for what may take long: to connect, and to list all rows. */
const LONG_ANSWER_MS_MAX = 60_000

/** An answer, or why there is none. */
export type Answer<T> = T | Error

/** Told of the answer to one item, by its index, as soon as it is there. */
export type OnAnswer<T> = (index: number, answer: Answer<T>) => void

/** Asked of an item by its index before it is sent alone, which may be long after the others. */
export type IsWanted = (index: number) => boolean

/** One attempt to claim: the same for all its ids. */
export interface ClaimAttempt {
  /** Fresh for every attempt, so that the row tells whose claim it shows. */
  readonly owner: string
  readonly now: number
  readonly leaseMs: number
}

/**
 * A store as the engine calls it. No method rejects; answers are in the order of the items. Who
 * does not want one slow item to hold up the others listens for each answer.
 */
export class StoreCalls {
  readonly #store: ScheduleStore
  readonly #clock: Clock
  /** Each ends the wait for one answer. */
  readonly #waiting = new Set<() => void>()
  #isSealed = false

  constructor(store: ScheduleStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Waits no longer: what has no answer counts as unknown. Nothing is sent until `reopen`. */
  seal(): void {
    this.#isSealed = true
    for (const giveUp of this.#waiting) giveUp()
  }

  reopen(): void {
    this.#isSealed = false
  }

  /** Connects. A store that never answers is asked again: a half-open socket ends nothing. */
  async start(): Promise<Answer<void>> {
    return this.#answer(async () => this.#store.start?.(), LONG_ANSWER_MS_MAX)
  }

  get(
    ids: readonly string[],
    onAnswer?: OnAnswer<ScheduleRecord | null>,
  ): Promise<Answer<ScheduleRecord | null>[]> {
    const { getMany } = this.#store
    return this.#each(ids, {
      many: getMany && ((batch) => getMany.call(this.#store, batch)),
      single: (id) => this.#store.get(id),
      onAnswer,
    })
  }

  register(
    schedules: readonly NewSchedule[],
    now: number,
    onAnswer: OnAnswer<ScheduleRecord>,
  ): Promise<unknown> {
    const { registerMany } = this.#store
    return this.#each(schedules, {
      many: registerMany && ((batch) => registerMany.call(this.#store, batch, now)),
      single: (schedule) => this.#store.register(schedule, now),
      onAnswer,
    })
  }

  claim(
    ids: readonly string[],
    { owner, now, leaseMs }: ClaimAttempt,
    { onAnswer, isWanted }: { onAnswer: OnAnswer<ClaimResult | null>; isWanted: IsWanted },
  ): Promise<unknown> {
    const { claimDueMany } = this.#store
    return this.#each(ids, {
      many: claimDueMany && ((batch) => claimDueMany.call(this.#store, batch, owner, now, leaseMs)),
      single: (id) => this.#store.claimDue(id, owner, now, leaseMs),
      onAnswer,
      isWanted,
      answerMs: leaseMs / 3,
    })
  }

  renew(renewals: readonly Renewal[], answerMs?: number): Promise<Answer<boolean>[]> {
    const { renewMany } = this.#store
    return this.#each(renewals, {
      many: renewMany && ((batch) => renewMany.call(this.#store, batch)),
      single: ({ id, fencingToken, leaseUntil }) => this.#store.renew(id, fencingToken, leaseUntil),
      answerMs,
    })
  }

  complete(
    completions: readonly Completion[],
    now: number,
    { onAnswer, answerMs }: { onAnswer: OnAnswer<boolean>; answerMs: number },
  ): Promise<unknown> {
    const { completeMany } = this.#store
    const readMs = Math.min(answerMs, ANSWER_MS_MAX) / 2
    return this.#each(completions, {
      many: completeMany && ((batch) => completeMany.call(this.#store, batch, now)),
      single: async (completion) => {
        const patch = completeMany ? completion.patch : await this.#patchFor(completion, readMs)
        if (this.#isSealed) throw givenUp()
        return this.#store.complete(completion.id, completion.fencingToken, patch, now)
      },
      onAnswer,
      answerMs,
    })
  }

  delete(
    rows: readonly { readonly storedId: string; readonly fencingToken: number }[],
  ): Promise<Answer<void>[]> {
    return this.#each(rows, {
      single: ({ storedId, fencingToken }) => this.#store.delete(storedId, fencingToken),
    })
  }

  /**
   * Keeps the slot of a plan that is newer than the claim. Our own stores do that by `patch.plan`,
   * in one step; a store without batches may know nothing of it, so its row is looked at before.
   */
  async #patchFor({ id, patch }: Completion, limitMs: number): Promise<CompletePatch> {
    const row = await this.#answer(() => this.#store.get(id), limitMs)
    const { plan } = patch
    if (!row || row instanceof Error || !plan) return patch
    const isPlan = row.kind === plan.kind && row.spec === plan.spec
    return isPlan ? patch : { ...patch, nextRunAt: row.nextRunAt }
  }

  async list(): Promise<Answer<ScheduleRecord[]>> {
    return this.#answer(() => this.#store.list(), LONG_ANSWER_MS_MAX)
  }

  async #each<Item, Result>(
    items: readonly Item[],
    { many, single, onAnswer, isWanted, answerMs = ANSWER_MS_MAX }: Ways<Item, Result>,
  ): Promise<Answer<Result>[]> {
    const limitMs = Math.min(answerMs, ANSWER_MS_MAX)
    const ask = <Got>(call: () => Promise<Got>) => this.#answer(call, limitMs)
    const answers = new Array<Answer<Result>>(items.length)
    const answered: OnAnswer<Result> = (index, answer) => {
      answers[index] = answer
      onAnswer?.(index, answer)
    }
    for (let from = 0; from < items.length; from += BATCH_MAX) {
      const batch = items.slice(from, from + BATCH_MAX)
      const together = many ? spread(await ask(() => many(batch)), batch) : []
      together.forEach((answer, index) => {
        answered(from + index, answer)
      })
      await inPool(batch.slice(together.length), async (item, at) => {
        const index = from + together.length + at
        if (isWanted?.(index) !== false) answered(index, await ask(() => single(item)))
      })
    }
    return answers
  }

  async #answer<Result>(call: () => Promise<Result>, limitMs: number): Promise<Answer<Result>> {
    if (this.#isSealed) return givenUp()
    let giveUp = (_: Error) => {}
    const late = new Promise<Error>((resolve) => {
      giveUp = resolve
    })
    const timer = this.#clock.setTimer(() => giveUp(unanswered(limitMs)), limitMs)
    const endWait = () => giveUp(givenUp())
    this.#waiting.add(endWait)
    try {
      return await Promise.race([call(), late])
    } catch (error) {
      return asError(error)
    } finally {
      timer.cancel()
      this.#waiting.delete(endWait)
    }
  }
}

/** How to ask the store about many items. */
interface Ways<Item, Result> {
  readonly many?: ((batch: readonly Item[]) => Promise<Result[]>) | undefined
  readonly single: (item: Item) => Promise<Result>
  readonly onAnswer?: OnAnswer<Result> | undefined
  /** An item that is not wanted any more is not sent alone, and has no answer. */
  readonly isWanted?: IsWanted | undefined
  /** An answer that comes later is not waited for. */
  readonly answerMs?: number | undefined
}

/** Some at a time, so that one which does not answer does not hold up the rest. */
async function inPool<Item>(
  items: readonly Item[],
  call: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries()
  const worker = async () => {
    for (const [index, item] of entries) await call(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(SINGLE_CALLS_MAX, items.length) }, worker))
}

/** Whether trying again cannot help until somebody mends the row. */
export function isAboutOneRow(answer: unknown): boolean {
  if (!(answer instanceof CronfenceError)) return false
  const { code, details } = answer
  if (code === 'STORE_NEWER_SCHEMA') return details.isOneRow === true
  return code === 'STORE_DAMAGED_RECORD' || code === 'STORE_TOKEN_CEILING'
}

/** Whether somebody else keeps the row locked: nothing was done, and the store is well. */
export function isLocked(error: Error): boolean {
  return error instanceof CronfenceError && error.details.isLocked === true
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('the store threw no error', { cause: thrown })
}

/** The answers of a batch, item by item; those after them are asked for one by one. */
function spread<Result>(
  together: Answer<Result[]>,
  { length }: readonly unknown[],
): readonly Answer<Result>[] {
  if (together instanceof Error) {
    const isPartial = together instanceof BatchError
    const known = isPartial ? (together.answers.slice(0, length) as Answer<Result>[]) : []
    // One bad row must not take the others with it.
    if (isAboutOneRow(together) || isLocked(together)) return known
    return [...known, ...new Array<Error>(length - known.length).fill(together)]
  }
  if (together.length === length) return together
  const error = new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    `The store gave ${together.length} answers to ${length} items of a batch`,
  )
  return new Array<Answer<Result>>(length).fill(error)
}

function givenUp(): CronfenceError {
  return new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    'The scheduler stopped before the store answered; whether it did as asked is not known',
  )
}

function unanswered(ms: number): CronfenceError {
  return new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    `The store has not answered for ${Math.round(ms)} ms; whether it did as asked is not known`,
  )
}
