// Checks what runs do while they run: I4, I5, I11, I14 (timers), and that two runs of a task are
// never under way at once while leases hold. It is asked after every step.

import type { Claim, Ledger, Run, Sent } from './ledger.ts'
import type { Operation } from './literal-store.ts'
import type { Scenario } from './scenario.ts'

/** How late an engine may be by its host's fault. */
const SLACK_MS = 3

/** A lease is relied on until a tenth before its end, or so long before. */
const MARGIN_MS_MAX = 1000

/** Clocks that are as good as right may differ by that. */
const APART_MS = 50

/** Deadlines, signals and overlaps. */
export class RunChecker {
  readonly #ledger: Ledger
  readonly #scenario: Scenario

  constructor(ledger: Ledger, scenario: Scenario) {
    this.#ledger = ledger
    this.#scenario = scenario
  }

  started(run: Run): void {
    const { claim, replica, handed, slot } = run
    const name = `${replica.name} starts ${claim.id}@${slot} under token ${claim.token}`
    const { wall, monotonic } = replica.process
    const { leaseMs } = claim.sent.operation
    const { trusted } = claim
    if (wall >= trusted.wall + leaseMs || monotonic >= trusted.monotonic + leaseMs) {
      this.#ledger.violated('I4', `${name} when its lease is over by its own clock`)
    }
    if (claim.isRejected || claim.isUncertain) this.#ledger.violated('I4', `${name}, a lost lease`)
    if (handed.signal.aborted) this.#ledger.violated('I4', `${name} with an aborted signal`)
    if (replica.definitions.get(claim.id) !== run.definition) {
      this.#ledger.violated('I4', `${name} after the task was cancelled`)
    }
    if (replica.isStopping) this.#ledger.violated('I4', `${name} after it was told to stop`)
    for (const other of this.#ledger.live) {
      if (other.claim.id !== claim.id || other === run || other.claim === claim) continue
      if (other.replica === replica && !other.replica.process.isDead) {
        this.#ledger.violated('I4', `${name} beside another run of it`)
      }
      const isSamePlan = other.claim.generation === claim.generation
      if (isSamePlan && this.#scenario.areClocksTame && this.#isEntitled(other)) {
        this.#ledger.violated('D2', `${name} while ${other.replica.name} runs it and may`)
      }
    }
  }

  /** The refusal of a renewal has reached a replica. */
  rejected({ replica, operation }: Sent<Operation & { do: 'renew' }>): void {
    const claim = this.#ledger.claim(operation.id, operation.token)
    const isLive = claim?.runs.at(-1)?.end === 'live' && !replica.isStopping
    if (!claim || claim.isUncertain || !isLive || !this.#isKept(claim)) return
    claim.isRejected = true
    claim.rejectedAt = replica.process.monotonic
  }

  /** A replica sends a renewal. */
  sentRenewal({ replica, operation, wall }: Sent<Operation & { do: 'renew' }>): void {
    const { id, token, leaseUntil } = operation
    const claim = this.#ledger.claim(id, token)
    const name = `${replica.name} renews ${id} with token ${token}`
    if (!claim || claim.sent.replica !== replica) {
      this.#ledger.violated('I3', `${name}, which it does not have`)
      return
    }
    if (claim.isRejected) this.#ledger.violated('I5', `${name} after the store refused it`)
    if (leaseUntil <= wall) {
      // What ends after the wait for it is over is given back as it was.
      const { drainUntil } = replica
      const isDone = claim.runs.some(({ end, endedAt }) => end === 'done' && endedAt < drainUntil)
      if (isDone) this.#ledger.violated('D1', `${name} to hand back what has run`)
    } else if (leaseUntil > wall + claim.sent.operation.leaseMs) {
      this.#ledger.violated('D3', `${name} for longer than a lease`)
    }
  }

  /** After every step. Renewals go in batches, which are answered in a sixth of a lease. */
  step(): void {
    for (const run of this.#ledger.live) {
      const { claim, replica } = run
      const { process } = replica
      if (process.timers > 2) this.#ledger.violated('I14', `${replica.name} has set many timers`)
      if (run.handed.signal.aborted || !process.isAwake || !this.#isKept(claim)) continue
      const { leaseMs } = claim.sent.operation
      const name = `${claim.id}@${run.slot} on ${replica.name}`
      const { trusted } = claim
      const slackMs = SLACK_MS + this.#scenario.lateMs
      if (process.monotonic > claim.rejectedAt + leaseMs / 6 + slackMs) {
        this.#ledger.violated('I4', `the run of ${name} goes on though its renewal was refused`)
      }
      // A clock that was set is noticed at the next timer only.
      const hasJumped = process.machine.jumpedAt >= trusted.at
      const trustedMs = leaseMs - Math.min(leaseMs / 10, MARGIN_MS_MAX) + slackMs
      const isOver = process.monotonic >= trusted.monotonic + trustedMs
      if (isOver || (!hasJumped && process.wall >= trusted.wall + trustedMs)) {
        this.#ledger.violated('I4', `the run of ${name} goes on when its lease is over`)
      }
    }
  }

  /** Whether the run may believe that it alone runs its task. */
  #isEntitled({ claim, replica, handed }: Run): boolean {
    const { process } = replica
    const isAware = process.isAwake && !claim.isShortened
    // A machine that slept sees by its wall clock that the lease is over, and by its next timer.
    const { trusted, sent } = claim
    const apartMs = process.machine.jumpedAt >= trusted.at ? APART_MS : 0
    const isOver = process.wall >= trusted.wall + sent.operation.leaseMs - apartMs
    return isAware && !isOver && !handed.signal.aborted && this.#isKept(claim)
  }

  /** Nobody keeps the lease of a task that was cancelled, or of a run that was given up. */
  #isKept({ id, sent: { replica, definition } }: Claim): boolean {
    return replica.definitions.get(id) === definition && !replica.process.isDead
  }
}
