// Options of a scheduler, and the check of their names and of what has methods; other values are
// checked where they are used.

import type { Dialect } from '../../bindings/index.ts'
import type { Clock } from '../clock.ts'
import type { Duration } from '../duration.ts'
import type { Coordinator, LeaseProvider } from '../lease/lease.ts'
import type { ScheduleStore } from '../store/store.ts'
import type { Logger } from './logger.ts'
import { checkNames } from './options.ts'

/** Options of a scheduler. All have defaults. */
export interface SchedulerOptions {
  /** The zone of cron tasks that name none; default `'local'`, the zone of the process. */
  readonly timeZone?: string | undefined
  /** The dialect of cron tasks that name none; default `'standard'`. */
  readonly dialect?: Dialect | undefined
  /** Where durable tasks are stored; default a `MemoryScheduleStore`. */
  readonly store?: ScheduleStore | undefined
  /** Lets one replica claim on time and the others only what is overdue. */
  readonly lease?: LeaseProvider | Coordinator | undefined
  /** A name for this replica in stored leases; a random part is added. */
  readonly owner?: string | undefined
  /** The pace of retries, and the grace period without a leader; default 1 s. */
  readonly tickMs?: Duration | undefined
  /** How long leadership holds unless renewed; default 30 s. */
  readonly leaderTtlMs?: Duration | undefined
  /** How long `stop` waits for handlers; default 10 s. */
  readonly drainMs?: Duration | undefined
  /** Parts the ids of this scheduler from those of others in the same store. */
  readonly namespace?: string | undefined
  /** Default: warnings and errors to the console. */
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
  /** Pending slots do not keep the process alive; default false. */
  readonly unref?: boolean | undefined
}

const OPTION_NAMES = [
  'timeZone',
  'dialect',
  'store',
  'lease',
  'owner',
  'tickMs',
  'leaderTtlMs',
  'drainMs',
  'namespace',
  'logger',
  'clock',
  'unref',
]

const STORE_METHODS = ['get', 'register', 'claimDue', 'renew', 'complete', 'delete', 'list']
const PROVIDER_METHODS = ['acquire', 'renew', 'release']
const COORDINATOR_METHODS = ['start', 'stop', 'isLeader']

/** Throws a `TypeError` for an option that a scheduler does not have, or that cannot be one. */
export function checkSchedulerOptions(options: SchedulerOptions): void {
  checkNames('scheduler', options, OPTION_NAMES)
  const { store, lease, clock } = options
  if (store) checkMethods('store', store, STORE_METHODS, 'pass store.schedules()')
  if (clock) checkMethods('clock', clock, ['now', 'monotonic', 'setTimer'], 'pass a Clock')
  if (!lease) return
  const methods = 'isLeader' in Object(lease) ? COORDINATOR_METHODS : PROVIDER_METHODS
  checkMethods('lease', lease, methods, 'pass store.leases() or a Coordinator')
}

function checkMethods(name: string, value: object, methods: readonly string[], hint: string): void {
  const missing = methods.find((method) => typeof Reflect.get(Object(value), method) !== 'function')
  if (missing === undefined) return
  throw new TypeError(`${name}: has no method ${missing}(); ${hint}`)
}
