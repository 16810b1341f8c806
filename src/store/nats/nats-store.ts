// What users hold: a bucket of a NATS server, and the parts of the library that live in it.

import { ServerStore, type ServerStoreOptions } from '../server-store.ts'
import { NatsBucket } from './nats-bucket.ts'
import { NatsLeaseProvider } from './nats-lease-provider.ts'
import { NatsSchedules } from './nats-schedules.ts'
import { type NatsSourceOptions, sourceOf } from './nats-source.ts'

/** Options of a {@link NatsStore}: `servers`, or a `connection` of your own; and a `bucket`. */
export type NatsStoreOptions = ServerStoreOptions & NatsSourceOptions

/**
 * Schedules and leases in a key-value bucket of NATS (2.10 or newer, with JetStream), for any
 * number of replicas.
 *
 * Each call replaces the one revision that it was decided from, so of several replicas one
 * succeeds. Methods reject with a `CronfenceError`: `STORE_UNAVAILABLE` when the server cannot be
 * reached or refused, and nothing was changed; `STORE_OUTCOME_UNKNOWN` when no reply came and it
 * could not be found out in time what became of the write; `STORE_DRIVER_MISSING`;
 * `STORE_FOREIGN_SCHEMA` for a bucket whose settings would lose tokens, or that is not the one of
 * the start; `STORE_DAMAGED_RECORD` or `STORE_NEWER_SCHEMA` for a value that cannot be read;
 * `STORE_TOKEN_CEILING`; `STORE_CLOSED`.
 */
export class NatsStore extends ServerStore {
  /** Connects to nothing yet. Throws a `TypeError` or `RangeError` for wrong options. */
  constructor(options: NatsStoreOptions) {
    const source = sourceOf(options)
    super(({ clock, timeoutMs, onWarning }) => {
      const onChange = () => {
        schedules.forget()
        leases.forget()
      }
      const bucket = new NatsBucket({ source, timeoutMs, onWarning, onChange })
      const schedules = new NatsSchedules({ bucket, timeoutMs, clock })
      const leases = new NatsLeaseProvider({ bucket, timeoutMs, clock })
      return {
        schedules,
        leases,
        open: () => bucket.open(),
        close: () => bucket.close(),
        purge: (olderThan) => schedules.purge(olderThan),
        serverNow: () => bucket.serverNow(),
      }
    }, options)
  }
}
