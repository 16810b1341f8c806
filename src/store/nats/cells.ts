// Compare and set: what a key holds is read, a step is decided from it, and the outcome is written
// over the revision that was read, or it all begins again. What was last seen of a key is tried
// first: a write from it succeeds only while it is the newest, and nothing is refused before the
// leader was asked. Every write has a name of its own: one whose reply was lost is looked up by it,
// and repeated with the same name and revision, so it happens once. (A message id would tell as
// much for two minutes only, at the cost of server memory for every write.)

import { systemClock } from '../../clock.ts'
import { CronfenceError } from '../../errors.ts'
import { retrying } from '../deadline.ts'
import type { NatsBucket } from './nats-bucket.ts'
import type { BucketEntry } from './nats-client.ts'
import { StoredValue, textOf } from './stored-value.ts'

const SEEN_MAX = 50_000
const CONFLICTS_MAX = 1000

/** What a key holds. */
export interface Cell<T> {
  /** 0: nothing, and nothing ever. */
  readonly revision: number
  /** `undefined`: nothing, or the mark of a deletion. */
  readonly value: T | undefined
  /** The write that put it there. */
  readonly write: string | undefined
}

/** What is to become of a cell. */
export interface Step<T, R> {
  /** What to write; absent: nothing. */
  readonly next?: T
  readonly result: R
  /** With nothing to write: not to be told from a write of our own that was written over since. */
  readonly isAmbiguous?: boolean
}

/** Decides from a cell. `lost`: what a write without a reply may have put there, once. */
export type Decide<T, R> = (cell: Cell<T>, lost: T | undefined) => Step<T, R> | Promise<Step<T, R>>

/** What {@link Cells} stand on. */
export interface CellsOptions<T> {
  readonly bucket: NatsBucket
  readonly timeoutMs: number
  /** The value in what was stored; throws when it is none. */
  readonly parse: (stored: StoredValue) => T
}

/** Values of one kind in a bucket. */
export class Cells<T extends object> {
  readonly #options: CellsOptions<T>
  readonly #seen = new Map<string, Cell<T>>()

  constructor(options: CellsOptions<T>) {
    this.#options = options
  }

  /** Forgets what was seen. */
  forget(): void {
    this.#seen.clear()
  }

  /** What the leader has. Throws `STORE_DAMAGED_RECORD` or `STORE_NEWER_SCHEMA`. */
  async read(key: string): Promise<Cell<T>> {
    const entry = await this.#options.bucket.read(key)
    const cell = entry ? this.cellOf(entry) : NOTHING
    this.#see(key, cell)
    return cell
  }

  /** The cell in an entry. */
  cellOf(entry: BucketEntry): Cell<T> {
    const { key, revision, operation } = entry
    if (operation !== 'PUT') return { ...NOTHING, revision }
    const { bucket, parse } = this.#options
    const stored = new StoredValue(entry.string(), { ...bucket.place, key })
    return { revision, value: parse(stored), write: stored.text('write') }
  }

  /**
   * Takes one step, atomically. Rejects with `STORE_OUTCOME_UNKNOWN` when a reply was lost and what
   * became of the write cannot be found out in time.
   */
  async change<R>(key: string, decide: Decide<T, R>): Promise<R> {
    const { bucket, timeoutMs } = this.#options
    let giveUpAt = Infinity
    const write = crypto.randomUUID()
    const seen = this.#seen.get(key)
    let cell = seen ?? (await this.read(key))
    let isFresh = seen === undefined
    let conflictCount = 0
    let last: Step<T, R> | undefined
    let lost: CronfenceError | undefined
    for (;;) {
      if (last && cell.write === write) return last.result
      const step = await decide(cell, lost && last?.next)
      if (step.next === undefined) {
        if (isFresh && lost && step.isAmbiguous) throw lost
        if (isFresh) return step.result
      } else {
        last = step
        try {
          const revision = await bucket.write(key, textOf(step.next, write), cell.revision)
          if (revision !== null) {
            this.#see(key, { revision, value: step.next, write })
            return step.result
          }
          // Each time another one came through. Time would not tell: the way may be crowded.
          if (++conflictCount === CONFLICTS_MAX) throw lost ?? this.#contended(key)
        } catch (error) {
          this.#seen.delete(key)
          if (!isUnknown(error)) throw lost ?? error
          // A write takes half of the time at most; the rest is for finding out.
          if (!lost) giveUpAt = systemClock.monotonic() + timeoutMs / 2
          lost = error
        }
        if (lost && systemClock.monotonic() >= giveUpAt) throw lost
      }
      cell = await (lost ? this.#readBack(key, lost, giveUpAt) : this.read(key))
      isFresh = true
    }
  }

  async #readBack(key: string, lost: CronfenceError, giveUpAt: number): Promise<Cell<T>> {
    const budgetMs = giveUpAt - systemClock.monotonic()
    try {
      return await retrying(() => this.read(key), { isTransient: isUnavailable, budgetMs })
    } catch (error) {
      throw isUnavailable(error) ? lost : error
    }
  }

  #see(key: string, cell: Cell<T>): void {
    // The oldest goes first: whatever is in use is seen again and again.
    this.#seen.delete(key)
    this.#seen.set(key, cell)
    if (this.#seen.size <= SEEN_MAX) return
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest)
      return
    }
  }

  #contended(key: string): CronfenceError {
    return new CronfenceError(
      'STORE_UNAVAILABLE',
      `${this.#options.bucket.name}: others were quicker to write ${key} ${CONFLICTS_MAX} times; ` +
        'nothing was done',
    )
  }
}

const NOTHING: Cell<never> = { revision: 0, value: undefined, write: undefined }

function isUnknown(error: unknown): error is CronfenceError {
  return error instanceof CronfenceError && error.code === 'STORE_OUTCOME_UNKNOWN'
}

function isUnavailable(error: unknown): boolean {
  return error instanceof CronfenceError && error.code === 'STORE_UNAVAILABLE'
}
