// Named leases in the same bucket as the schedules, a key for each name.

import type { Clock } from '../../clock.ts'
import type { Lease, LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkText, checkToken } from '../arguments.ts'
import { nextToken } from '../transitions.ts'
import { Cells } from './cells.ts'
import type { NatsBucket } from './nats-bucket.ts'
import { keyOf, type StoredValue } from './stored-value.ts'

interface NamedLease extends Lease {
  readonly name: string
  /** Absent: released. The value stays, for its token. */
  readonly owner?: string
}

const PREFIX = 'lease'

/** Leases in a bucket, by `clock`. Names are checked as ids are. */
export class NatsLeaseProvider implements LeaseProvider {
  readonly #clock: Clock
  readonly #cells: Cells<NamedLease>

  constructor(options: { bucket: NatsBucket; timeoutMs: number; clock: Clock }) {
    const { clock, ...rest } = options
    this.#clock = clock
    this.#cells = new Cells({ ...rest, parse: readLease })
  }

  /** Forgets what was seen of the bucket. */
  forget(): void {
    this.#cells.forget()
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    const key = keyOf(PREFIX, name)
    checkText('owner', owner)
    checkDuration('ttlMs', ttlMs)
    return this.#cells.change<Lease | null>(key, ({ value: held, revision }) => {
      const now = this.#clock.now()
      const isFree = !held?.owner || held.owner === owner || held.leaseUntil <= now
      if (!isFree) return { result: null }
      // A key that another tool deleted goes on from the revision of that, as in schedules.
      const fencingToken = nextToken(held?.fencingToken ?? revision, name)
      const leaseUntil = now + ttlMs
      return {
        next: { name, owner, fencingToken, leaseUntil },
        result: { fencingToken, leaseUntil },
      }
    })
  }

  async renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean> {
    const key = keyOf(PREFIX, name)
    checkToken(fencingToken)
    checkDuration('ttlMs', ttlMs)
    return this.#cells.change<boolean>(key, ({ value: held }) => {
      const now = this.#clock.now()
      const isOpen = held?.owner && held.fencingToken === fencingToken && held.leaseUntil > now
      return isOpen
        ? { next: { ...held, leaseUntil: now + ttlMs }, result: true }
        : { result: false }
    })
  }

  async release(name: string, fencingToken: number): Promise<void> {
    const key = keyOf(PREFIX, name)
    checkToken(fencingToken)
    await this.#cells.change<void>(key, ({ value: held }) => {
      if (!held?.owner || held.fencingToken !== fencingToken) return { result: undefined }
      const { owner: _owner, ...free } = held
      return { next: free, result: undefined }
    })
  }
}

function readLease(stored: StoredValue): NamedLease {
  const name = stored.text('name')
  stored.assertKey('name', PREFIX)
  return {
    name,
    ...(stored.has('owner') ? { owner: stored.text('owner') } : {}),
    fencingToken: stored.token('fencingToken'),
    leaseUntil: stored.instant('leaseUntil'),
  }
}
