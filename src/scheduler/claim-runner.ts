// Carries out won claims: runs their slots one after the other under a lease that is kept, and says
// how the claim ends. Whether a slot may start is asked at that very moment, of both clocks; what
// is written at the end is decided by the store, through the token.

import type { HeldLease, LeaseKeeper, LossReason } from '../lease/lease-keeper.ts'
import type { Moment } from '../lease/trust-window.ts'
import { type Committer, claimEvent } from './committer.ts'
import type { Decision } from './decide.ts'
import type { DurableTask } from './durable-task.ts'
import type { Journal } from './journal.ts'
import { durableRun, type LiveRun, type ScheduledRun } from './run.ts'
import type { TimerQueue } from './timer-queue.ts'

/** A claim that was won, and what was decided about it. */
export interface WonClaim {
  readonly task: DurableTask
  readonly fencingToken: number
  readonly slot: number
  readonly sentAt: Moment
  readonly decision: Decision
}

/** What the runner needs. */
export interface RunnerOptions {
  readonly keeper: LeaseKeeper
  readonly committer: Committer
  readonly timers: TimerQueue
  readonly journal: Journal
  /** The claim was committed; the task's `nextRunAt` is the new one. */
  readonly onCommitted: (task: DurableTask) => void
  /** The claim ended without a commit: only the row tells how the task goes on. */
  readonly onDropped: (task: DurableTask, reason: 'rejected' | 'handed back') => void
}

/** A claim whose slots are being run. */
class LiveClaim {
  readonly won: WonClaim
  readonly lease: HeldLease
  run: LiveRun<ScheduledRun> | undefined
  lost: LossReason | undefined
  /** The last slot that ran to its end. */
  lastRunAt: number | undefined
  /** The slot that is running, or was not run. */
  openSlot: number | undefined
  isHandedBack = false

  constructor(won: WonClaim, lease: HeldLease) {
    this.won = won
    this.lease = lease
  }
}

/** Runs claims. At most one of each id, also of one that was handed back and does not end. */
export class ClaimRunner {
  readonly #options: RunnerOptions
  readonly #live = new Map<string, LiveClaim>()
  #abortReason: Error | undefined
  #whenIdle: (() => void) | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  /** Whether a handler of that id is running here. */
  isLive(storedId: string): boolean {
    return this.#live.has(storedId)
  }

  start(won: WonClaim): void {
    const { task, fencingToken, sentAt } = won
    const lease = this.#options.keeper.keep({
      id: task.storedId,
      fencingToken,
      leaseMs: task.registration.leaseMs,
      sentAt,
      onLost: (reason) => this.#lost(claim, reason),
    })
    const claim = new LiveClaim(won, lease)
    this.#live.set(task.storedId, claim)
    void this.#carryOut(claim)
  }

  /** The task is cancelled: its lease is kept no longer, and nothing is written for it. */
  forget(task: DurableTask): void {
    const claim = this.#live.get(task.storedId)
    if (claim) this.#options.keeper.release(claim.lease)
  }

  /** Aborts all runs; nothing starts until `resume`. */
  abort(reason: Error): void {
    this.#abortReason = reason
    for (const claim of this.#live.values()) claim.run?.abort(reason)
  }

  resume(): void {
    this.#abortReason = undefined
  }

  /** Resolves when nothing runs but what was handed back. */
  async idle(): Promise<void> {
    if (this.#isIdle) return
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve
    })
  }

  /** Lets go of all that still runs: what ran is committed, the rest is another replica's now. */
  handBackAll(): void {
    for (const claim of this.#live.values()) {
      if (claim.isHandedBack) continue
      claim.isHandedBack = true
      this.#options.keeper.release(claim.lease)
      if (claim.won.task.stage !== 'closed' && claim.lost !== 'rejected') this.#endEarly(claim)
    }
  }

  get #isIdle(): boolean {
    for (const claim of this.#live.values()) if (!claim.isHandedBack) return false
    return true
  }

  async #carryOut(claim: LiveClaim): Promise<void> {
    const { task, fencingToken, decision } = claim.won
    const { keeper, journal } = this.#options
    for (const slot of decision.slots) {
      claim.openSlot = slot
      if (!this.#mayRun(claim)) break
      const identity = { taskId: task.id, slot, fencingToken, missed: decision.missed }
      claim.run = durableRun(identity)
      const end = await claim.run.execute(task.registration.handler, journal)
      claim.run = undefined
      // A blocked event loop lets the handler return before any timer could say that time is up.
      this.#checkLease(claim)
      if (end === 'aborted') break
      claim.lastRunAt = slot
      claim.openSlot = undefined
    }
    this.#live.delete(task.storedId)
    keeper.release(claim.lease)
    if (!claim.isHandedBack) this.#end(claim)
    if (this.#isIdle) this.#whenIdle?.()
  }

  #mayRun(claim: LiveClaim): boolean {
    if (this.#abortReason || claim.won.task.hasEnded) return false
    this.#checkLease(claim)
    return !claim.lost && !claim.isHandedBack
  }

  #checkLease(claim: LiveClaim): void {
    const isKept = !claim.lost && !claim.isHandedBack && claim.won.task.stage !== 'closed'
    if (isKept && !this.#options.keeper.isHeld(claim.lease)) this.#lost(claim, 'uncertain')
  }

  #end(claim: LiveClaim): void {
    const { task, decision } = claim.won
    if (task.stage === 'closed') return
    if (claim.lost === 'rejected') this.#options.onDropped(task, 'rejected')
    else if (claim.openSlot !== undefined) this.#endEarly(claim)
    else this.#commit(claim, decision.next(this.#options.timers.now()))
  }

  /** Not all slots ran: what ran is committed, and the first that did not comes next. */
  #endEarly(claim: LiveClaim): void {
    const { task, slot } = claim.won
    if (claim.lastRunAt !== undefined) {
      this.#commit(claim, claim.openSlot ?? task.plan.after(claim.lastRunAt, slot))
      return
    }
    this.#options.committer.handBack({ ...claim.won, lease: claim.lease })
    this.#options.onDropped(task, 'handed back')
  }

  #commit(claim: LiveClaim, nextRunAt: number | null): void {
    const { task, fencingToken, slot } = claim.won
    const { lastRunAt } = claim
    const { kind, spec } = task.plan
    this.#options.committer.commit({
      task,
      fencingToken,
      slot,
      patch: {
        nextRunAt,
        ...(lastRunAt === undefined ? {} : { lastRunAt }),
        plan: { kind, spec },
      },
      onCommitted: () => {
        if (claim.openSlot === undefined) this.#tellSkipped(claim, nextRunAt)
        this.#options.journal.committed(() => {
          const nextDate = nextRunAt === null ? null : new Date(nextRunAt)
          return { ...claimEvent(claim.won), nextRunAt: nextDate }
        })
        if (task.stage !== 'claimed') return
        task.nextRunAt = nextRunAt
        task.isLeased = false
        this.#options.onCommitted(task)
      },
    })
  }

  /** What lies between the last slot that ran and the next one has been skipped. */
  #tellSkipped(claim: LiveClaim, nextRunAt: number | null): void {
    const { task, slot, decision } = claim.won
    const { plan } = task
    const { lastRunAt } = claim
    const from = lastRunAt === undefined ? slot : plan.after(lastRunAt, slot)
    if (from === null || nextRunAt === from) return
    const skipped = plan.count(from, nextRunAt ?? this.#options.timers.now())
    if (skipped.count <= 0) return
    const reason = decision.missed ? 'missed' : 'running'
    this.#options.journal.skipped({ taskId: task.id, from: new Date(from), ...skipped, reason })
  }

  #lost(claim: LiveClaim, reason: LossReason): void {
    claim.lost = reason
    this.#options.keeper.release(claim.lease)
    claim.run?.abort(new Error(`The lease of this run is ${reason}`))
    this.#options.journal.leaseLost({ ...claimEvent(claim.won), reason })
  }
}
