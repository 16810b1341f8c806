// A store whose requests about claims go to the log, before they are sent and when they were
// answered. It changes none of them.

import {
  BatchError,
  type ClaimResult,
  type CompletePatch,
  type Completion,
  type NewSchedule,
  type Renewal,
  type ScheduleRecord,
  type ScheduleStore,
} from '../../src/index.ts'
import type { ClaimFact, CommitFact, RenewFact, Telling } from './facts.ts'

type Asked = ClaimFact | RenewFact | CommitFact
type Unnumbered<T> = T extends Asked ? Omit<T, 'step' | 'call'> : never

/** A store that tells what it is asked and what it answers. */
export class RecordedStore implements Required<ScheduleStore> {
  readonly #store: Required<ScheduleStore>
  readonly #tell: (telling: Telling) => void
  /** Claims, by owner and id, that no answer granted. */
  readonly #open = new Set<string>()
  #calls = 0

  constructor(store: Required<ScheduleStore>, tell: (telling: Telling) => void) {
    this.#store = store
    this.#tell = tell
  }

  start(): Promise<void> {
    return this.#store.start()
  }

  async get(id: string): Promise<ScheduleRecord | null> {
    return this.#look(await this.#store.get(id))
  }

  async getMany(ids: readonly string[]): Promise<(ScheduleRecord | null)[]> {
    return (await this.#store.getMany(ids)).map((row) => this.#look(row))
  }

  register(schedule: NewSchedule, now: number): Promise<ScheduleRecord> {
    return this.#store.register(schedule, now)
  }

  registerMany(schedules: readonly NewSchedule[], now: number): Promise<ScheduleRecord[]> {
    return this.#store.registerMany(schedules, now)
  }

  delete(id: string, fencingToken?: number): Promise<void> {
    return this.#store.delete(id, fencingToken)
  }

  list(): Promise<ScheduleRecord[]> {
    return this.#store.list()
  }

  async claimDue(id: string, owner: string, now: number, leaseMs: number) {
    const send = async () => [await this.#store.claimDue(id, owner, now, leaseMs)]
    const [answer = null] = await this.#claim([id], { owner, now }, send)
    return answer
  }

  claimDueMany(ids: readonly string[], owner: string, now: number, leaseMs: number) {
    const send = () => this.#store.claimDueMany(ids, owner, now, leaseMs)
    return this.#claim(ids, { owner, now }, send)
  }

  async renew(id: string, fencingToken: number, leaseUntil: number): Promise<boolean> {
    const send = async () => [await this.#store.renew(id, fencingToken, leaseUntil)]
    const question = renewal({ id, fencingToken, leaseUntil })
    const [answer = false] = await this.#ask([question], send, yes)
    return answer
  }

  renewMany(renewals: readonly Renewal[]): Promise<boolean[]> {
    return this.#ask(renewals.map(renewal), () => this.#store.renewMany(renewals), yes)
  }

  async complete(id: string, fencingToken: number, patch: CompletePatch, now: number) {
    const send = async () => [await this.#store.complete(id, fencingToken, patch, now)]
    const [answer = false] = await this.#ask([completion({ id, fencingToken, patch })], send, yes)
    return answer
  }

  completeMany(commits: readonly Completion[], now: number): Promise<boolean[]> {
    return this.#ask(commits.map(completion), () => this.#store.completeMany(commits, now), yes)
  }

  #claim(
    ids: readonly string[],
    { owner, now }: { owner: string; now: number },
    send: () => Promise<(ClaimResult | null)[]>,
  ): Promise<(ClaimResult | null)[]> {
    for (const id of ids) this.#open.add(`${owner} ${id}`)
    const questions = ids.map((id) => ({ what: 'claim', id, owner, now }) as const)
    return this.#ask(questions, send, (answer) => {
      if (!answer) return undefined
      const { record, fencingToken: token, takenOver } = answer
      this.#open.delete(`${owner} ${record.id}`)
      return { grant: { ...grantOf(record), token, takenOver } }
    })
  }

  /** `granted` answers what there is to tell of a request that was granted, else nothing. */
  async #ask<Answer>(
    questions: readonly Unnumbered<Asked>[],
    send: () => Promise<Answer[]>,
    granted: (answer: Answer) => object | undefined,
  ): Promise<Answer[]> {
    const call = ++this.#calls
    for (const question of questions) this.#tell({ ...question, step: 'sent', call } as Asked)
    const hear = (answers: readonly unknown[]) => {
      for (const [index, question] of questions.entries()) {
        const answer = answers[index]
        const isAnswer = index < answers.length && !(answer instanceof Error)
        const grant = isAnswer ? granted(answer as Answer) : undefined
        const step = grant ? 'granted' : isAnswer ? 'refused' : 'failed'
        this.#tell({ ...question, ...grant, step, call } as Asked)
      }
    }
    try {
      const answers = await send()
      hear(answers)
      return answers
    } catch (error) {
      // What a batch that failed halfway did for its first items is known.
      hear(error instanceof BatchError ? error.answers : [])
      throw error
    }
  }

  #look(row: ScheduleRecord | null): ScheduleRecord | null {
    const owner = row?.leaseOwner
    if (row && owner && this.#open.delete(`${owner} ${row.id}`)) {
      this.#tell({ what: 'found', id: row.id, owner, ...grantOf(row) })
    }
    return row
  }
}

function renewal({ id, fencingToken: token, leaseUntil }: Renewal) {
  return { what: 'renew', id, token, leaseUntil } as const
}

function completion({ id, fencingToken: token, patch: { nextRunAt } }: Completion) {
  return { what: 'commit', id, token, nextRunAt } as const
}

function grantOf({ fencingToken: token, nextRunAt, leaseUntil }: ScheduleRecord) {
  return { token, slot: nextRunAt ?? Number.NaN, leaseUntil: leaseUntil ?? Number.NaN }
}

const yes = (answer: boolean) => (answer ? {} : undefined)
