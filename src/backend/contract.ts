// The backend contract (SPEC §4): a schedule is a registration, a name, a cadence and a tick,
// against something that knows when to call the tick. Types only; `registration-spec.ts` checks
// values.

/** When a registration is due. */
export type Cadence =
  /** An expression of the extended dialect, in the zone of the process. */
  | { readonly cron: string }
  /** A plain decimal string of ms, such as `'5000'`. */
  | { readonly every: string }

/**
 * What becomes of a tick that falls due while one runs in this process: it is dropped, or it runs
 * after it, in order.
 */
export type TickOverlap = 'skip' | 'queue'

/** Which slots that nobody ran are replayed: none, the newest, or every one. */
export type CatchUp = 'skip' | 'last' | 'all'

/** One call of a tick. */
export interface TickRun {
  /** `run.<name>.<slot>`, or `run.<name>.manual.<dedup key>`; the same for every attempt at it. */
  readonly key: string
  /** The slot, not the clock; of a manual tick, when it was asked for. */
  readonly scheduledAt: Date
}

/** The work. A tick fails when it throws or its promise rejects. */
export type Tick = (run: TickRun) => Promise<void>

/** What is registered. */
export interface RegistrationSpec {
  /** 1 to 512 bytes of well-formed UTF-8. Replicas that share a name share its slots. */
  readonly name: string
  readonly cadence: Cadence
  readonly overlap: TickOverlap
  readonly catchUp: CatchUp
  /**
   * Called once for every failed tick, with what it threw, or why it could not be claimed. Without
   * it the failures of timer ticks are not told to anyone.
   */
  readonly onError?: ((error: unknown, run: TickRun) => void) | undefined
}

/** A schedule that is live in this process. */
export interface Registration {
  /**
   * Runs a tick now. Resolves when it has ended, or when its `dedupKey` turns out to be somebody
   * else's; rejects with what the tick threw. While a tick runs and `overlap` is `'skip'`, that
   * tick's promise is returned instead. A rejection that nobody waits for does no harm.
   */
  trigger(dedupKey?: string): Promise<void>
  /** The next slot; `undefined` when there is none, and once `stop` was called. */
  next(): Date | undefined
  /** Starts no new tick; resolves when those that run or are queued have ended. Never rejects. */
  stop(): Promise<void>
}

/** Something that runs registrations. */
export interface Backend {
  /**
   * Takes a schedule on.
   * @throws {TypeError} for a wrong value, `CronSyntaxError` included
   */
  register(spec: RegistrationSpec, tick: Tick): Registration
}
