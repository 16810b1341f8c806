// Leadership leases (SPEC §3.1): optional, and never needed for correctness. They only decide which
// replica claims on time; the token of every claim decides what counts.

/** A lease that was won. */
export interface Lease {
  /** Strictly increasing per name, also across release and expiry. */
  readonly fencingToken: number
  /** When it lapses, by the provider's clock. */
  readonly leaseUntil: number
}

/** Grants named leases with fenced tokens. */
export interface LeaseProvider {
  /** Takes the lease when it is free, lapsed or this owner's already; `null`: another has it. */
  acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null>
  /** Extends a lease to `ttlMs` from now. `false`: the token is stale or the lease has lapsed. */
  renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean>
  /** Gives the lease up; does nothing when the token is stale. */
  release(name: string, fencingToken: number): Promise<void>
}

/** Keeps leadership by itself: renews while it holds it and tries again when it does not. */
export interface Coordinator {
  start(): Promise<void>
  /** Stops renewing and gives leadership up. */
  stop(): Promise<void>
  /** Whether this replica may act as the leader at this moment; `false` when in doubt. */
  isLeader(): boolean
}
