// The cursor of one task, from claim to claim: which of its commits the store took, whether each
// claim found the slot that follows from them, and whether every slot that the policy keeps ran.

import type { Counts } from './checker.ts'
import type { Claim, History, Violation } from './history.ts'

/** What a row shows: at a claim, or at the end as if one came next. */
interface Sighting {
  readonly line: number
  readonly slot: number | null
  readonly token: number
  readonly takenOver: boolean | undefined
}

/** A claim, and whether it took its slot over from a lease that had lapsed. */
interface Standing {
  readonly claim: Claim
  readonly isTakeOver: boolean
}

/** Follows the cursor; what is found is in `violations`. */
export class Advance {
  readonly violations: Violation[] = []
  readonly #history: History
  readonly #graceMs: number
  readonly #counts: Counts

  constructor(history: History, graceMs: number, counts: Counts) {
    this.#history = history
    this.#graceMs = graceMs
    this.#counts = counts
    let last: Standing | undefined
    for (const claim of history.claims) {
      const isTakeOver = this.#follow(last, { ...claim, line: claim.grantedLine })
      last = { claim, isTakeOver }
      counts.claims++
      if (isTakeOver) counts.takeOvers++
      this.#judgeRuns(last)
    }
    const { row } = history
    if (!row) return
    const line = last?.claim.grantedLine ?? 0
    this.#follow(last, { line, slot: row.slot, token: row.token + 1, takenOver: undefined })
  }

  /** From one claim to what the row shows next: whether a claim of that is a take-over. */
  #follow(last: Standing | undefined, { line, slot, token, takenOver }: Sighting): boolean {
    const commits = last?.claim.commits ?? []
    const commit =
      commits.find(({ step }) => step === 'granted') ??
      commits.find(({ step, nextRunAt }) => step !== 'refused' && nextRunAt === slot)
    const before = last ? last.claim.slot : this.#history.firstSlot
    const expected = commit ? commit.nextRunAt : before
    if (slot !== expected) {
      this.#violation(line, `token ${token} found slot ${slot} where ${expected} was due`)
    }
    if (last && commit) this.#advance(last, commit)
    // A token in between belongs to a claim that lapsed before anybody heard of it.
    const isNext = token === (last?.claim.token ?? 0) + 1
    const isTakeOver = !isNext || (last !== undefined && !commit)
    if (takenOver !== undefined && takenOver !== isTakeOver) {
      this.#violation(line, `token ${token} was told ${takenOver ? '' : 'no '}take-over`)
    }
    return isTakeOver
  }

  /** The cursor moves forward along the slots, and over none that the policy keeps. */
  #advance({ claim, isTakeOver }: Standing, commit: Claim['commits'][number]): void {
    const { stepMs, kind, policy } = this.#history.task
    const { slot } = claim
    const { nextRunAt: next, sentLine: line } = commit
    this.#counts.commits++
    if (kind === 'delay' && next !== null) this.#violation(line, `a delay that goes on at ${next}`)
    if (kind !== 'delay' && (next === null || next <= slot || (next - slot) % stepMs !== 0)) {
      this.#violation(line, `slot ${next} after slot ${slot}`)
      return
    }
    const isMissed = this.#isMissed(claim, isTakeOver)
    const end = next ?? slot + stepMs
    if (policy !== 'skip' && !isMissed && end !== slot + stepMs) {
      this.#violation(line, `slots before ${end} were dropped, though ${slot} was on time`)
    }
    if (policy === 'skip' && isMissed) return
    const kept = policy === 'catch-up' ? end : slot + stepMs
    for (let due = slot; due < kept; due += stepMs) {
      const isDone = claim.runs.some((run) => run.slot === due && run.isDone && run.endLine < line)
      if (isDone) this.#counts.slots++
      else this.#violation(line, `slot ${due} was committed and never ran`)
    }
  }

  /** Runs are of the claimed slot or, where it was missed, of those after it. */
  #judgeRuns({ claim, isTakeOver }: Standing): void {
    const isMissed = this.#isMissed(claim, isTakeOver)
    for (const { slot, missed, startLine } of claim.runs) {
      if (slot !== claim.slot && (!isMissed || slot < claim.slot)) {
        this.#violation(startLine, `slot ${slot} ran under a claim of ${claim.slot}`)
      }
      if (missed !== isMissed) {
        this.#violation(startLine, `slot ${slot} was told ${missed ? '' : 'not '}missed`)
      }
    }
  }

  #isMissed({ now, slot }: Claim, isTakeOver: boolean): boolean {
    return !isTakeOver && now - slot > this.#graceMs
  }

  #violation(line: number, text: string): void {
    this.violations.push({ line, text })
  }
}
