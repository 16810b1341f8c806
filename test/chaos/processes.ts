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

  constructor(facts: readonly Fact[]) {
    const pausedAt = new Map<string, number>()
    for (const fact of facts) {
      const { by, at } = fact
      if (fact.what === 'paused') pausedAt.set(by, at)
      else if (fact.what === 'resumed') this.#add(by, { from: pausedAt.get(by) ?? at, until: at })
      else if (fact.what === 'stalled') this.#add(by, { from: fact.from, until: at })
    }
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

  #add(process: string, standstill: Standstill): void {
    const known = this.#standstills.get(process)
    if (known) known.push(standstill)
    else this.#standstills.set(process, [standstill])
  }
}
