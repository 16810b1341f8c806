// Named leases in a collection of their own, a document for each name.

import type { Clock } from '../../clock.ts'
import { CronfenceError } from '../../errors.ts'
import type { Lease, LeaseProvider } from '../../lease/lease.ts'
import { checkDuration, checkId, checkText, checkToken } from '../arguments.ts'
import { nextToken } from '../transitions.ts'
import { Cells, type Step } from './mongo-cells.ts'
import type { MongoFields } from './mongo-client.ts'
import type { MongoConnection } from './mongo-connection.ts'
import type { Collections } from './mongo-schema.ts'
import type { StoredDocument } from './stored-document.ts'
import { int64 } from './stored-schedule.ts'

interface NamedLease extends Lease {
  /** `null`: released. The document stays, for its token. */
  readonly owner: string | null
}

/** Leases in MongoDB, by `clock`. Names are checked as ids are. */
export class MongoLeaseProvider implements LeaseProvider {
  readonly #connection: MongoConnection
  readonly #clock: Clock
  readonly #cells: Cells<NamedLease>

  constructor(connection: MongoConnection, collections: Collections, clock: Clock) {
    this.#connection = connection
    this.#clock = clock
    this.#cells = new Cells({
      ...{ connection, collection: collections.leases },
      ...{ parse: readLease, fieldsOf: leaseFields },
    })
  }

  async acquire(name: string, owner: string, ttlMs: number): Promise<Lease | null> {
    checkId(name)
    checkText('owner', owner)
    checkDuration('ttlMs', ttlMs)
    return this.#change<Lease | null>(name, (held) => {
      const now = this.#clock.now()
      const isTaken = held && held.owner !== null && held.owner !== owner && held.leaseUntil > now
      if (isTaken) return { result: null }
      const fencingToken = nextToken(held?.fencingToken ?? 0, name)
      const leaseUntil = now + ttlMs
      return { next: { owner, fencingToken, leaseUntil }, result: { fencingToken, leaseUntil } }
    })
  }

  async renew(name: string, fencingToken: number, ttlMs: number): Promise<boolean> {
    checkId(name)
    checkToken(fencingToken)
    checkDuration('ttlMs', ttlMs)
    return this.#change<boolean>(name, (held) => {
      const now = this.#clock.now()
      const isOpen = held?.owner && held.fencingToken === fencingToken && held.leaseUntil > now
      if (!isOpen) return { result: false }
      return { next: { ...held, leaseUntil: now + ttlMs }, result: true }
    })
  }

  async release(name: string, fencingToken: number): Promise<void> {
    checkId(name)
    checkToken(fencingToken)
    await this.#change<void>(name, (held) => {
      if (!held?.owner || held.fencingToken !== fencingToken) return { result: undefined }
      return { next: { ...held, owner: null }, result: undefined }
    })
  }

  async #change<R>(
    name: string,
    decide: (held: NamedLease | undefined) => Step<NamedLease, R>,
  ): Promise<R> {
    await this.#connection.open()
    const [answer] = await this.#cells.change([{ id: name }], { decide })
    if (answer instanceof CronfenceError) throw answer
    return answer as R
  }
}

function readLease(stored: StoredDocument): NamedLease {
  return {
    owner: stored.isNull('owner') ? null : stored.text('owner'),
    leaseUntil: stored.instant('leaseUntil'),
    fencingToken: stored.token('fencingToken'),
  }
}

function leaseFields({ owner, leaseUntil, fencingToken }: NamedLease): MongoFields {
  return { owner, leaseUntil: int64(leaseUntil), fencingToken: int64(fencingToken) }
}
