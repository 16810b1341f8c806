// Named leases beside the schedules, one script per call.

import type { Clock } from '../../clock.ts'
import type { Lease, LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkText, checkToken, idBytes } from '../arguments.ts'
import { nextToken } from '../transitions.ts'
import type { RedisConnection } from './redis-connection.ts'
import type { Keys } from './redis-keys.ts'
import { ACQUIRE, EXTEND, RELEASE } from './redis-lease-statements.ts'
import { damage, type Reply } from './redis-records.ts'
import type { Script } from './redis-statements.ts'

/** Leases in Redis, by `clock`. Names are checked as ids are. */
export class RedisLeaseProvider implements LeaseProvider {
  readonly #connection: RedisConnection
  readonly #clock: Clock
  readonly #keys: Keys

  constructor(connection: RedisConnection, keys: Keys, clock: Clock) {
    this.#connection = connection
    this.#keys = keys
    this.#clock = clock
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    idBytes(name)
    checkText('owner', owner)
    checkDuration('ttlMs', ttlMs)
    const now = this.#clock.now()
    const leaseUntil = now + ttlMs
    const [state, token] = await this.#run(ACQUIRE, name, [owner, String(now), String(leaseUntil)])
    if (state === 'no') return null
    if (state === 'full') nextToken(Number.MAX_SAFE_INTEGER, name) // Throws.
    return { fencingToken: Number(token), leaseUntil }
  }

  async renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean> {
    idBytes(name)
    checkToken(fencingToken)
    checkDuration('ttlMs', ttlMs)
    const now = this.#clock.now()
    const args = [String(fencingToken), String(now), String(now + ttlMs)]
    const [state] = await this.#run(EXTEND, name, args)
    return state === 'yes'
  }

  async release(name: string, fencingToken: number): Promise<void> {
    idBytes(name)
    checkToken(fencingToken)
    await this.#run(RELEASE, name, [String(fencingToken)])
  }

  async #run(script: Script, name: string, args: readonly string[]): Promise<Reply> {
    const key = this.#keys.lease(name)
    const reply = (await this.#connection.run(script, { keys: [key], args })) as Reply
    const [state, kind] = reply
    if (state === 'type') throw damage(key, name, `it is a ${kind}, and must be a hash`)
    if (state === 'bad') {
      throw damage(key, name, 'it must have owner, and integers in until and fencingToken')
    }
    return reply
  }
}
