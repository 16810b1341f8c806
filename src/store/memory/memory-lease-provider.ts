// Named leases in this process's memory: the reference LeaseProvider.

import { type Clock, systemClock } from '../../clock.ts'
import type { Lease, LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkText, checkToken } from '../arguments.ts'
import { nextToken } from '../transitions.ts'

interface NamedLease extends Lease {
  /** `null`: released. The row stays, for its token. */
  readonly owner: string | null
}

/** Leases of one process, by `clock` (default: the machine's). Each grant has a higher token. */
export class MemoryLeaseProvider implements LeaseProvider {
  readonly #clock: Clock
  readonly #leases = new Map<string, NamedLease>()

  constructor({ clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.#clock = clock
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    checkText('name', name)
    checkText('owner', owner)
    checkDuration('ttlMs', ttlMs)
    const held = this.#leases.get(name)
    const now = this.#clock.now()
    const isTaken = held && held.owner !== null && held.owner !== owner && held.leaseUntil > now
    if (isTaken) return null
    const fencingToken = nextToken(held?.fencingToken ?? 0, name)
    this.#leases.set(name, { owner, fencingToken, leaseUntil: now + ttlMs })
    return { fencingToken, leaseUntil: now + ttlMs }
  }

  async renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean> {
    checkDuration('ttlMs', ttlMs)
    const held = this.#held(name, fencingToken)
    const now = this.#clock.now()
    if (!held || held.leaseUntil <= now) return false
    this.#leases.set(name, { ...held, leaseUntil: now + ttlMs })
    return true
  }

  async release(name: string, fencingToken: number): Promise<void> {
    const held = this.#held(name, fencingToken)
    if (held) this.#leases.set(name, { ...held, owner: null })
  }

  #held(name: string, fencingToken: number): NamedLease | undefined {
    checkText('name', name)
    checkToken(fencingToken)
    const lease = this.#leases.get(name)
    return lease?.owner != null && lease.fencingToken === fencingToken ? lease : undefined
  }
}
