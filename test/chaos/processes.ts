// When the processes of a chaos run stood still, by the log: a promise about how soon something is
// done is one about a process that may run.

import type { Fact } from './facts.ts'

interface Standstill {
  readonly from: number
  readonly until: number
}

/** The standstills of all processes. */
export class Processes {
  readonly #standstills = new Map<string, Standstill[]>()
  readonly #pauses = new Map<string, Standstill[]>()

  constructor(facts: readonly Fact[]) {
    const pausedAt = new Map<string, number>()
    for (const fact of facts) {
      const { by, at } = fact
      if (fact.what === 'paused') pausedAt.set(by, at)
      else if (fact.what === 'stalled') add(this.#standstills, by, { from: fact.from, until: at })
      else if (fact.what === 'resumed') {
        const pause = { from: pausedAt.get(by) ?? at, until: at }
        for (const known of [this.#standstills, this.#pauses]) add(known, by, pause)
      }
    }
  }

  /** When a process that was stopped at the instant went on; `undefined` when it was not. */
  resumedAt(process: string, at: number): number | undefined {
    return this.#pauses.get(process)?.find(({ from, until }) => from <= at && at <= until)?.until
  }

  /** The instant by which a process has had `graceMs` to do what was due at `dueAt`. */
  doneBy(process: string, dueAt: number, graceMs: number): number {
    const standstills = this.#standstills.get(process) ?? []
    let byAt = dueAt + graceMs
    // In the order of their ends: one may delay it into the next.
    for (const { from, until } of standstills.toSorted((a, b) => a.until - b.until)) {
      if (from <= byAt && until >= dueAt) byAt = Math.max(byAt, until + graceMs)
    }
    return byAt
  }
}

function add(known: Map<string, Standstill[]>, process: string, standstill: Standstill): void {
  known.set(process, [...(known.get(process) ?? []), standstill])
}
