// Ends claims: commits what ran, and hands back what did not. A commit whose reply was lost is sent
// again, the very same, until the store answers; a handler is never run again on such evidence.

import type { HeldLease } from '../lease/lease-keeper.ts'
import type { CompletePatch, ScheduleRecord } from '../store/store.ts'
import type { DurableTask } from './durable-task.ts'
import type { ClaimEvent } from './events.ts'
import type { Journal } from './journal.ts'
import { type Failed, Lane, LostReplies } from './lane.ts'
import { isAboutOneRow, type OnAnswer, type StoreCalls } from './store-calls.ts'
import type { TimerQueue } from './timer-queue.ts'

/**
 * A hand-back is a lease that ended then: it is over on every replica, whatever its clock says, and
 * before any slot that the row may have been given since the claim.
 */
const LONG_AGO = 1

/** In a burst commits wait for claims, so that handlers start sooner; but no longer than this. */
const HOLD_MS_MAX = 200

/** A claim, as its end is written. */
export interface EndedClaim {
  readonly task: DurableTask
  readonly fencingToken: number
  /** The slot that was claimed. */
  readonly slot: number
}

/** A claim and what to write of it. */
export interface Commit extends EndedClaim {
  readonly patch: CompletePatch
  /** Called once the store has taken it. */
  onCommitted(): void
}

/** A claim that is given back. */
export interface HandBack extends EndedClaim {
  /** Where it was renewed: a renewal on its way would take it again, a refused one ended it. */
  readonly lease?: HeldLease
}

interface SentCommit {
  readonly commit: Commit
  /** It was sent before, and the reply was lost. */
  isUnknown: boolean
}

/** What the committer needs. */
export interface CommitterOptions {
  readonly calls: StoreCalls
  readonly timers: TimerQueue
  readonly journal: Journal
  readonly tickMs: number
  /** Resolves when no claim is under way. */
  readonly claimed: () => Promise<void>
  /** A commit was not taken: what the row says now. */
  readonly onRefused: (task: DurableTask, row: ScheduleRecord | null) => void
  /** A commit can never be taken, whatever is done, until somebody mends the row. */
  readonly onBadRow: (task: DurableTask) => void
}

/** Writes the ends of claims. */
export class Committer {
  readonly #options: CommitterOptions
  readonly #commits: Lane<SentCommit>
  readonly #handBacks: Lane<HandBack>

  constructor(options: CommitterOptions) {
    const { timers, tickMs: retryMs, journal, claimed } = options
    this.#options = options
    this.#commits = new Lane({
      timers,
      retryMs,
      work: (batch) => this.#commit(batch),
      hold: () => timers.within(HOLD_MS_MAX, claimed()),
      onFailed: ({ items, error }, retryInMs) => {
        const taskIds = items.map(({ commit }) => commit.task.id)
        journal.storeFailed({ error, operation: 'commit', taskIds, retryInMs })
      },
      onDropped: (items) => {
        for (const { commit } of items) {
          journal.commitUnknown(claimEvent(commit), 'the scheduler has stopped')
        }
      },
    })
    this.#handBacks = new Lane({
      timers,
      retryMs,
      work: (batch) => this.#handBack(batch),
      onFailed: ({ items, error }, retryInMs) => {
        const taskIds = items.map(({ task }) => task.id)
        journal.storeFailed({ error, operation: 'hand back', taskIds, retryInMs })
      },
      onDropped: (items) => journal.notHandedBack(items.map(claimEvent)),
    })
  }

  commit(commit: Commit): void {
    this.#commits.push({ commit, isUnknown: false })
  }

  /** Lets the lease lapse now, so that whoever claims next takes the slot over and runs it. */
  handBack(claim: HandBack): void {
    this.#handBacks.push(claim)
  }

  /** Resolves when all ends are written. */
  async idle(): Promise<void> {
    await Promise.all([this.#commits.idle(), this.#handBacks.idle()])
  }

  /** Gives up on what is not written yet: those leases lapse, and the slots run again. */
  close(): void {
    this.#commits.close()
    this.#handBacks.close()
  }

  open(): void {
    this.#commits.open()
    this.#handBacks.open()
  }

  async #commit(batch: SentCommit[]): Promise<Failed<SentCommit> | undefined> {
    const { calls, timers } = this.#options
    const lost = new LostReplies<SentCommit>()
    const doubtful: SentCommit[] = []
    const onAnswer: OnAnswer<boolean> = (index, answer) => {
      const sent = batch[index]!
      if (answer instanceof Error) this.#failed(sent, answer, lost)
      else if (answer) sent.commit.onCommitted()
      else doubtful.push(sent)
    }
    const leases = batch.map(({ commit: { task } }) => task.registration.leaseMs)
    const answerMs = Math.min(...leases) / 3
    const completions = batch.map(({ commit: { task, fencingToken, patch } }) => {
      return { id: task.storedId, fencingToken, patch }
    })
    await calls.complete(completions, timers.now(), { onAnswer, answerMs })
    await this.#readBack(doubtful, lost)
    return lost.failed
  }

  #failed(sent: SentCommit, error: Error, lost: LostReplies<SentCommit>): void {
    if (isAboutOneRow(error)) {
      const { task } = sent.commit
      const { journal, tickMs, onBadRow } = this.#options
      const taskIds = [task.id]
      journal.storeFailed({ error, operation: 'commit', taskIds, retryInMs: tickMs })
      onBadRow(task)
      return
    }
    sent.isUnknown = true
    lost.add(sent, error)
  }

  /**
   * Refused: also when the first request was carried out and its reply was lost, here or on a
   * client's own second try. The row tells.
   */
  async #readBack(doubtful: SentCommit[], lost: LostReplies<SentCommit>): Promise<void> {
    if (doubtful.length === 0) return
    const rows = await this.#options.calls.get(doubtful.map(({ commit }) => commit.task.storedId))
    for (const [index, sent] of doubtful.entries()) {
      const row = rows[index]
      const { commit } = sent
      if (row instanceof Error && isAboutOneRow(row)) this.#failed(sent, row, lost)
      else if (row instanceof Error) lost.add(sent, row)
      else if (row && wasTaken(commit, row)) commit.onCommitted()
      else this.#refused(sent, row ?? null)
    }
  }

  #refused({ commit, isUnknown }: SentCommit, row: ScheduleRecord | null): void {
    const { journal, onRefused } = this.#options
    if (row && isUnknown) journal.commitUnknown(claimEvent(commit), 'the row has moved on')
    else if (commit.task.stage !== 'closed') journal.commitRejected(claimEvent(commit))
    onRefused(commit.task, row)
  }

  async #handBack(batch: HandBack[]): Promise<Failed<HandBack> | undefined> {
    const { calls, timers, journal } = this.#options
    await Promise.all(batch.map(({ lease }) => lease?.renewed))
    const kept = batch.filter(({ lease }) => !lease?.isRefused)
    const now = timers.now()
    const renewals = kept.map(({ task, fencingToken, slot }) => {
      return { id: task.storedId, fencingToken, leaseUntil: Math.min(slot, now, LONG_AGO) }
    })
    const answers = await calls.renew(renewals)
    const lost = new LostReplies<HandBack>()
    for (const [index, claim] of kept.entries()) {
      const answer = answers[index]
      if (answer === true) journal.handedBack(claimEvent(claim))
      // A row that cannot be read cannot be handed back; its lease lapses by itself.
      else if (answer instanceof Error && !isAboutOneRow(answer)) lost.add(claim, answer)
    }
    return lost.failed
  }
}

/**
 * Nobody claimed since, and the row is not one that was deleted and registered again: it shows the
 * last run, or where nothing ran the slot that was to come next.
 */
function wasTaken({ fencingToken, patch }: Commit, row: ScheduleRecord): boolean {
  if (row.fencingToken !== fencingToken) return false
  const { lastRunAt, nextRunAt } = patch
  return lastRunAt === undefined ? row.nextRunAt === nextRunAt : row.lastRunAt === lastRunAt
}

/** How a claim is named in events and log lines. */
export function claimEvent({ task, slot, fencingToken }: EndedClaim): ClaimEvent {
  return { taskId: task.id, scheduledAt: new Date(slot), fencingToken }
}
