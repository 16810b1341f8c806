// What NATS and its driver report, sorted by whether the write happened. A server that answers with
// an error has stored nothing; no answer leaves the outcome open.

import type { Failure } from '../failures.ts'

const APPLIED_NOTHING = { outcome: 'not-applied' } as const

const NO_JETSTREAM = 'start nats-server with JetStream (-js), and enable it for the account'

/** By the code that JetStream gives. */
const API_FAILURES: Readonly<Record<number, Partial<Failure>>> = {
  10008: { remedy: 'the cluster has no leader at the moment' },
  10023: { remedy: 'give the server or the account more storage' },
  10025: {},
  10026: { remedy: NO_JETSTREAM },
  10039: { remedy: NO_JETSTREAM },
  10047: { remedy: 'give the server or the account more storage' },
  10054: { remedy: 'the value is larger than the bucket takes: shorten the spec' },
  10059: { remedy: 'was the bucket deleted?' },
  10076: { remedy: NO_JETSTREAM },
  10077: { remedy: 'the bucket is full, or its disk is: raise its limits' },
  10122: { remedy: 'the server has too much to do at the moment' },
  10167: { remedy: 'the server has too much to do at the moment' },
}

/** By the name of the driver's error class; each is thrown before anything is sent, or refused. */
const DRIVER_FAILURES: Readonly<Record<string, Partial<Failure>>> = {
  InvalidArgumentError: {},
  InvalidSubjectError: {},
  JetStreamNotEnabled: {
    remedy: `is the bucket still there? If JetStream is off: ${NO_JETSTREAM}`,
  },
  NoRespondersError: { remedy: NO_JETSTREAM },
  AuthorizationError: { remedy: 'check the user, the password or the token' },
  UserAuthenticationExpiredError: { remedy: 'the credentials have expired: renew them' },
  PermissionViolationError: {
    remedy: 'the user must be allowed to publish to $KV.<bucket>.> and $JS.API.>',
  },
}

/** The revision that a write was to replace is not the stored one. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === 10071 || code === 10164
}

/** The stream did not answer, or is not there: whatever is known of it is out of date. */
export function isBucketGone(error: unknown): boolean {
  return codeOf(error) === 10059 || namesOf(error).includes('JetStreamNotEnabled')
}

/** A failure to connect: nothing was sent. */
export function connectFailure(error: unknown): Failure {
  const remedy =
    driverRow(error)?.remedy ?? 'is nats-server running there, and can it be reached from here?'
  return { ...APPLIED_NOTHING, remedy }
}

/** A failure to open the bucket: nothing was stored. */
export function openFailure(error: unknown, mayCreate: boolean): Failure {
  if (codeOf(error) === 10059 && !mayCreate) {
    return { ...APPLIED_NOTHING, remedy: 'create the bucket, or name another one' }
  }
  const remedy = (API_FAILURES[codeOf(error) ?? 0] ?? driverRow(error))?.remedy
  return { ...APPLIED_NOTHING, ...(remedy === undefined ? {} : { remedy }) }
}

/** A failure of a request that was sent, or refused on the way. */
export function requestFailure(error: unknown): Failure {
  const row = API_FAILURES[codeOf(error) ?? 0] ?? driverRow(error)
  return row ? { ...APPLIED_NOTHING, ...row } : { outcome: 'unknown' }
}

function driverRow(error: unknown): Partial<Failure> | undefined {
  for (const name of namesOf(error)) {
    const row = DRIVER_FAILURES[name]
    if (row) return row
  }
  return undefined
}

function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'number' ? code : undefined
}

// What was wrong is sometimes the cause of what is thrown; and classes are told by their name, for
// there may be two copies of the driver.
function namesOf(error: unknown): string[] {
  const names: string[] = []
  for (let each = error; each instanceof Error && names.length < 5; each = each.cause) {
    names.push(each.name, each.constructor.name)
  }
  return names
}
