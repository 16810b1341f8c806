// Judges a chaos run on SQLite by more than its log: by the audit, which is the store's own order
// of accepted writes, kept by a trigger. So it need not infer what the store did.

import type { EventFact, Fact, RunFact } from './facts.ts'
import type { ChaosTask, Plan } from './tasks.ts'

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
export interface AuditVerdict {
  readonly violations: readonly string[]
  readonly counts: Readonly<Record<'claims' | 'takeOvers' | 'commits' | 'slots', number>>
}

interface Claim {
  readonly by: string
  readonly slot: number
  readonly claimedAt: number
  readonly isTakeOver: boolean
}

/** What a replica told of a claim of its own. */
type Told = (RunFact | EventFact) & Fact

/** Checks the audit, and that what the replicas told agrees with it. */
export function checkAudit(
  { tasks, tickMs }: Plan,
  writes: readonly Write[],
  facts: readonly Fact[],
): AuditVerdict {
  const violations: string[] = []
  const counts = { claims: 0, takeOvers: 0, commits: 0, slots: 0 }
  const ran = new Set<string>()
  for (const fact of facts) if (fact.what === 'ran') ran.add(`${fact.id}@${fact.slot}`)
  const told = facts.filter(isTold)
  for (const task of tasks) {
    const history = new AuditHistory(task, { ran, counts, graceMs: tickMs })
    for (const write of writes) if (write.id === task.id) history.accept(write)
    for (const fact of told) if (fact.id === task.id) history.hear(fact)
    violations.push(...history.violations)
  }
  return { violations, counts }
}

function isTold(fact: Fact): fact is Told {
  return fact.what === 'run' || fact.what === 'ran' || fact.what === 'event'
}

interface HistoryOptions {
  readonly ran: ReadonlySet<string>
  readonly counts: Record<keyof AuditVerdict['counts'], number>
  readonly graceMs: number
}

/** The life of one task, write by write. */
class AuditHistory {
  readonly violations: string[] = []
  readonly #task: ChaosTask
  readonly #options: HistoryOptions
  readonly #claims = new Map<number, Claim>()
  readonly #committed = new Set<number>()
  #last: AuditedRow | undefined

  constructor(task: ChaosTask, options: HistoryOptions) {
    this.#task = task
    this.#options = options
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
  hear(fact: Told): void {
    const { by, token, slot } = fact
    const what = fact.what === 'event' ? fact.event : fact.what
    if (!['run', 'ran', 'commit'].includes(what)) return
    const claim = this.#claims.get(token)
    if (claim?.by !== by) this.#violation(`${what} by ${by} under token ${token} of another`)
    if (what === 'commit' && !this.#committed.has(token)) {
      this.#violation(`a commit under token ${token} that the store never took`)
    }
    if (claim && what === 'run' && slot < claim.slot) {
      this.#violation(`slot ${slot} ran under token ${token}, which claimed ${claim.slot}`)
    }
  }

  #claim(before: AuditedRow, after: AuditedRow): void {
    const now = after.updatedAt
    this.#options.counts.claims++
    if (after.token !== before.token + 1) {
      this.#violation(`token ${after.token} after ${before.token}`)
    }
    const isTakeOver = before.leaseUntil !== null
    if (before.leaseUntil !== null && before.leaseUntil > now) {
      this.#violation(`a claim at ${now} while a lease lived until ${before.leaseUntil}`)
    }
    if (isTakeOver) this.#options.counts.takeOvers++
    if (before.nextRunAt === null || before.nextRunAt > now) {
      this.#violation(`a claim at ${now} of slot ${before.nextRunAt}`)
    }
    if (after.nextRunAt !== before.nextRunAt) this.#violation('a claim that moved the slot')
    const by = after.owner?.split('/')[0] ?? ''
    const slot = before.nextRunAt ?? now
    this.#claims.set(after.token, { by, slot, claimedAt: now, isTakeOver })
  }

  #renew(before: AuditedRow, after: AuditedRow): void {
    if (before.leaseUntil === null) this.#violation(`a lease without a claim, ${after.leaseUntil}`)
    if (after.owner !== before.owner || after.nextRunAt !== before.nextRunAt) {
      this.#violation('a renewal that changed more than the deadline')
    }
  }

  #commit(before: AuditedRow, after: AuditedRow): void {
    this.#options.counts.commits++
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
    const isMissed = !isTakeOver && claimedAt - slot > this.#options.graceMs
    const kept = policy === 'run-once' ? slot + stepMs : end
    if (policy === 'run-once' && end !== kept && !isMissed) {
      this.#violation(`slots from ${kept} to ${end} were dropped, though ${slot} was on time`)
    }
    for (let due = slot; due < kept; due += stepMs) {
      this.#options.counts.slots++
      if (!this.#options.ran.has(`${this.#task.id}@${due}`))
        this.#violation(`slot ${due} never ran`)
    }
  }

  #violation(text: string): void {
    this.violations.push(`${this.#task.id}: ${text}`)
  }
}
