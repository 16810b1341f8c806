// What MongoDB and its driver report, sorted by whether the write happened. A server that refuses a
// command before its first write says so by one of few codes; what it says later, or says nothing
// of, leaves the outcome open.

import type { Failure } from '../failures.ts'

const NO_CHANGE = { outcome: 'not-applied' } as const
const IN_A_MOMENT = { ...NO_CHANGE, isTransient: true } as const
const UNKNOWN = { outcome: 'unknown' } as const

const PASSWORD = 'check the user, the password and the authSource of the URL'
const ELECTION = 'the set has no primary at the moment'
const REACHABLE = 'is the server running there, and reachable?'
const CLOSED = 'the client that was handed in is closed'
const CHECK_URL = 'check the url'

/** The code of an insertion whose `_id` is there already. */
export const DUPLICATE_KEY = 11000

/** The primary stepped down, or ended, in the middle of it. */
const STEPPED_DOWN = { ...UNKNOWN, isTransient: true } as const

/** By the server's code. */
const FAILURES: Readonly<Record<number, Failure>> = {
  13: { ...NO_CHANGE, remedy: 'the user needs the role readWrite on the database' },
  18: { ...NO_CHANGE, remedy: PASSWORD },
  8000: { ...NO_CHANGE, remedy: PASSWORD },
  73: { ...NO_CHANGE, remedy: 'name another database' },
  112: IN_A_MOMENT, // WriteConflict
  121: { ...NO_CHANGE, remedy: 'a validator on the collection refuses it: remove the validator' },
  10058: { ...IN_A_MOMENT, remedy: ELECTION },
  10107: { ...IN_A_MOMENT, remedy: ELECTION },
  13435: { ...IN_A_MOMENT, remedy: ELECTION },
  13436: { ...IN_A_MOMENT, remedy: ELECTION },
  14031: { ...NO_CHANGE, remedy: 'make room on the disk' },
  91: STEPPED_DOWN,
  189: STEPPED_DOWN,
  11600: STEPPED_DOWN,
  11602: STEPPED_DOWN,
  50: { ...UNKNOWN, remedy: 'the server did not finish it within timeoutMs' },
  64: { ...UNKNOWN, remedy: 'too few members of the set confirmed it: is a majority of them up?' },
  100: { ...UNKNOWN, remedy: 'the set has too few members that keep data for a majority' },
}

/** By the name of the error's class. Where it says not applied, nothing was sent. */
const CLASSES: Readonly<Record<string, Failure>> = {
  MongoServerSelectionError: { ...NO_CHANGE, remedy: REACHABLE },
  MongoPoolClearedError: { ...IN_A_MOMENT, remedy: REACHABLE },
  // Commands that were under way ended so.
  PoolClearedOnNetworkError: { ...UNKNOWN, isTransient: true },
  MongoPoolClosedError: { ...NO_CHANGE, remedy: CLOSED },
  MongoNotConnectedError: { ...NO_CHANGE, remedy: CLOSED },
  MongoTopologyClosedError: { ...NO_CHANGE, remedy: CLOSED },
  // Commands that are under way end so as well.
  MongoClientClosedError: { ...UNKNOWN, remedy: 'the client was closed meanwhile' },
  DeadlineError: { ...UNKNOWN, remedy: REACHABLE },
  MongoServerClosedError: IN_A_MOMENT,
  MongoWaitQueueTimeoutError: { ...NO_CHANGE, remedy: 'raise connectionsMax' },
  MongoParseError: { ...NO_CHANGE, remedy: CHECK_URL },
  MongoInvalidArgumentError: { ...NO_CHANGE, remedy: CHECK_URL },
  MongoAPIError: { ...NO_CHANGE, remedy: CHECK_URL },
  MongoMissingCredentialsError: { ...NO_CHANGE, remedy: PASSWORD },
  MongoMissingDependencyError: { ...NO_CHANGE, remedy: 'install the package' },
  MongoCompatibilityError: { ...NO_CHANGE, remedy: 'the server is too old for the driver' },
}

/** A failure to open a client: nothing was sent. */
export function openFailure(error: unknown): Failure {
  return { remedy: CHECK_URL, ...rowOf(error), ...NO_CHANGE }
}

/** A failure of a command, of one of its writes, or of the wait for a majority. */
export function commandFailure(error: unknown): Failure {
  const row = rowOf(error)
  // It was carried out, only no majority confirmed it: whatever the code is.
  if (nameOf(error) === 'MongoWriteConcernError') return { ...row, ...UNKNOWN }
  if (row) return row
  if (hasLabel(error, 'HandshakeError')) return { ...IN_A_MOMENT, remedy: REACHABLE }
  // Of reads alone it matters that the next connection may be a better one.
  return nameOf(error).startsWith('MongoNetwork') ? { ...UNKNOWN, isTransient: true } : UNKNOWN
}

function rowOf(error: unknown): Failure | undefined {
  const { code } = error as { code?: unknown }
  return (typeof code === 'number' ? FAILURES[code] : undefined) ?? CLASSES[nameOf(error)]
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')

function hasLabel(error: unknown, label: string): boolean {
  const { errorLabels } = error as { errorLabels?: unknown }
  return Array.isArray(errorLabels) && errorLabels.includes(label)
}
