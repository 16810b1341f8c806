// What the log says about one task, put together: its claims with what became of each. Nothing is
// judged here, except what fits together with nothing.

import type { ClaimFact, CommitFact, Fact, FoundFact, RenewFact, RunFact, Step } from './facts.ts'
import type { ChaosTask } from './tasks.ts'

/** A request, by the lines of the log; without an answer `answeredLine` is `Infinity`. */
export interface Call {
  readonly sentLine: number
  answeredLine: number
  step: Step
}

/** A run of a handler. */
export interface Run {
  readonly by: string
  readonly slot: number
  readonly missed: boolean
  readonly startLine: number
  readonly startAt: number
  /** Of its end or, where its process went before, of that; `Infinity` where there is neither. */
  endLine: number
  endAt: number
  isDone: boolean
  abortLine: number
  abortAt: number
}

/** A claim that its replica knew it had. */
export interface Claim {
  readonly by: string
  /** Fresh for every attempt. */
  readonly owner: string
  readonly token: number
  readonly slot: number
  /** The instant that it was decided by. */
  readonly now: number
  readonly sentLine: number
  readonly grantedLine: number
  readonly leaseUntil: number
  /** As the store said; of a claim that was found in the row nobody said it. */
  readonly takenOver: boolean | undefined
  readonly renewals: (Call & { readonly leaseUntil: number })[]
  readonly commits: (Call & { readonly nextRunAt: number | null })[]
  readonly runs: Run[]
}

/** Something that must not be, and the line of the log where it shows. */
export interface Violation {
  readonly line: number
  readonly text: string
}

/** Until when the claim may be relied on, by what its replica heard before the line. */
export function trustedUntil({ leaseUntil, renewals }: Claim, line: number): number {
  const heard = renewals.filter((call) => call.step === 'granted' && call.answeredLine < line)
  return Math.max(leaseUntil, ...heard.map((call) => call.leaseUntil))
}

/** Whether its replica may have handed it back before the line. */
export function mayBeHandedBack({ renewals, slot }: Claim, line: number): boolean {
  return renewals.some(({ leaseUntil, sentLine }) => leaseUntil <= slot && sentLine < line)
}

/** The life of one task. */
export class History {
  readonly task: ChaosTask
  /** In the order of their tokens. */
  readonly claims: readonly Claim[]
  /** How many claims may have been granted without anybody hearing of it. */
  readonly openAttempts: number
  readonly violations: Violation[] = []
  /** The first slot that a replica was told. */
  firstSlot: number | null | undefined
  /** The row when all had ended. */
  row: { slot: number | null; token: number; leaseUntil: number | undefined } | undefined
  readonly #claims = new Map<number, Claim>()
  /** By owner, which is different for each attempt. */
  readonly #attempts = new Map<string, Call & { readonly now: number }>()
  readonly #calls = new Map<string, Call>()
  /** Runs that have not ended. */
  readonly #open = new Set<Run>()

  constructor(task: ChaosTask, facts: readonly Fact[]) {
    this.task = task
    for (const [line, fact] of facts.entries()) {
      if (fact.what === 'gone') this.#gone(fact, line)
      else if ('id' in fact && fact.id === task.id) this.#hear(fact, line)
    }
    this.claims = [...this.#claims.values()].sort((a, b) => a.token - b.token)
    const open = ({ step }: Call) => step === 'sent' || step === 'failed'
    this.openAttempts = [...this.#attempts.values()].filter(open).length
  }

  #hear(fact: Fact & { id: string }, line: number): void {
    const { what } = fact
    if (what === 'claim') this.#claim(fact, line)
    else if (what === 'found') this.#won({ ...fact, takenOver: undefined }, line)
    else if (what === 'renew' || what === 'commit') this.#write(fact, line)
    else if (what === 'run') this.#begin(fact, line)
    else if (what === 'ran' || what === 'gave up' || what === 'aborted') this.#goOn(fact, line)
    else if (what === 'row at the end') {
      this.row = { slot: fact.slot, token: fact.token ?? 0, leaseUntil: fact.leaseUntil }
    } else if (what === 'registered' && this.firstSlot === undefined) this.firstSlot = fact.slot
  }

  #claim({ step, by, now, owner, grant }: ClaimFact & Fact, line: number): void {
    if (step === 'sent') {
      this.#attempts.set(owner, { sentLine: line, answeredLine: Infinity, step, now })
    } else if (grant) this.#won({ ...grant, by, owner }, line)
    else Object.assign(this.#attempts.get(owner) ?? {}, { answeredLine: line, step })
  }

  #won(
    grant: Pick<FoundFact & Fact, 'by' | 'owner' | 'token' | 'slot' | 'leaseUntil'> &
      Pick<Claim, 'takenOver'>,
    grantedLine: number,
  ): void {
    const { by, owner, token, slot, leaseUntil, takenOver } = grant
    const attempt = this.#attempts.get(owner)
    if (!attempt) {
      this.#violation(grantedLine, `token ${token} for a claim that nobody sent`)
      return
    }
    Object.assign(attempt, { answeredLine: grantedLine, step: 'granted' })
    const other = this.#claims.get(token)
    // It was found in the row, and the answer that nobody waited for any more came after all.
    if (other?.owner === owner) return
    if (other) this.#violation(grantedLine, `token ${token} repeats: ${other.by} has had it`)
    const { now, sentLine } = attempt
    const calls = { renewals: [], commits: [], runs: [] }
    const lines = { sentLine, grantedLine }
    this.#claims.set(token, {
      by,
      owner,
      token,
      slot,
      now,
      ...lines,
      leaseUntil,
      takenOver,
      ...calls,
    })
  }

  #write(fact: (RenewFact | CommitFact) & Fact, line: number): void {
    const { what, step, by } = fact
    const key = `${by} ${fact.call}`
    if (step !== 'sent') {
      Object.assign(this.#calls.get(key) ?? {}, { answeredLine: line, step })
      return
    }
    const claim = this.#claimOf(fact, line)
    if (!claim) return
    const call: Call = { sentLine: line, answeredLine: Infinity, step }
    this.#calls.set(key, call)
    // The same object is in the claim, so that the answer reaches it there.
    if (what === 'renew') claim.renewals.push(Object.assign(call, { leaseUntil: fact.leaseUntil }))
    else claim.commits.push(Object.assign(call, { nextRunAt: fact.nextRunAt }))
  }

  #begin(fact: RunFact & Fact, startLine: number): void {
    const { by, slot, missed, at: startAt } = fact
    const claim = this.#claimOf(fact, startLine)
    if (!claim) return
    const never = { endLine: Infinity, endAt: Infinity, abortLine: Infinity, abortAt: Infinity }
    const run: Run = { by, slot, missed, startLine, startAt, ...never, isDone: false }
    this.#open.add(run)
    claim.runs.push(run)
  }

  #goOn(fact: RunFact & Fact, line: number): void {
    const { what, slot, at } = fact
    const run = this.#claimOf(fact, line)?.runs.findLast((begun) => begun.slot === slot)
    if (!run) this.#violation(line, `${what}: slot ${slot}, which did not begin`)
    else if (what === 'aborted') Object.assign(run, { abortLine: line, abortAt: at })
    else {
      Object.assign(run, { endLine: line, endAt: at, isDone: what === 'ran' })
      this.#open.delete(run)
    }
  }

  #gone({ by, at: endAt }: Fact, endLine: number): void {
    for (const run of this.#open) {
      if (run.by !== by) continue
      Object.assign(run, { endAt, endLine })
      this.#open.delete(run)
    }
  }

  #claimOf(fact: { what: string; by: string; token: number }, line: number): Claim | undefined {
    const { what, by, token } = fact
    const claim = this.#claims.get(token)
    if (claim?.by === by) return claim
    this.#violation(line, `${what} by ${by} under token ${token}, which it was not granted`)
    return undefined
  }

  #violation(line: number, text: string): void {
    this.violations.push({ line, text })
  }
}
