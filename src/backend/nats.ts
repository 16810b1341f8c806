// The backend for many processes (SPEC §4): one bucket of a NATS server, in which each run is
// claimed, kept and remembered. The connection is the caller's, who opens and closes it.

import { type Clock, systemClock } from '../clock.ts'
import type { Backend } from './contract.ts'
import { type NatsConnection, openBucket } from './nats-client.ts'
import { NatsRegistration } from './nats-registration.ts'
import { NatsRuns } from './nats-runs.ts'
import { checkedSpec } from './registration-spec.ts'
import { SlotTimers } from './slot-timer.ts'

/** Options of `nats`. */
export interface NatsOptions {
  /** A live connection, of `@nats-io/transport-node` or a sibling of it. */
  readonly connection: NatsConnection
  /** Default `'scheduler'`. One that exists keeps its configuration. */
  readonly bucket?: string | undefined
  /** How long a bucket that is created here keeps its entries; default for ever. */
  readonly history?: { readonly ttlMs: number } | undefined
  /** How long a run may go without a sign of life of its holder; default 5 minutes. */
  readonly lockTtlMs?: number | undefined
  readonly clock?: Clock | undefined
}

const LOCK_TTL_MS = 300_000

/**
 * Runs registrations in one of the processes that share a bucket. Intervals count from the epoch,
 * so that replicas agree on the slots.
 * @throws {TypeError} or {RangeError} for a wrong option; a bucket that cannot be opened is told by
 *   the ticks, through `onError`
 */
export function nats(options: NatsOptions): Backend {
  const { connection, bucket = 'scheduler', history, clock = systemClock } = options
  if (typeof connection !== 'object' || connection === null) {
    throw new TypeError('connection: must be a connection to NATS; await connect({ servers })')
  }
  if (typeof bucket !== 'string') {
    throw new TypeError(`bucket: must be the name of a bucket, not ${typeof bucket}`)
  }
  const lockTtlMs = checkedMs('lockTtlMs', options.lockTtlMs ?? LOCK_TTL_MS)
  const ttlMs = history && checkedMs('history.ttlMs', history.ttlMs)
  const timers = new SlotTimers(clock)
  // A marker must not expire under its holder's hands either.
  const renewAfterMs = Math.min(lockTtlMs, ttlMs ?? lockTtlMs) / 3

  let opening: Promise<NatsRuns> | undefined
  const open = () => {
    opening ??= openRuns().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }
  /** A bucket may have been deleted, which is not told from other failures: it is made again. */
  const forget = () => {
    opening = undefined
  }
  const openRuns = async () => {
    const { hostname } = await import('node:os')
    return new NatsRuns({
      bucket: await openBucket(connection, { bucket, ttlMs }),
      clock: timers.queue,
      host: hostname(),
      lockTtlMs,
      renewAfterMs,
    })
  }

  return {
    register(spec, tick) {
      const checked = checkedSpec(spec, tick, 0)
      const live = new NatsRegistration({ spec: checked, timers, lockTtlMs, open, forget })
      return {
        trigger: (dedupKey) => live.trigger(dedupKey),
        next: () => live.next(),
        stop: () => live.stop(),
      }
    },
  }
}

function checkedMs(name: string, ms: number): number {
  if (typeof ms !== 'number') throw new TypeError(`${name}: must be a number, not ${typeof ms}`)
  if (Number.isSafeInteger(ms) && ms > 0) return ms
  throw new RangeError(`${name}: must be a positive whole number of milliseconds, not ${ms}`)
}
