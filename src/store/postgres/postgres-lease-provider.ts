// Named leases in the same database as the schedules, one statement per call.

import type { Clock } from '../../clock.ts'
import type { Lease, LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkText, checkToken, idBytes } from '../arguments.ts'
import { RowReader } from '../stored-row.ts'
import type { Tables } from '../tables.ts'
import { nextToken } from '../transitions.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { type LeaseStatements, leaseStatements, literal } from './postgres-statements.ts'

/** Leases in PostgreSQL, by `clock`. Names are checked as ids are. */
export class PostgresLeaseProvider implements LeaseProvider {
  readonly #connection: PostgresConnection
  readonly #clock: Clock
  readonly #table: string
  readonly #sql: LeaseStatements

  constructor(connection: PostgresConnection, tables: Tables, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
    this.#table = tables.leases
    this.#sql = leaseStatements(tables)
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    idBytes(name)
    checkText('owner', owner)
    checkDuration('ttlMs', ttlMs)
    const now = this.#clock.now()
    const leaseUntil = now + ttlMs
    const [won] = await this.#connection.write(this.#sql.acquire, [name, owner, now, leaseUntil])
    if (won) return { fencingToken: this.#tokenOf(won, name), leaseUntil }
    const [row] = await this.#connection.read(this.#sql.get, [name])
    if (row) nextToken(this.#tokenOf(row, name), name) // Taken; or it says why it cannot be.
    return null
  }

  async renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean> {
    idBytes(name)
    checkToken(fencingToken)
    checkDuration('ttlMs', ttlMs)
    const now = this.#clock.now()
    const values = [name, fencingToken, now, now + ttlMs]
    return (await this.#connection.write(this.#sql.renew, values)).length > 0
  }

  async release(name: string, fencingToken: number): Promise<void> {
    idBytes(name)
    checkToken(fencingToken)
    await this.#connection.write(this.#sql.release, [name, fencingToken])
  }

  #tokenOf(row: Readonly<Record<string, unknown>>, name: string): number {
    const place = { table: this.#table, key: 'name', literal } as const
    return new RowReader({ name, ...row }, place).token('fencing_token')
  }
}
