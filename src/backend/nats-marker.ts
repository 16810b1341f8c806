// The JSON that a run's key holds: who runs it, and then how it ended. It is the claim and, once
// the run has ended, the history.

import { briefText } from '../scheduler/logger.ts'
import type { BucketEntry } from './nats-client.ts'
import type { Outcome } from './outcome.ts'

/** What is stored. Instants are ISO 8601, by the clock of `host`. */
export interface Marker {
  readonly startedAt: string
  readonly host: string
  /** Tells one claim from another; a claimant knows its own by it when a reply was lost. */
  readonly claim: string
  readonly renewedAt?: string
  readonly completedAt?: string
  readonly failedAt?: string
  readonly error?: string
}

/** What can be told from an entry, whoever wrote it. */
export interface SeenMarker {
  readonly revision: number
  readonly text: string
  readonly claim: string | undefined
  readonly hasEnded: boolean
  /** When it was last known that somebody runs it. */
  readonly aliveAt: number
}

const ERROR_LENGTH_MAX = 1000

/** The marker of a run that has ended. */
export function endedMarker(marker: Marker, outcome: Outcome, now: number): Marker {
  const instant = new Date(now).toISOString()
  if (outcome.ok) return { ...marker, completedAt: instant }
  const error = briefText(outcome.error).slice(0, ERROR_LENGTH_MAX)
  return { ...marker, failedAt: instant, error }
}

/** Reads an entry; `undefined` for a key that was deleted. */
export function seenMarker(entry: BucketEntry | null): SeenMarker | undefined {
  if (!entry || entry.operation === 'DEL' || entry.operation === 'PURGE') return undefined
  const { revision } = entry
  const text = entry.string()
  const stored = entry.created.getTime()
  const { claim, startedAt, completedAt, failedAt } = fieldsOf(text)
  const hasEnded = completedAt !== undefined || failedAt !== undefined
  // Our own markers are written again while they are alive, and the server's clock says when. For
  // those of others there is only what they say; what says nothing is as old as its entry.
  if (typeof claim === 'string') return { revision, text, claim, hasEnded, aliveAt: stored }
  const started = new Date(startedAt as string | number).getTime()
  const aliveAt = Number.isNaN(started) ? stored : started
  return { revision, text, claim: undefined, hasEnded, aliveAt }
}

function fieldsOf(text: string): { readonly [name in keyof Marker]?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    // Somebody else's writing: not ours to repair, and as good as a marker without fields.
    return {}
  }
}
