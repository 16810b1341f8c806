// Judges a run of the chaos test from two records made outside the engine: the audit, which is the
// store's own order of accepted writes, kept by a trigger, and the facts that the replicas logged.

import { type ChaosTask, TICK_MS } from './tasks.ts'

/** What a replica logged. For `store-error` the text is in `taskId`. */
export interface Fact {
  readonly pid: number
  readonly what:
    | 'started'
    | 'run'
    | 'ran'
    | 'commit'
    | 'commit-rejected'
    | 'commit-unknown'
    | 'lease-lost'
    | 'store-error'
  readonly taskId: string
  readonly slot: number | null
  readonly token: number
}

/** A row before or after an accepted write. */
export interface AuditedRow {
  readonly token: number
  readonly owner: string | null
  readonly leaseUntil: number | null
  readonly nextRunAt: number | null
  readonly updatedAt: number
}

/** One accepted write; the audit is in the order of the writes. */
export interface Write {
  readonly id: string
  readonly before: AuditedRow
  readonly after: AuditedRow
}

/** What was found, and how often what was to be provoked did happen. */
export interface Verdict {
  readonly violations: readonly string[]
  readonly counts: Readonly<Record<'claims' | 'takeOvers' | 'commits' | 'slots', number>>
}

interface Claim {
  readonly pid: number
  readonly slot: number
  readonly claimedAt: number
  readonly isTakeOver: boolean
}

/** Checks every promise that the chaos test is about. */
export function check(
  tasks: readonly ChaosTask[],
  writes: readonly Write[],
  facts: readonly Fact[],
): Verdict {
  const violations: string[] = []
  const counts = { claims: 0, takeOvers: 0, commits: 0, slots: 0 }
  const ran = new Set<string>()
  for (const { what, taskId, slot } of facts) if (what === 'ran') ran.add(`${taskId}@${slot}`)
  for (const task of tasks) {
    const history = new History(task, ran, counts)
    for (const write of writes) if (write.id === task.id) history.accept(write)
    for (const fact of facts) if (fact.taskId === task.id) history.hear(fact)
    violations.push(...history.violations)
  }
  return { violations, counts }
}

/** The life of one task, write by write. */
class History {
  readonly violations: string[] = []
  readonly #task: ChaosTask
  readonly #ran: ReadonlySet<string>
  readonly #counts: Record<keyof Verdict['counts'], number>
  readonly #claims = new Map<number, Claim>()
  readonly #committed = new Set<number>()
  #last: AuditedRow | undefined

  constructor(
    task: ChaosTask,
    ran: ReadonlySet<string>,
    counts: Record<keyof Verdict['counts'], number>,
  ) {
    this.#task = task
    this.#ran = ran
    this.#counts = counts
  }

  accept({ before, after }: Write): void {
    if (this.#last && JSON.stringify(this.#last) !== JSON.stringify(before)) {
      this.#violation('a write that the audit does not show')
    }
    this.#last = after
    if (after.token !== before.token) this.#claim(before, after)
    else if (after.leaseUntil === null) this.#commit(before, after)
    else this.#renew(before, after)
  }

  /** What a replica believes must agree with what the store accepted. */
  hear({ what, pid, token, slot }: Fact): void {
    if (!['run', 'ran', 'commit'].includes(what)) return
    const claim = this.#claims.get(token)
    if (claim?.pid !== pid) this.#violation(`${what} by ${pid} under token ${token} of another`)
    if (what === 'commit' && !this.#committed.has(token)) {
      this.#violation(`a commit under token ${token} that the store never took`)
    }
    if (claim && what === 'run' && slot !== null && slot < claim.slot) {
      this.#violation(`slot ${slot} ran under token ${token}, which claimed ${claim.slot}`)
    }
  }

  #claim(before: AuditedRow, after: AuditedRow): void {
    const now = after.updatedAt
    this.#counts.claims++
    if (after.token !== before.token + 1) {
      this.#violation(`token ${after.token} after ${before.token}`)
    }
    const isTakeOver = before.leaseUntil !== null
    if (before.leaseUntil !== null && before.leaseUntil > now) {
      this.#violation(`a claim at ${now} while a lease lived until ${before.leaseUntil}`)
    }
    if (isTakeOver) this.#counts.takeOvers++
    if (before.nextRunAt === null || before.nextRunAt > now) {
      this.#violation(`a claim at ${now} of slot ${before.nextRunAt}`)
    }
    if (after.nextRunAt !== before.nextRunAt) this.#violation('a claim that moved the slot')
    const pid = Number(after.owner?.split('/')[0])
    const slot = before.nextRunAt ?? now
    this.#claims.set(after.token, { pid, slot, claimedAt: now, isTakeOver })
  }

  #renew(before: AuditedRow, after: AuditedRow): void {
    if (before.leaseUntil === null) this.#violation(`a lease without a claim, ${after.leaseUntil}`)
    if (after.owner !== before.owner || after.nextRunAt !== before.nextRunAt) {
      this.#violation('a renewal that changed more than the deadline')
    }
  }

  #commit(before: AuditedRow, after: AuditedRow): void {
    this.#counts.commits++
    if (before.leaseUntil === null || this.#committed.has(after.token)) {
      this.#violation(`a commit under token ${after.token}, which held nothing`)
    }
    this.#committed.add(after.token)
    const claim = this.#claims.get(after.token)
    if (!claim) this.#violation(`a commit under token ${after.token}, which never claimed`)
    else this.#advance(claim, after.nextRunAt)
  }

  /** The cursor moves forward along the slots, and over none that the policy keeps. */
  #advance(claim: Claim, next: number | null): void {
    const { stepMs, kind, policy } = this.#task
    const { slot, claimedAt, isTakeOver } = claim
    if (kind === 'delay' && next !== null) this.#violation(`a delay that goes on at ${next}`)
    if (kind !== 'delay' && (next === null || next <= slot || (next - slot) % stepMs !== 0)) {
      this.#violation(`slot ${next} after slot ${slot}`)
      return
    }
    const end = next ?? slot + stepMs
    if (policy === 'skip') return
    const isMissed = !isTakeOver && claimedAt - slot > TICK_MS
    const kept = policy === 'run-once' ? slot + stepMs : end
    if (policy === 'run-once' && end !== kept && !isMissed) {
      this.#violation(`slots from ${kept} to ${end} were dropped, though ${slot} was on time`)
    }
    for (let due = slot; due < kept; due += stepMs) {
      this.#counts.slots++
      if (!this.#ran.has(`${this.#task.id}@${due}`)) this.#violation(`slot ${due} never ran`)
    }
  }

  #violation(text: string): void {
    this.violations.push(`${this.#task.id}: ${text}`)
  }
}
