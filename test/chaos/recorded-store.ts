// A store whose requests about claims go to the log, before they are sent and when they were
// answered. It changes none of them.

import {
  BatchError,
  type ClaimResult,
  type ScheduleRecord,
  type ScheduleStore,
} from '../../src/index.ts'
import type { ClaimFact, CommitFact, RenewFact, Telling } from './facts.ts'

type Asked = ClaimFact | RenewFact | CommitFact
type Unnumbered<T> = T extends Asked ? Omit<T, 'step' | 'call'> : never
type Question = Unnumbered<Asked>

/** The store, telling what it is asked and what it answers. */
export function recordedStore(
  store: Required<ScheduleStore>,
  tell: (telling: Telling) => void,
): Required<ScheduleStore> {
  /** Claims that no answer granted, by owner and id. */
  const open = new Map<string, string>()
  let calls = 0

  async function ask<Answer>(
    questions: readonly Question[],
    send: () => Promise<Answer[]>,
    granted: (answer: Answer) => object | undefined,
  ): Promise<Answer[]> {
    const call = ++calls
    for (const question of questions) tell({ ...question, step: 'sent', call } as Asked)
    const hear = (answers: readonly unknown[]) => {
      for (const [index, question] of questions.entries()) {
        const answer = answers[index]
        const isAnswer = index < answers.length && !(answer instanceof Error)
        const grant = isAnswer ? granted(answer as Answer) : undefined
        const step = grant ? 'granted' : isAnswer ? 'refused' : 'failed'
        tell({ ...question, ...grant, step, call } as Asked)
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

  function claim(
    ids: readonly string[],
    { owner, now }: { owner: string; now: number },
    send: () => Promise<(ClaimResult | null)[]>,
  ) {
    for (const id of ids) open.set(`${owner} ${id}`, owner)
    const questions = ids.map((id) => ({ what: 'claim', id, owner, now }) as const)
    return ask(questions, send, (answer) => {
      if (!answer) return undefined
      const { record, fencingToken: token, takenOver } = answer
      open.delete(`${owner} ${record.id}`)
      return { grant: { ...grantOf(record), token, takenOver } }
    })
  }

  const renew = (renewals: readonly Parameters<typeof renewal>[0][], send: SendYesNo) =>
    ask(renewals.map(renewal), send, yes)
  const commit = (commits: readonly Parameters<typeof completion>[0][], send: SendYesNo) =>
    ask(commits.map(completion), send, yes)

  function look<Row extends ScheduleRecord | null>(row: Row): Row {
    const owner = row?.leaseOwner
    if (row && owner && open.delete(`${owner} ${row.id}`)) {
      tell({ what: 'found', id: row.id, owner, ...grantOf(row) })
    }
    return row
  }

  return {
    start: () => store.start(),
    get: async (id) => look(await store.get(id)),
    getMany: async (ids) => (await store.getMany(ids)).map(look),
    register: (schedule, now) => store.register(schedule, now),
    registerMany: async (rows, now) => store.registerMany(rows, now),
    delete: (id, token) => store.delete(id, token),
    list: () => store.list(),
    claimDueMany: (ids, owner, now, leaseMs) =>
      claim(ids, { owner, now }, () => store.claimDueMany(ids, owner, now, leaseMs)),
    renewMany: (renewals) => renew(renewals, () => store.renewMany(renewals)),
    completeMany: (commits, now) => commit(commits, () => store.completeMany(commits, now)),
    async claimDue(id, owner, now, leaseMs) {
      const send = () => store.claimDue(id, owner, now, leaseMs)
      const [answer = null] = await claim([id], { owner, now }, only(send))
      return answer
    },
    async renew(id, fencingToken, leaseUntil) {
      const send = only(() => store.renew(id, fencingToken, leaseUntil))
      const [answer = false] = await renew([{ id, fencingToken, leaseUntil }], send)
      return answer
    },
    async complete(id, fencingToken, patch, now) {
      const send = only(() => store.complete(id, fencingToken, patch, now))
      const [answer = false] = await commit([{ id, fencingToken, patch }], send)
      return answer
    },
  }
}

type SendYesNo = () => Promise<boolean[]>

function renewal(asked: { id: string; fencingToken: number; leaseUntil: number }) {
  const { id, fencingToken: token, leaseUntil } = asked
  return { what: 'renew', id, token, leaseUntil } as const
}

function completion(asked: {
  id: string
  fencingToken: number
  patch: { nextRunAt: number | null }
}) {
  const { id, fencingToken: token, patch } = asked
  return { what: 'commit', id, token, nextRunAt: patch.nextRunAt } as const
}

function grantOf({ fencingToken: token, nextRunAt, leaseUntil }: ScheduleRecord) {
  return { token, slot: nextRunAt ?? Number.NaN, leaseUntil: leaseUntil ?? Number.NaN }
}

const only =
  <T>(send: () => Promise<T>) =>
  async () => [await send()]

const yes = (answer: boolean) => (answer ? {} : undefined)
