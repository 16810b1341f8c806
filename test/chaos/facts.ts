// The log of a chaos run: a line per fact, appended in one write by whom it happened to, replicas
// and director alike, to one file outside the store. So the order of the lines is an order in which
// things happened: what is written before a request is sent comes before what follows its answer.

import { openSync, readFileSync, writeSync } from 'node:fs'

/** How far a request to the store has come; `failed` says nothing about what the store did. */
export type Step = 'sent' | 'granted' | 'refused' | 'failed'

/** A request about one id; those of one call for many share the number of the call. */
interface Request {
  readonly step: Step
  readonly call: number
  readonly id: string
}

/** A claim as the store granted it. */
export interface Grant {
  readonly token: number
  readonly slot: number
  readonly leaseUntil: number
}

export interface ClaimFact extends Request {
  readonly what: 'claim'
  /** Fresh for every attempt. */
  readonly owner: string
  /** The instant that the claim was decided by. */
  readonly now: number
  readonly grant?: Grant & { readonly takenOver: boolean }
}

/** A row that was read shows a claim whose answer its replica never got. */
export interface FoundFact extends Grant {
  readonly what: 'found'
  readonly id: string
  readonly owner: string
}

/** A renewal, or the end of a lease: a slot is handed back by a deadline that has passed. */
export interface RenewFact extends Request {
  readonly what: 'renew'
  readonly token: number
  readonly leaseUntil: number
}

export interface CommitFact extends Request {
  readonly what: 'commit'
  readonly token: number
  readonly nextRunAt: number | null
}

/** A handler began, came to its end, gave up when it was told to, or was told to. */
export interface RunFact {
  readonly what: 'run' | 'ran' | 'gave up' | 'aborted'
  readonly id: string
  readonly token: number
  readonly slot: number
  readonly missed: boolean
}

/** What the scheduler said of a claim. */
export interface EventFact {
  readonly what: 'event'
  readonly event: 'commit' | 'commit-rejected' | 'commit-unknown' | 'lease-lost' | 'claim-adopted'
  readonly id: string
  readonly token: number
  readonly slot: number
}

/** What a row said when a replica registered it, and when all had ended. */
export interface RowFact {
  readonly what: 'registered' | 'row at the end'
  readonly id: string
  readonly slot: number | null
  readonly token?: number
  readonly leaseUntil?: number
}

/** The life of a replica. It tells by itself of moments in which its event loop stood still. */
export type ProcessFact =
  | { readonly what: 'spawned' | 'started' | 'paused' | 'resumed' | 'gone' }
  | { readonly what: 'stalled'; readonly from: number }

/** For readers, except that after `calm` no fault is under way. */
export type Note =
  | { readonly what: 'store error' | 'fault'; readonly text: string }
  | { readonly what: 'calm' }

/** What one line says besides who wrote it and when. */
export type Telling =
  | ClaimFact
  | FoundFact
  | RenewFact
  | CommitFact
  | RunFact
  | EventFact
  | RowFact
  | ProcessFact
  | Note

/** A line: by which replica (a process; `director` for the run itself), and at which instant. */
export type Fact = Telling & { readonly by: string; readonly at: number }

/** Appends to the log in the name of one writer, or of another where told so. */
export function openLog(path: string, writer: string) {
  const file = openSync(path, 'a')
  return (telling: Telling, by = writer): void => {
    writeSync(file, `${JSON.stringify({ at: Date.now(), by, ...telling })}\n`)
  }
}

/** All facts, in the order of their lines. */
export function readLog(path: string): Fact[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}
