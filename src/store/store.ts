// The store contract (SPEC §3): what the engine asks of a database, and what it may rely on.
// Types only. Every method is one atomic step on the store's own order of operations; the time of
// every decision is the `now` that the caller passes, never the store's clock.

/** How a task's slots are made: from a cron text, from an interval, or one slot only. */
export type TaskKind = 'cron' | 'every' | 'delay'

/** One durable task as it is stored. */
export interface ScheduleRecord {
  /** Well-formed Unicode without NUL, 1 to 1024 bytes of UTF-8, compared byte by byte. */
  readonly id: string
  readonly kind: TaskKind
  /** Cron text (see `spec.ts`), or the ms of an interval or delay. */
  readonly spec: string
  /** The slot to claim next; `null` when there is none (dormant, or a delay that is done). */
  readonly nextRunAt: number | null
  /** Who claimed the slot; absent when nobody holds a lease. */
  readonly leaseOwner?: string
  /** When the claim lapses; absent when nobody holds a lease. */
  readonly leaseUntil?: number
  /** Token of the newest claim, 0 before the first; never goes back, not even across `delete`. */
  readonly fencingToken: number
  /** Slot of the newest committed run. */
  readonly lastRunAt?: number
  readonly updatedAt: number
}

/** What is registered: the plan, and its first slot. */
export type NewSchedule = Pick<ScheduleRecord, 'id' | 'kind' | 'spec' | 'nextRunAt'>

/** A won claim. */
export interface ClaimResult {
  /** The row as the claim left it. */
  readonly record: ScheduleRecord
  readonly fencingToken: number
  /** The slot was taken from a lease that had lapsed: its runner died, stalled or gave it back. */
  readonly takenOver: boolean
}

/** What a commit writes. */
export interface CompletePatch {
  readonly nextRunAt: number | null
  readonly lastRunAt?: number
  /**
   * The plan that `nextRunAt` was computed from. When the stored kind or spec has changed since
   * the claim, the stored `nextRunAt` (the newer plan's) is kept; the rest is written all the same.
   */
  readonly plan?: { readonly kind: TaskKind; readonly spec: string }
}

/** One commit of `completeMany`. */
export interface Completion {
  readonly id: string
  readonly fencingToken: number
  readonly patch: CompletePatch
}

/** One renewal of `renewMany`. */
export interface Renewal {
  readonly id: string
  readonly fencingToken: number
  readonly leaseUntil: number
}

/**
 * Where durable tasks live. A method either resolves with the outcome or rejects; a rejection
 * whose outcome cannot be known is a `CronfenceError` with code `STORE_OUTCOME_UNKNOWN`, or any
 * foreign error, and the engine then reads the row again.
 */
export interface ScheduleStore {
  /** Connects and creates what is missing. Idempotent, and safe from many replicas at once. */
  start?(): Promise<void>
  /** The live row, or `null` when absent or deleted. */
  get(id: string): Promise<ScheduleRecord | null>
  /**
   * Inserts if absent, with the token of a deleted predecessor. The same kind and spec: leaves the
   * row untouched. Else overwrites kind, spec and nextRunAt and keeps token and lease. Returns what
   * is stored.
   */
  register(schedule: NewSchedule, now: number): Promise<ScheduleRecord>
  /**
   * Takes the due slot: only when `nextRunAt` is set and `<= now` and no lease is live
   * (`leaseUntil` absent or `<= now`). Sets the owner, `leaseUntil = now + leaseMs`, and adds one
   * to the token. `null`: not due, taken, or absent. Never re-entrant for the same owner.
   */
  claimDue(id: string, owner: string, now: number, leaseMs: number): Promise<ClaimResult | null>
  /**
   * Moves the deadline of an open claim to a later instant; one that is earlier than the stored
   * deadline changes nothing, since a renewal may arrive after a newer one. Only a deadline at or
   * before the row's slot is always taken: so a runner hands its slot back. `false`: the token is
   * stale, or the claim was completed or deleted.
   */
  renew(id: string, fencingToken: number, leaseUntil: number): Promise<boolean>
  /**
   * Commits an open claim: writes the patch and clears the lease, whatever the clock says, as long
   * as the token is the newest. `false`: stale, already completed, or deleted.
   */
  complete(id: string, fencingToken: number, patch: CompletePatch, now: number): Promise<boolean>
  /**
   * Deletes the row but keeps its token. With a token: only while that is still the newest, so one
   * that arrives late spares whatever was claimed since. A row that was registered again and not
   * claimed since has the same token, and is not told from the one that was meant.
   */
  delete(id: string, fencingToken?: number): Promise<void>
  /** All live rows, orphans included, in any order. A hint: never a reason to run or to skip. */
  list(): Promise<ScheduleRecord[]>

  /**
   * Optional: `get` for many ids in one round trip; answers in the order of the ids. Like any call
   * for many that fails for some of its items, it may tell of the others by a `BatchError`.
   */
  getMany?(ids: readonly string[]): Promise<(ScheduleRecord | null)[]>
  /** Optional: `register` for many; each is atomic on its own. */
  registerMany?(schedules: readonly NewSchedule[], now: number): Promise<ScheduleRecord[]>
  /**
   * Optional: `claimDue` for many with one owner; each is atomic on its own. As with every method
   * for many, one row that cannot be read may reject the whole call; what was changed all the same
   * is in a `BatchError`, without one nothing was.
   */
  claimDueMany?(
    ids: readonly string[],
    owner: string,
    now: number,
    leaseMs: number,
  ): Promise<(ClaimResult | null)[]>
  /** Optional: `renew` for many; each is atomic on its own. */
  renewMany?(renewals: readonly Renewal[]): Promise<boolean[]>
  /**
   * Optional: `complete` for many; each is atomic on its own. A store that has it honours
   * `patch.plan`, here and in `complete`; of one that has not, the engine reads the row before.
   */
  completeMany?(completions: readonly Completion[], now: number): Promise<boolean[]>
}
