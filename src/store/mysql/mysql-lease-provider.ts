// Named leases in the same database as the schedules, one short transaction per call.

import type { Clock } from '../../clock.ts'
import type { Lease, LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkText, checkToken, idBytes } from '../arguments.ts'
import { RowReader } from '../stored-row.ts'
import type { Tables } from '../tables.ts'
import { nextToken } from '../transitions.ts'
import type { MysqlConnection, RunStatement } from './mysql-connection.ts'
import { type LeaseStatements, leaseStatements, literal } from './mysql-statements.ts'

interface NamedLease extends Lease {
  /** `null`: released. The row stays, for its token. */
  readonly owner: string | null
}

/** Leases in MySQL or MariaDB, by `clock`. Names are checked as ids are. */
export class MysqlLeaseProvider implements LeaseProvider {
  readonly #connection: MysqlConnection
  readonly #clock: Clock
  readonly #table: string
  readonly #sql: LeaseStatements

  constructor(connection: MysqlConnection, tables: Tables, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
    this.#table = tables.leases
    this.#sql = leaseStatements(tables)
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    const key = keyOf(name)
    checkText('owner', owner)
    checkDuration('ttlMs', ttlMs)
    return this.#connection.transaction(async (run) => {
      await run(this.#sql.add, [key])
      const held = await this.#locked(run, key)
      const now = this.#clock.now()
      const isTaken = held && held.owner !== null && held.owner !== owner && held.leaseUntil > now
      if (isTaken) return null
      const fencingToken = nextToken(held?.fencingToken ?? 0, name)
      const leaseUntil = now + ttlMs
      await run(this.#sql.put, [Buffer.from(owner), leaseUntil, fencingToken, key])
      return { fencingToken, leaseUntil }
    })
  }

  async renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean> {
    const key = keyOf(name)
    checkToken(fencingToken)
    checkDuration('ttlMs', ttlMs)
    return this.#connection.transaction(async (run) => {
      const held = await this.#locked(run, key)
      const now = this.#clock.now()
      if (!held?.owner || held.fencingToken !== fencingToken || held.leaseUntil <= now) return false
      await run(this.#sql.put, [Buffer.from(held.owner), now + ttlMs, fencingToken, key])
      return true
    })
  }

  async release(name: string, fencingToken: number): Promise<void> {
    const key = keyOf(name)
    checkToken(fencingToken)
    await this.#connection.transaction(async (run) => {
      const held = await this.#locked(run, key)
      if (!held?.owner || held.fencingToken !== fencingToken) return
      await run(this.#sql.put, [null, held.leaseUntil, fencingToken, key])
    })
  }

  async #locked(run: RunStatement, key: Buffer): Promise<NamedLease | undefined> {
    const [row] = await run(this.#sql.lock, [key])
    if (!row) return undefined
    const read = new RowReader(row, { table: this.#table, key: 'name', literal })
    return {
      owner: read.textOrNull('owner'),
      leaseUntil: read.instant('lease_until'),
      fencingToken: read.token('fencing_token'),
    }
  }
}

const keyOf = (name: string): Buffer => Buffer.from(idBytes(name))
