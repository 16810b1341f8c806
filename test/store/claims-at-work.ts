// Replicas that claim and commit one task as fast as they can while its server is disturbed: what
// they were granted, what was confirmed, and what they heard.

import type { ScheduleStore } from '../../src/store/store.ts'

type Counted = 'grants' | 'commits' | 'failures'

/** Claims and commits of one task by several replicas. */
export class ClaimsAtWork {
  readonly #id: string
  readonly granted: number[] = []
  /** Errors of a kind that a lost server does not explain. */
  readonly strange: unknown[] = []
  /** The highest token whose commit was confirmed; it is also the slot that was committed. */
  lastConfirmed = 0
  isOver = false
  readonly #counts: Record<Counted, number> = { grants: 0, commits: 0, failures: 0 }
  #waiting: (() => void)[] = []

  constructor(id: string) {
    this.#id = id
  }

  get failures(): number {
    return this.#counts.failures
  }

  /** Works until `isOver`. */
  async run(schedules: ScheduleStore, owner: string): Promise<void> {
    for (let now = 1; !this.isOver; now += 10) {
      try {
        await this.#claimAndCommit(schedules, { owner, now })
      } catch (error) {
        this.#counts.failures++
        const { code } = error as { code?: string }
        if (!/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/.test(code ?? '')) this.strange.push(error)
        // A call that is refused at once lets nothing else have its turn.
        await new Promise(setImmediate)
      }
      for (const wake of this.#waiting.splice(0)) wake()
    }
  }

  /** Resolves after so many more. */
  async more(what: Counted, count: number): Promise<void> {
    const until = this.#counts[what] + count
    while (this.#counts[what] < until) {
      await new Promise<void>((wake) => this.#waiting.push(wake))
    }
  }

  async #claimAndCommit(
    schedules: ScheduleStore,
    { owner, now }: { owner: string; now: number },
  ): Promise<void> {
    const claim = await schedules.claimDue(this.#id, owner, now, 1)
    if (!claim) return
    const { fencingToken } = claim
    this.granted.push(fencingToken)
    this.#counts.grants++
    const patch = { nextRunAt: 0, lastRunAt: fencingToken }
    if (!(await schedules.complete(this.#id, fencingToken, patch, now))) return
    this.#counts.commits++
    this.lastConfirmed = Math.max(this.lastConfirmed, fencingToken)
  }
}
