// What Redis and its drivers report, sorted by whether the script happened. A server's error reply
// begins with its code; our scripts look at everything before they write, so a refusal that is in
// the table came before the first write. Everything else leaves the outcome open.

import { type Failure, failureError } from '../failures.ts'

const NO_CHANGE = { outcome: 'not-applied' } as const
const IN_A_MOMENT = { ...NO_CHANGE, isTransient: true } as const

const PASSWORD = 'check the user and the password'
const PRIMARY = 'connect to the primary'

/** By the first word of an error reply. */
const REPLIES: Readonly<Record<string, Failure>> = {
  LOADING: IN_A_MOMENT,
  BUSY: { ...IN_A_MOMENT, remedy: 'a script of somebody else holds the server up' },
  TRYAGAIN: IN_A_MOMENT,
  CLUSTERDOWN: { ...IN_A_MOMENT, remedy: 'look at CLUSTER INFO on a node' },
  MOVED: { ...IN_A_MOMENT, remedy: 'the server is part of a cluster: hand in a cluster client' },
  ASK: IN_A_MOMENT,
  MASTERDOWN: IN_A_MOMENT,
  READONLY: { ...IN_A_MOMENT, remedy: `the server is a replica: ${PRIMARY}` },
  OOM: {
    ...NO_CHANGE,
    remedy: 'the server is full: give it more memory, or raise maxmemory',
  },
  MISCONF: { ...NO_CHANGE, remedy: 'the server cannot save to its disk: look at its log' },
  NOREPLICAS: { ...NO_CHANGE, remedy: 'too few replicas follow: see min-replicas-to-write' },
  NOAUTH: { ...NO_CHANGE, remedy: PASSWORD },
  WRONGPASS: { ...NO_CHANGE, remedy: PASSWORD },
  NOPERM: {
    ...NO_CHANGE,
    remedy:
      'the user needs the keys {prefix}:* and EVAL, EVALSHA, TIME and those of hashes and sets',
  },
  CROSSSLOT: { ...NO_CHANGE, remedy: 'keys were changed on their way, by a proxy or a keyPrefix' },
}

const REACHABLE = 'is the server running there, and reachable?'

/** What drivers say of a request that they never wrote. */
const NEVER_SENT: readonly RegExp[] = [
  /^Stream isn't writeable and enableOfflineQueue/, // ioredis
  /^Cluster isn't ready and enableOfflineQueue/,
  /^Cluster is ended/,
  /^The client is (closed|offline)/, // node-redis
]

/** What a server is that may lag behind its primary, and be promoted with old tokens. */
export class ReplicaError extends Error {
  override readonly name = 'ReplicaError'

  constructor() {
    super('this server is a replica, which may lag behind and be promoted with old tokens')
  }
}

/** The refusal of a replica; `store` is what errors call it. */
export function replicaRefused(store: string) {
  const error = new ReplicaError()
  return failureError(connectFailure(error), { store, isWrite: false }, error)
}

/** A failure to connect: nothing was sent. */
export function connectFailure(error: unknown): Failure {
  if (error instanceof ReplicaError) return { ...NO_CHANGE, remedy: PRIMARY }
  return { remedy: REACHABLE, ...replyFailure(error), ...NO_CHANGE }
}

/** A failure of a script that was handed to the driver. */
export function requestFailure(error: unknown): Failure {
  const text = messageOf(error)
  if (NEVER_SENT.some((pattern) => pattern.test(text))) {
    return { ...NO_CHANGE, remedy: REACHABLE }
  }
  return replyFailure(error) ?? { outcome: 'unknown' }
}

/** Whether the server has no such command, or not for this user. */
export function isRefusedCommand(error: unknown): boolean {
  return /^(ERR|NOPERM) /.test(messageOf(error))
}

/** Whether the server has forgotten the script, or never knew it. */
export function isUnknownScript(error: unknown): boolean {
  return messageOf(error).startsWith('NOSCRIPT')
}

// Before version 7 the reply to a refusal inside of a script is wrapped in one of its own.
const CODE = /^(?:ERR Error running script.*: -)?([A-Z]+) /

function replyFailure(error: unknown): Failure | undefined {
  return REPLIES[CODE.exec(messageOf(error))?.[1] ?? '']
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')
