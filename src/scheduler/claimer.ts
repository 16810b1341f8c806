// Claims due slots, a thousand in a round trip, and passes on what was won. Each attempt has an
// owner of its own, so that a row can tell whose claim it shows when a reply was lost.

import { moment } from '../lease/trust-window.ts'
import type { ClaimResult } from '../store/store.ts'
import type { ClaimRunner } from './claim-runner.ts'
import { type Committer, claimEvent } from './committer.ts'
import { decide } from './decide.ts'
import type { DurableTask, UnknownAttempt } from './durable-task.ts'
import type { Journal } from './journal.ts'
import { type Failed, type Lane, LostReplies, taskLane } from './lane.ts'
import { isSound, type RowReader } from './row-reader.ts'
import { ASIDE_MS, type Stages } from './stages.ts'
import { type Answer, isAboutOneRow, type StoreCalls } from './store-calls.ts'
import type { TimerQueue } from './timer-queue.ts'

/** What the claimer needs. */
export interface ClaimerOptions {
  readonly calls: StoreCalls
  readonly timers: TimerQueue
  readonly journal: Journal
  readonly stages: Stages
  readonly reader: RowReader
  readonly runner: ClaimRunner
  readonly committer: Committer
  /** Different on every replica and in every process. */
  readonly owner: string
  readonly tickMs: number
  readonly graceMs: number
}

/** Claims. */
export class Claimer {
  readonly #options: ClaimerOptions
  readonly #lane: Lane<DurableTask>
  #attempts = 0
  #shortestLeaseMs = Infinity
  #isClockOff = false

  constructor(options: ClaimerOptions) {
    this.#options = options
    this.#lane = taskLane('claim', options, (batch) => this.#claim(batch))
  }

  claim(task: DurableTask): void {
    this.#lane.push(task)
  }

  /** Resolves when no claim is under way. */
  async idle(): Promise<void> {
    await this.#lane.idle()
  }

  open(): void {
    this.#lane.open()
  }

  close(): void {
    this.#lane.close()
  }

  /** A claim whose reply was lost was won after all. */
  adopt(task: DurableTask, claim: ClaimResult, attempt: UnknownAttempt): void {
    const { fencingToken } = claim
    const slot = slotOf(claim, attempt)
    task.stage = 'claiming'
    // A listener may end the task; the claim is handed back then.
    this.#options.journal.claimAdopted(claimEvent({ task, fencingToken, slot }))
    this.#won(task, claim, attempt)
  }

  async #claim(batch: DurableTask[]): Promise<Failed<DurableTask> | undefined> {
    const { calls, timers, owner } = this.#options
    const lost = new LostReplies<DurableTask>()
    for (const [leaseMs, group] of byLease(batch)) {
      // Asked only now: the groups before were awaited, and some may have ended meanwhile.
      const tasks = group.filter((task) => this.#mayClaim(task))
      if (tasks.length === 0) continue
      this.#checkClock(leaseMs)
      const attempt = {
        owner: `${owner}.${this.#attempts++}`,
        now: timers.now(),
        leaseMs,
        sentAt: moment(timers),
      }
      const storedIds = tasks.map(({ storedId }) => storedId)
      await calls.claim(storedIds, attempt, {
        onAnswer: (index, answer) => this.#answered(tasks[index]!, answer, attempt, lost),
        isWanted: (index) => tasks[index]?.stage === 'claiming',
      })
    }
    // Nothing is claimed again before the rows were read.
    return lost.failed && { ...lost.failed, isMoved: true }
  }

  /** Deadlines are as good as clocks agree: a replica that follows its machine's is off by this. */
  #checkClock(leaseMs: number): void {
    const { timers, journal } = this.#options
    this.#shortestLeaseMs = Math.min(this.#shortestLeaseMs, leaseMs)
    const isOff = timers.clockErrorMs > this.#shortestLeaseMs / 10
    if (isOff && !this.#isClockOff) journal.clockOff(timers.clockErrorMs, this.#shortestLeaseMs)
    this.#isClockOff = isOff
  }

  #mayClaim(task: DurableTask): boolean {
    const { runner, stages } = this.#options
    if (task.stage !== 'claiming') return false
    if (!runner.isLive(task.storedId)) return true
    // A run that was handed back, or of a cancelled namesake, has not ended yet.
    stages.waitATick(task)
    return false
  }

  #answered(
    task: DurableTask,
    answer: Answer<ClaimResult | null>,
    attempt: UnknownAttempt,
    lost: LostReplies<DurableTask>,
  ): void {
    if (answer && !(answer instanceof Error)) {
      this.#won(task, answer, attempt)
      return
    }
    // The row may show it as won: a client that sends a lost request again is refused by what its
    // first one did. A scheduler that is stopped meanwhile looks when it is started again.
    task.attempt = attempt
    if (task.stage !== 'claiming') return
    if (answer) this.#failed(task, answer, lost)
    else {
      task.isRefused = true
      this.#options.stages.read(task)
    }
  }

  #failed(task: DurableTask, error: Error, lost: LostReplies<DurableTask>): void {
    const { journal, stages } = this.#options
    if (isAboutOneRow(error)) {
      const taskIds = [task.id]
      journal.storeFailed({ error, operation: 'claim', taskIds, retryInMs: ASIDE_MS })
      stages.setAside(task)
    } else {
      lost.add(task, error)
      stages.read(task)
    }
  }

  #won(task: DurableTask, claim: ClaimResult, attempt: UnknownAttempt): void {
    const { committer, reader, runner, stages, graceMs } = this.#options
    const { record, fencingToken, takenOver } = claim
    const slot = slotOf(claim, attempt)
    if (task.stage !== 'claiming') {
      // Stopped or cancelled while the claim was on its way.
      committer.handBack({ task, fencingToken, slot })
      return
    }
    if (!isSound(record)) {
      reader.unsound(task)
      return
    }
    task.saw(record)
    task.stage = 'claimed'
    const isForeign = !task.isPlanOf(record)
    // Found later, the row may have been registered anew: with a slot that nobody has claimed.
    if (isForeign || slot > attempt.now) {
      this.#giveUp(task, claim, slot)
      if (isForeign) reader.superseded(task, record)
      else stages.goOn(task)
      return
    }
    const { plan, registration } = task
    const { policy, maxCatchUp } = registration
    const claimedAt = attempt.now
    runner.start({
      task,
      fencingToken,
      slot,
      sentAt: attempt.sentAt,
      decision: decide({ plan, slot, claimedAt, takenOver, policy, maxCatchUp, graceMs }),
    })
  }

  /** The plan was changed: the row is left as it was before the claim. */
  #giveUp(task: DurableTask, claim: ClaimResult, slot: number): void {
    const { committer } = this.#options
    const { record, fencingToken, takenOver } = claim
    const { kind, spec, nextRunAt } = record
    // What was taken over must stay so: only a lapsed lease says that to the next replica.
    if (takenOver) committer.handBack({ task, fencingToken, slot })
    else {
      const patch = { nextRunAt, plan: { kind, spec } }
      committer.commit({ task, fencingToken, slot, patch, onCommitted: () => {} })
    }
  }
}

function byLease(batch: readonly DurableTask[]): Map<number, DurableTask[]> {
  const groups = new Map<number, DurableTask[]>()
  for (const task of batch) {
    const { leaseMs } = task.registration
    const group = groups.get(leaseMs)
    if (group) group.push(task)
    else groups.set(leaseMs, [task])
  }
  return groups
}

function slotOf({ record }: ClaimResult, { now }: UnknownAttempt): number {
  return record.nextRunAt ?? now
}
