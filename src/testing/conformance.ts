// The shape of the conformance suite: cases as values, so that any runner can run them. A case
// opens a subject of its own, runs, and closes it; it passes when its promise resolves.

import type { LeaseProvider } from '../lease/lease.ts'
import type { ScheduleRecord, ScheduleStore } from '../store/store.ts'
import { Stage } from './stage.ts'

/** One fact about a store. */
export interface ConformanceCase {
  /** What the fact is about: a method, or a trait such as `ids` or `races`. */
  readonly group: string
  readonly name: string
  /** Rejects with a plain `Error` that says what was expected and what was found. */
  run(): Promise<void>
}

/** What a store can do. Cases follow it: batch methods not supported are checked to be absent. */
export interface StoreCapabilities {
  /** It has all the optional methods: `getMany`, `registerMany`, `claimDueMany` and so on. */
  readonly batch: boolean
  /** Several clients can open the same rows: `StoreSubject.another` is there. */
  readonly clients: boolean
  /** `open` can put rows into the store behind its back, to reach the ends of the numbers. */
  readonly seeding: boolean
  /**
   * It is more careful than the contract asks, as all bundled stores are. It refuses ids that are
   * none, though the engine checks them, and a commit under the newest token when its claim is not
   * open (it was committed, or never was); and a renewal moves a deadline back only to hand the
   * slot back, since a late one may follow a newer. Not checked unless set.
   */
  readonly strict?: boolean
}

/** One empty store, opened for one case. */
export interface StoreSubject {
  readonly store: ScheduleStore
  /** Another client of the same rows, as another process would have. */
  another?(): Promise<ScheduleStore>
  /** Closes all clients and removes the rows. */
  close(): Promise<void>
}

/** What the suite needs to know to test a store. */
export interface StoreSuite {
  readonly supports: StoreCapabilities
  /** A store that holds `rows` and nothing else; always `[]` unless `seeding` is supported. */
  open(rows: readonly ScheduleRecord[]): Promise<StoreSubject>
}

/** One empty lease provider, opened for one case, and the clock that its leases run by. */
export interface LeaseSubject {
  readonly provider: LeaseProvider
  /** Another client of the same leases; absent when there can be none. */
  another?(): Promise<LeaseProvider>
  /** Lets `ms` pass on the provider's clock: virtual time, or a real wait. */
  advance(ms: number): Promise<void>
  close(): Promise<void>
}

/** What the suite needs to test a lease provider. */
export interface LeaseSuite {
  open(): Promise<LeaseSubject>
}

/** The two functions of a test runner; Vitest, Jest, Mocha and node:test have them. */
export interface Runner {
  describe(name: string, body: () => void): unknown
  it(name: string, body: () => Promise<void>): unknown
}

/** Hands the cases to a runner, one `describe` per group. */
export function declareCases(cases: readonly ConformanceCase[], { describe, it }: Runner): void {
  for (const group of new Set(cases.map((each) => each.group))) {
    describe(group, () => {
      for (const each of cases) if (each.group === group) it(each.name, () => each.run())
    })
  }
}

/** The body of a case over a store. */
export type StoreCaseBody = (stage: Stage) => Promise<void>

/** Cases by name, on a fresh store each. `at` is the instant that they play around. */
export function storeCases(
  suite: StoreSuite,
  { group, at, rows = [] }: { group: string; at: number; rows?: readonly ScheduleRecord[] },
  bodies: Readonly<Record<string, StoreCaseBody>>,
): ConformanceCase[] {
  return Object.entries(bodies).map(([name, body]) => ({
    group,
    name,
    async run() {
      const subject = await suite.open(rows)
      try {
        await subject.store.start?.()
        await body(new Stage(subject, at))
      } finally {
        await subject.close()
      }
    },
  }))
}
