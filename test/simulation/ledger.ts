// What is known for certain of a simulation, as it happens: which claims the store granted, which
// runs came of them, what was said to whom. Checkers judge by it; nothing here is asked of engines.

import type { ScheduledRun, ScheduleRecord } from '../../src/index.ts'
import type { Definition } from './definition.ts'
import type { Operation } from './literal-store.ts'
import type { Replica } from './replica.ts'

/** A request as a replica sent it, with what its clocks showed. */
export interface Sent<Op extends Operation = Operation> {
  readonly replica: Replica
  readonly operation: Op
  readonly at: number
  readonly wall: number
  readonly monotonic: number
  /** What the replica had registered under that id. */
  readonly definition: Definition | undefined
}

export type ClaimSent = Sent<Operation & { do: 'claim' }>

/** A claim that the store granted. */
export interface Claim {
  readonly id: string
  readonly token: number
  readonly sent: ClaimSent
  /** The row before the claim. */
  readonly before: ScheduleRecord
  readonly slot: number
  readonly takenOver: boolean
  readonly generation: number
  readonly runs: Run[]
  /** The newest request whose grant the replica has heard of. */
  trusted: { readonly wall: number; readonly monotonic: number; readonly at: number }
  /** The store told the replica `false` while the handler ran. */
  isRejected: boolean
  /** When, by the monotonic clock of the replica. */
  rejectedAt: number
  /** It did so at any time. */
  isRefused: boolean
  /** A renewal that came late took time away that a newer one had given. */
  isShortened: boolean
  isCommitted: boolean
  /** Its reply was lost, and its replica has found it by reading. */
  isAdopted: boolean
  /** The replica said that the lease can no longer be relied on. */
  isUncertain: boolean
}

/** A call of a handler. */
export interface Run {
  readonly claim: Claim
  readonly replica: Replica
  readonly definition: Definition
  readonly slot: number
  readonly handed: ScheduledRun
  /** Monotonic time of its replica at its end. */
  endedAt: number
  /** What the wall clock showed then. */
  endedWall: number
  end: 'live' | 'done' | 'aborted'
}

/** All facts of one simulation. */
export class Ledger {
  readonly claims = new Map<string, Claim>()
  readonly live = new Set<Run>()
  /** Counts registrations that planned an id anew. */
  readonly generations = new Map<string, number>()
  readonly #slots = new Set<string>()
  readonly #runs = new Map<string, Run[]>()
  /** Commits that the store accepted, and where they moved the slot. */
  readonly passed: { readonly claim: Claim; readonly to: number | null }[] = []
  readonly violations: string[] = []

  /** Whether the row of that id has ever had that slot. */
  hasBeenNext(id: string, slot: number | null): boolean {
    return this.#slots.has(`${slot} ${id}`)
  }

  stored({ id, nextRunAt }: ScheduleRecord): void {
    this.#slots.add(`${nextRunAt} ${id}`)
  }

  claim(id: string, token: number): Claim | undefined {
    return this.claims.get(`${token} ${id}`)
  }

  generation(id: string): number {
    return this.generations.get(id) ?? 0
  }

  planAnew(id: string): void {
    this.generations.set(id, this.generation(id) + 1)
  }

  /** All runs of one slot of one plan. */
  runsOf(id: string, generation: number, slot: number): Run[] {
    const key = `${generation} ${slot} ${id}`
    let runs = this.#runs.get(key)
    if (!runs) {
      runs = []
      this.#runs.set(key, runs)
    }
    return runs
  }

  /** `invariant` is the number in RELIABILITY §4(c), or of a decision in its section 0. */
  violated(invariant: string, text: string): void {
    this.violations.push(`${invariant}: ${text}`)
  }
}
