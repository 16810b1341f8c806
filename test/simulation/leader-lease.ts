// Leadership for simulated replicas: a provider of leases over the network, or a coordinator that
// believes whatever it is told, so that there may be no leader, or several.

import type { Coordinator, Lease, LeaseProvider } from '../../src/index.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

interface Held {
  readonly owner: string
  readonly lease: Lease
}

/** The leases of a simulated store, by its own clock, which is right. */
export class LeaderLeases {
  readonly #world: World
  readonly #held = new Map<string, Held>()
  #tokens = 0

  constructor(world: World) {
    this.#world = world
  }

  /** The provider as one process sees it. */
  client(process: Process): LeaseProvider {
    const send = <Reply>(arrive: () => Reply) => {
      if (process.isDead) return new Promise<Reply>(() => {})
      return this.#world.network.send({ process, isBatch: false, arrive, delivered: () => {} })
    }
    return {
      acquire: async (name, owner, ttlMs) => send(() => this.#acquire(name, owner, ttlMs)),
      renew: async (name, token, ttlMs) => send(() => this.#renew(name, token, ttlMs)),
      release: async (name, token) => {
        await send(() => this.#release(name, token))
      },
    }
  }

  #acquire(name: string, owner: string, ttlMs: number): Lease | null {
    const { now } = this.#world.timeline
    const held = this.#held.get(name)
    if (held && held.owner !== owner && held.lease.leaseUntil > now) return null
    if (held?.owner !== owner) {
      this.#world.tally.count('leader: gained')
      if (held) this.#world.tally.count('leader: lost')
    }
    const lease = { fencingToken: ++this.#tokens, leaseUntil: now + ttlMs }
    this.#held.set(name, { owner, lease })
    return lease
  }

  #renew(name: string, fencingToken: number, ttlMs: number): boolean {
    const { now } = this.#world.timeline
    const held = this.#held.get(name)
    if (held?.lease.fencingToken !== fencingToken || held.lease.leaseUntil <= now) return false
    this.#held.set(name, { ...held, lease: { fencingToken, leaseUntil: now + ttlMs } })
    return true
  }

  #release(name: string, fencingToken: number): true {
    if (this.#held.get(name)?.lease.fencingToken === fencingToken) this.#held.delete(name)
    return true
  }
}

/** Believes what it is told. */
export class Belief implements Coordinator {
  isLeading = false
  /** Sometimes it cannot even say. */
  isBroken = false

  async start(): Promise<void> {}

  async stop(): Promise<void> {}

  isLeader(): boolean {
    if (this.isBroken) throw new Error('the coordinator has no answer')
    return this.isLeading
  }
}
