// Runs in a bucket: claimed by creating their key, kept by writing it again, taken over from a
// holder that has stopped doing so, and ended. Each write names the revision it replaces, so of
// several processes one succeeds. A reply that was lost is looked up: a claim knows itself by its
// id.

import { Backoff } from '../backoff.ts'
import type { Clock, Timer } from '../clock.ts'
import { type Bucket, isConflict, isHopeless } from './nats-client.ts'
import { endedMarker, type Marker, type SeenMarker, seenMarker } from './nats-marker.ts'
import type { Outcome } from './outcome.ts'
import type { HeldRun } from './tick-chain.ts'

/** What a claim came to: it is held here, or may be taken over at `staleAt`, or is done with. */
export type Claimed = { readonly held: HeldRun } | { readonly staleAt: number } | undefined

/** What the runs of a bucket need. */
export interface RunsOptions {
  readonly bucket: Bucket
  readonly clock: Clock
  readonly host: string
  readonly lockTtlMs: number
  /** How often a holder writes its marker again. */
  readonly renewAfterMs: number
}

/** How long the end of a run is tried to be written: then it fails, and a stop goes on. */
const SETTLE_MS_MAX = 5000

/** The runs of a bucket. */
export class NatsRuns {
  readonly options: RunsOptions

  constructor(options: RunsOptions) {
    this.options = options
  }

  /**
   * Claims a run for this process. With `mustExist` only a marker that is there can be taken over.
   * Rejects when the bucket does not answer; then the claim may have been made or not.
   */
  async claim(
    key: string,
    { mustExist, onCompleted }: { mustExist: boolean; onCompleted: () => Promise<void> },
  ): Promise<Claimed> {
    const { bucket, clock, host } = this.options
    const startedAt = new Date(clock.now()).toISOString()
    const marker: Marker = { startedAt, host, claim: crypto.randomUUID() }
    const text = JSON.stringify(marker)
    const hold = (revision: number) => ({
      held: new LiveRun(this.options, { key, marker, revision, onCompleted }),
    })

    /** The revision written; `undefined` when somebody else's write came first. */
    const attempt = async (write: () => Promise<number>): Promise<number | undefined> => {
      try {
        return await write()
      } catch (error) {
        if (isConflict(error)) return undefined
        const seen = seenMarker(await bucket.get(key))
        if (seen?.claim === marker.claim) return seen.revision
        throw error
      }
    }

    let revision = mustExist ? undefined : await attempt(() => bucket.create(key, text))
    while (revision === undefined) {
      const seen = seenMarker(await bucket.get(key))
      if (!seen) return undefined
      if (seen.claim === marker.claim) return hold(seen.revision)
      const staleAt = this.staleAt(seen)
      if (staleAt === undefined) return undefined
      if (staleAt > clock.now()) return { staleAt }
      revision = await attempt(() => bucket.update(key, text, seen.revision))
    }
    return hold(revision)
  }

  /** When a run may be taken over; `undefined` when it has ended or its key is gone. */
  async look(key: string): Promise<number | undefined> {
    const seen = seenMarker(await this.options.bucket.get(key))
    return seen && this.staleAt(seen)
  }

  /** When what was seen may be taken over; `undefined` when it has ended. */
  staleAt({ hasEnded, aliveAt }: SeenMarker): number | undefined {
    return hasEnded ? undefined : aliveAt + this.options.lockTtlMs + 1
  }
}

interface LiveRunState {
  readonly key: string
  readonly marker: Marker
  readonly revision: number
  /** Called when a completed run has been recorded. */
  readonly onCompleted: () => Promise<void>
}

/** A run that this process holds and keeps. */
class LiveRun implements HeldRun {
  readonly #options: RunsOptions
  readonly #key: string
  readonly #onCompleted: () => Promise<void>
  #marker: Marker
  #revision: number
  #isLost = false
  #timer: Timer | undefined
  #renewal: Promise<void> = Promise.resolve()

  constructor(options: RunsOptions, { key, marker, revision, onCompleted }: LiveRunState) {
    this.#options = options
    this.#key = key
    this.#marker = marker
    this.#revision = revision
    this.#onCompleted = onCompleted
    this.#renewAfter(options.renewAfterMs)
  }

  async settle(outcome: Outcome): Promise<void> {
    this.#timer?.cancel()
    await this.#renewal
    this.#timer?.cancel()
    const { clock } = this.#options
    this.#marker = endedMarker(this.#marker, outcome, clock.now())
    const backoff = new Backoff({ baseMs: 200, maxMs: 2000 })
    const startedAt = clock.monotonic()
    for (;;) {
      try {
        await this.#write()
        if (outcome.ok) await this.#onCompleted()
        return
      } catch (error) {
        if (this.#isLost || isHopeless(error)) throw error
        if (clock.monotonic() - startedAt > SETTLE_MS_MAX) throw error
        await new Promise<void>((resolve) => clock.setTimer(resolve, backoff.fail()))
      }
    }
  }

  #renewAfter(delayMs: number): void {
    this.#timer = this.#options.clock.setTimer(() => {
      this.#renewal = this.#renew()
    }, delayMs)
  }

  async #renew(): Promise<void> {
    const { clock, renewAfterMs } = this.#options
    this.#marker = { ...this.#marker, renewedAt: new Date(clock.now()).toISOString() }
    try {
      await this.#write()
      this.#renewAfter(renewAfterMs)
    } catch {
      // Tried again until the run ends; what then cannot be written is told by `settle`.
      if (!this.#isLost) this.#renewAfter(renewAfterMs / 4)
    }
  }

  async #write(): Promise<void> {
    const { bucket } = this.#options
    const text = JSON.stringify(this.#marker)
    if (this.#isLost) throw this.#takenOver()
    try {
      this.#revision = await bucket.update(this.#key, text, this.#revision)
    } catch (error) {
      const seen = seenMarker(await bucket.get(this.#key))
      if (seen?.claim !== this.#marker.claim) {
        this.#isLost = true
        throw this.#takenOver()
      }
      // Still ours: this write, or an earlier one whose reply was lost, may have been stored.
      this.#revision = seen.revision
      if (seen.text !== text) throw error
    }
  }

  #takenOver(): Error {
    const { lockTtlMs } = this.#options
    return new Error(
      `${this.#key}: another process has taken this run over, or its key is gone; ` +
        `this one did not renew it for ${lockTtlMs} ms (lockTtlMs)`,
    )
  }
}
