// Checks that every claim is carried out as the policy says and committed as it went (I7, I9, D1),
// by the oracle in `definition.ts`.

import { type Decision, decision } from './definition.ts'
import type { Claim, Ledger, Run, Sent } from './ledger.ts'
import type { Operation } from './literal-store.ts'
import type { Scenario } from './scenario.ts'
import type { Tally } from './tally.ts'

const BACKOFF_MS = 12_000

/** From a claim to its end. */
export class ClaimChecker {
  readonly #ledger: Ledger
  readonly #tally: Tally
  readonly #scenario: Scenario
  readonly #decisions = new Map<Claim, Decision>()

  constructor(ledger: Ledger, tally: Tally, scenario: Scenario) {
    this.#ledger = ledger
    this.#tally = tally
    this.#scenario = scenario
  }

  /** A handler was called. */
  started(run: Run): void {
    const { claim, slot, definition, replica } = run
    const name = `${replica.name} runs ${claim.id}@${slot} under token ${claim.token}`
    if (claim.sent.replica !== replica) this.#ledger.violated('I3', `${name}, which is another's`)
    if (this.#isPlannedAnew(claim, slot)) {
      claim.runs.push(run)
      return
    }
    if (!isPlanOf(claim, definition)) this.#ledger.violated('I7', `${name}, of a foreign plan`)
    if (claim.runs.length === 0) this.#checkDoubt(claim, run.handed.missed, run)
    const { slots, isMissed } = this.#decisionOf(claim, run)
    const expected = slots[claim.runs.length]
    if (expected !== slot) {
      const shown = `${slots.length} slots from ${slots[0]}`
      this.#ledger.violated('I7', `${name}; the policy ${definition.missed} wants ${shown}`)
    }
    if (run.handed.missed !== isMissed) {
      this.#ledger.violated('I7', `${name}, missed: ${run.handed.missed}`)
    }
    if (run.handed.occurrenceKey !== `${claim.id}@${new Date(slot).toISOString()}`) {
      this.#ledger.violated('I7', `${name} with the key ${run.handed.occurrenceKey}`)
    }
    this.#tally.count(isMissed ? 'claim: missed' : 'claim: on time')
    if (claim.runs.length === 1) this.#tally.count('catch-up: several in one claim')
    this.#checkDuplicate(run, name)
    claim.runs.push(run)
  }

  /** A replica sends the end of a claim. */
  sentCommit({ replica, operation }: Sent<Operation & { do: 'complete' }>): void {
    const { id, token, patch } = operation
    const claim = this.#ledger.claim(id, token)
    const name = `${replica.name} commits ${id} with token ${token}`
    if (!claim || claim.sent.replica !== replica) {
      this.#ledger.violated('I3', `${name}, which it does not have`)
      return
    }
    if (claim.isRejected) this.#ledger.violated('I5', `${name} after the store refused it`)
    const { definition } = claim.sent
    const isForeign = !(definition && isPlan(definition, patch.plan))
    const keepsSlot = this.#ledger.hasBeenNext(id, patch.nextRunAt)
    // Back and forth between two plans, it is of the same one again.
    const hasNewPlan = claim.generation !== this.#ledger.generation(id)
    if (claim.runs.length === 0 && (isForeign || (hasNewPlan && keepsSlot))) {
      this.#tally.count('claim: of a foreign plan')
      if (!keepsSlot) this.#ledger.violated('I6', `${name}, a foreign plan`)
      return
    }
    if (this.#isPlannedAnew(claim, claim.runs[0]?.slot ?? claim.slot)) return
    if (claim.runs.length === 0) this.#checkDoubt(claim, true, undefined)
    const { slots, next, isMissed } = this.#decisionOf(claim, claim.runs[0])
    const done = claim.runs.filter(({ end }) => end === 'done')
    const last = done.at(-1)
    if (patch.lastRunAt !== last?.slot) {
      this.#ledger.violated('D1', `${name}, last run ${patch.lastRunAt}, not ${last?.slot}`)
    }
    const isWhole = done.length === slots.length
    if (!isWhole && done.length === 0) {
      this.#ledger.violated('D1', `${name} and has not run it`)
    }
    if (!isWhole) {
      this.#tally.count('catch-up: resumed after a stop')
      if (!mayEndEarly(claim)) this.#ledger.violated('I7', `${name} early, for no reason`)
    }
    const expected = isWhole ? next(last?.endedWall ?? claim.sent.wall) : slots[done.length]
    // Code of another task may keep the engine from noticing the end of a run at once.
    const isNoticedLate = isWhole && patch.nextRunAt === next(operation.now)
    // Over a store that knows no plans the engine looks at the row before, and keeps a newer slot.
    const seen = replica.lastRead(id)
    const isKept = seen && !isPlanOf(claim, seen) && seen.nextRunAt === patch.nextRunAt
    if (patch.nextRunAt !== expected && !isNoticedLate && !isKept) {
      this.#ledger.violated('I7', `${name}, next ${patch.nextRunAt} and not ${expected}`)
    }
    if (isMissed && definition?.missed === 'catch-up' && slots.length === definition.maxCatchUp) {
      this.#tally.count('catch-up: capped')
    }
    if (definition?.kind === 'delay' && slots.length === 0) {
      this.#tally.count('row: dropped delay')
    }
  }

  /** A row that is planned anew under a claim shows another slot to who finds the claim in it. */
  #isPlannedAnew(claim: Claim, slot: number): boolean {
    return slot !== claim.slot && claim.generation !== this.#ledger.generation(claim.id)
  }

  /**
   * Who finds a claim by reading cannot know that it was taken over when the slot is another one
   * than was last seen: missed then, which is the one case where the policy is applied too early.
   */
  #checkDoubt(claim: Claim, isMissed: boolean, run: Run | undefined): void {
    const { slot, takenOver, sent, isAdopted } = claim
    const definition = run?.definition ?? sent.definition!
    if (!isMissed || !takenOver || !isAdopted) return
    this.#tally.count('total: claims adopted in doubt')
    const claimedAt = sent.operation.now
    const { graceMs } = this.#scenario
    this.#decisions.set(claim, decision(definition, { slot, claimedAt, takenOver: false }, graceMs))
  }

  #decisionOf(claim: Claim, run: Run | undefined): Decision {
    let decided = this.#decisions.get(claim)
    if (!decided) {
      const { slot, takenOver, sent } = claim
      const claimedAt = sent.operation.now
      const definition = run?.definition ?? sent.definition!
      decided = decision(definition, { slot, claimedAt, takenOver }, this.#scenario.graceMs)
      this.#decisions.set(claim, decided)
    }
    return decided
  }

  #checkDuplicate(run: Run, name: string): void {
    const { claim, slot } = run
    const runs = this.#ledger.runsOf(claim.id, claim.generation, slot)
    for (const earlier of runs) {
      this.#tally.count('run: started twice')
      if (!hasCause(earlier, this.#scenario)) {
        this.#ledger.violated('I9', `${name} again, after ${earlier.replica.name}, for no reason`)
      }
    }
    runs.push(run)
  }
}

function isPlanOf({ before }: Claim, plan: { kind: string; spec: string }): boolean {
  return isPlan(before, plan)
}

function isPlan(
  { kind, spec }: { kind: string; spec: string },
  other: { kind: string; spec: string } | undefined,
): boolean {
  return other?.kind === kind && other.spec === spec
}

/** A claim may end before all its slots ran when something ended it. */
function mayEndEarly({ runs, isUncertain, sent: { replica }, id, sent }: Claim): boolean {
  const isAborted = runs.some(({ handed }) => handed.signal.aborted)
  const isEnded = replica.definitions.get(id) !== sent.definition
  return isAborted || isUncertain || replica.isStopping || isEnded
}

/** Why a slot that was started may start again. */
function hasCause({ claim, replica, end, handed }: Run, scenario: Scenario): boolean {
  if (end === 'aborted' || (handed.signal.aborted && replica.wasStopped)) return true
  if (scenario.isFaultFree) return false
  // A commit waits for the back-off of an earlier failure, up to ten ticks.
  const { process } = replica
  const isTroubled = process.isDead || process.troubledAt >= claim.sent.at - BACKOFF_MS
  return isTroubled || !scenario.areClocksTame || replica.wasStopped
}
