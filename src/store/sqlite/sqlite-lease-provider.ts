// Named leases in the same file as the schedules, one transaction per call.

import type { Clock } from '../../clock.ts'
import type { Lease, LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkText, checkToken, idBytes } from '../arguments.ts'
import { type Row, RowReader } from '../stored-row.ts'
import { nextToken } from '../transitions.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { placeOf } from './sqlite-rows.ts'
import type { Statements, Tables } from './sqlite-statements.ts'

interface NamedLease extends Lease {
  /** `null`: released. The row stays, for its token. */
  readonly owner: string | null
}

/** Leases in an SQLite file, by this process's clock. Names are checked as ids are. */
export class SqliteLeaseProvider implements LeaseProvider {
  readonly #connection: SqliteConnection
  readonly #tables: Tables
  readonly #clock: Clock

  constructor(options: { connection: SqliteConnection; tables: Tables; clock: Clock }) {
    this.#connection = options.connection
    this.#tables = options.tables
    this.#clock = options.clock
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    const key = idBytes(name)
    checkText('owner', owner)
    checkDuration('ttlMs', ttlMs)
    return this.#connection.write((sql) => {
      const held = this.#lease(sql, key)
      const now = this.#clock.now()
      const isTaken = held && held.owner !== null && held.owner !== owner && held.leaseUntil > now
      if (isTaken) return null
      const fencingToken = nextToken(held?.fencingToken ?? 0, name)
      const leaseUntil = now + ttlMs
      sql.putLease.run(key, owner, leaseUntil, fencingToken)
      return { fencingToken, leaseUntil }
    })
  }

  async renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean> {
    const key = idBytes(name)
    checkToken(fencingToken)
    checkDuration('ttlMs', ttlMs)
    return this.#connection.write((sql) => {
      const held = this.#lease(sql, key)
      const now = this.#clock.now()
      if (!held || !isHeld(held, fencingToken) || held.leaseUntil <= now) return false
      sql.putLease.run(key, held.owner, now + ttlMs, fencingToken)
      return true
    })
  }

  async release(name: string, fencingToken: number): Promise<void> {
    const key = idBytes(name)
    checkToken(fencingToken)
    await this.#connection.write((sql) => {
      const held = this.#lease(sql, key)
      if (!held || !isHeld(held, fencingToken)) return
      sql.putLease.run(key, null, held.leaseUntil, fencingToken)
    })
  }

  #lease(sql: Statements, key: Uint8Array): NamedLease | undefined {
    const row = sql.lease.get(key) as Row | undefined
    if (!row) return undefined
    const read = new RowReader(row, placeOf(this.#tables.leases, 'name'))
    return {
      owner: read.textOrNull('owner'),
      leaseUntil: read.instant('lease_until'),
      fencingToken: read.token('fencing_token'),
    }
  }
}

function isHeld(lease: NamedLease, fencingToken: number): boolean {
  return lease.owner !== null && lease.fencingToken === fencingToken
}
