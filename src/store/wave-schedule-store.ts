// ScheduleStore over a server that answers for many ids in one statement. Here arguments are
// checked, batches cut and answers sorted; the statements are the engine's. A single call is a
// batch of one that rejects where a batch that changes rows passes over a bad one and reports it.

import { BatchError, CronfenceError } from '../errors.ts'
import { checkToken, idBytes } from './arguments.ts'
import type {
  ClaimResult,
  CompletePatch,
  Completion,
  NewSchedule,
  Renewal,
  ScheduleRecord,
  ScheduleStore,
} from './store.ts'
import {
  type ClaimRequest,
  checkClaim,
  checkCompletions,
  checkRegistrations,
  checkRenewals,
} from './transitions.ts'
import { inWaves } from './waves.ts'

/** What became of one item: the value, or what is wrong with its row. */
export type Answer<T> = T | CronfenceError

/**
 * The statements of an engine. All arguments are checked, no id comes twice, and each method
 * answers in the order of its items; it rejects when the statement failed.
 */
export interface ScheduleWaves {
  get(ids: readonly string[]): Promise<Answer<ScheduleRecord | null>[]>
  register(schedules: readonly NewSchedule[], now: number): Promise<Answer<ScheduleRecord>[]>
  claim(ids: readonly string[], claim: ClaimRequest): Promise<Answer<ClaimResult | null>[]>
  renew(renewals: readonly Renewal[]): Promise<Answer<boolean>[]>
  complete(completions: readonly Completion[], now: number): Promise<Answer<boolean>[]>
  /** `null`: whatever the token is. */
  delete(id: string, fencingToken: number | null): Promise<Answer<void>>
  /** All live rows, a page at a time. */
  pages(): AsyncIterable<readonly Answer<ScheduleRecord>[]>
}

/** What a {@link WaveScheduleStore} stands on. */
export interface WaveScheduleStoreOptions {
  readonly waves: ScheduleWaves
  /** Starts the store that this is a part of. */
  readonly start: () => Promise<void>
  /** Hears of rows that were passed over. */
  readonly onDamaged: (error: CronfenceError) => void
}

/** Durable tasks on a server. The store's class says what it promises and throws. */
export class WaveScheduleStore implements Required<ScheduleStore> {
  readonly #waves: ScheduleWaves
  readonly #start: () => Promise<void>
  readonly #onDamaged: (error: CronfenceError) => void

  constructor({ waves, start, onDamaged }: WaveScheduleStoreOptions) {
    this.#waves = waves
    this.#start = start
    this.#onDamaged = onDamaged
  }

  async start(): Promise<void> {
    await this.#start()
  }

  async get(id: string): Promise<ScheduleRecord | null> {
    idBytes(id)
    return only(await this.#waves.get([id]))
  }

  async register(schedule: NewSchedule, now: number): Promise<ScheduleRecord> {
    checkRegistrations([schedule], now)
    return only(await this.#waves.register([schedule], now))
  }

  async claimDue(
    id: string,
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<ClaimResult | null> {
    const claim = { owner, now, leaseMs }
    idBytes(id)
    checkClaim(claim)
    return only(await this.#waves.claim([id], claim))
  }

  async renew(id: string, fencingToken: number, leaseUntil: number): Promise<boolean> {
    const renewal = { id, fencingToken, leaseUntil }
    checkRenewals([renewal])
    return only(await this.#waves.renew([renewal]))
  }

  async complete(
    id: string,
    fencingToken: number,
    patch: CompletePatch,
    now: number,
  ): Promise<boolean> {
    const completions = [{ id, fencingToken, patch }]
    checkCompletions(completions, now)
    return only(await this.#waves.complete(completions, now))
  }

  async delete(id: string, fencingToken?: number): Promise<void> {
    idBytes(id)
    if (fencingToken !== undefined) checkToken(fencingToken)
    only([await this.#waves.delete(id, fencingToken ?? null)])
  }

  async list(): Promise<ScheduleRecord[]> {
    const records: ScheduleRecord[] = []
    for await (const page of this.#waves.pages()) {
      for (const answer of page) {
        if (answer instanceof CronfenceError) this.#onDamaged(answer)
        else records.push(answer)
      }
    }
    return records
  }

  /** A bad row is not an absent one: it rejects the call, with the answers of all. */
  async getMany(ids: readonly string[]): Promise<(ScheduleRecord | null)[]> {
    ids.forEach(idBytes)
    return all(await inWaves(ids, itself, (wave) => this.#waves.get(wave)))
  }

  /** Registers all it can; a bad row among them then rejects the call, with the answers of all. */
  async registerMany(schedules: readonly NewSchedule[], now: number): Promise<ScheduleRecord[]> {
    checkRegistrations(schedules, now)
    return all(await inWaves(schedules, idOf, (wave) => this.#waves.register(wave, now)))
  }

  async claimDueMany(
    ids: readonly string[],
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<(ClaimResult | null)[]> {
    const claim = { owner, now, leaseMs }
    ids.forEach(idBytes)
    checkClaim(claim)
    return inWaves(ids, itself, async (wave) =>
      this.#sound(await this.#waves.claim(wave, claim), null),
    )
  }

  async renewMany(renewals: readonly Renewal[]): Promise<boolean[]> {
    checkRenewals(renewals)
    return inWaves(renewals, idOf, async (wave) =>
      this.#sound(await this.#waves.renew(wave), false),
    )
  }

  async completeMany(completions: readonly Completion[], now: number): Promise<boolean[]> {
    checkCompletions(completions, now)
    return inWaves(completions, idOf, async (wave) =>
      this.#sound(await this.#waves.complete(wave, now), false),
    )
  }

  /** In a batch one bad row must not stop the others: it is reported, and answered by `instead`. */
  #sound<T>(answers: readonly Answer<T>[], instead: T): T[] {
    return answers.map((answer) => {
      if (!(answer instanceof CronfenceError)) return answer
      this.#onDamaged(answer)
      return instead
    })
  }
}

/** Runs `step`; an error about the one row it works on is the answer, any other is thrown. */
export function answerOf<T>(step: () => T): Answer<T> {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof CronfenceError)) throw error
    return error
  }
}

function only<T>(answers: readonly Answer<T>[]): T {
  const [answer] = answers
  if (answer instanceof CronfenceError) throw answer
  return answer as T
}

function all<T>(answers: readonly Answer<T>[]): T[] {
  const bad = answers.find((answer) => answer instanceof CronfenceError)
  if (bad) throw new BatchError(bad, answers)
  return answers as T[]
}

const itself = (id: string): string => id
const idOf = ({ id }: { readonly id: string }): string => id
