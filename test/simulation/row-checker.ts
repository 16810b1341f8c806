// Checks what engines ask of rows and what becomes of rows: I1, I2, I3, I6, I11, I12, D5 and D7, at
// the moment a request is sent or carried out.

import type { ClaimResult, ScheduleRecord } from '../../src/index.ts'
import { type Definition, firstSlot } from './definition.ts'
import type { ClaimSent, Ledger, Sent } from './ledger.ts'
import type { Operation, Patch, StoreTraits } from './literal-store.ts'
import type { Tally } from './tally.ts'

/** The line of operations that the store accepted, and what may not happen on it. */
export class RowChecker {
  readonly #ledger: Ledger
  readonly #tally: Tally
  readonly #traits: StoreTraits
  /** The highest token ever, by id; deleting rows does not lower it. */
  readonly #tokens = new Map<string, number>()
  readonly #owners = new Map<string, ClaimSent>()

  constructor(ledger: Ledger, tally: Tally, traits: StoreTraits) {
    this.#ledger = ledger
    this.#tally = tally
    this.#traits = traits
  }

  /** A late commit has taken the slot of a cron; without a slot only a new row helps. */
  #isStuck({ replica, definition, operation: { id } }: Sent): boolean {
    const hasNoSlot = replica.lastRead(id)?.nextRunAt === null
    return !this.#traits.knowsPlans && definition?.kind === 'cron' && hasNoSlot
  }

  /** A replica sends a request. */
  sent(sent: Sent): void {
    const { operation, replica, definition } = sent
    const { id } = operation
    if (operation.do === 'claim') this.#claimSent(sent as ClaimSent)
    if (operation.do === 'register' && definition) {
      const { kind, spec, nextRunAt } = operation.schedule
      const isRight = kind === definition.kind && spec === definition.spec
      if (!isRight || nextRunAt !== firstSlot(definition, operation.now)) {
        this.#ledger.violated('I6', `${replica.name} registers ${id} as ${spec}, at ${nextRunAt}`)
      }
      if (operation.now > sent.wall) this.#isEarly(sent, operation.now)
    }
    if (operation.do === 'delete' && !replica.mayDelete(id) && !this.#isStuck(sent)) {
      this.#ledger.violated('I12', `${replica.name} deletes ${id}, which nobody asked for`)
    }
    if (operation.do === 'delete' && operation.token === undefined) {
      this.#ledger.violated('D7', `${replica.name} deletes ${id} without a token`)
    }
  }

  /** The store has carried a request out. */
  applied(sent: Sent, result: unknown, change: Change): void {
    const { operation } = sent
    if (operation.do === 'claim' && result) {
      this.#claimed(sent as ClaimSent, result as ClaimResult, change)
    } else if (operation.do === 'register') this.#registered(operation.id, change)
    else if (operation.do === 'complete' && result) this.#completed(sent, operation.patch, change)
    const isWrite = operation.do === 'renew' || operation.do === 'complete'
    if (isWrite && result && operation.token !== change.before?.fencingToken) {
      this.#ledger.violated('I3', `a stale token ${operation.do}s ${operation.id}`)
    }
    if (operation.do === 'renew' && result) this.#renewed(operation, sent.wall, change)
    const { after } = change
    if (after) this.#ledger.stored(after)
    const highest = this.#tokens.get(operation.id) ?? 0
    if (after && after.fencingToken < highest) {
      this.#ledger.violated('I1', `the token of ${operation.id} goes back below ${highest}`)
    }
  }

  #claimSent(sent: ClaimSent): void {
    const { operation, wall, replica } = sent
    const key = `${operation.owner} ${operation.id}`
    const earlier = this.#owners.get(key)
    // What is asked again because of one damaged row is the same attempt.
    if (earlier && earlier.operation.now !== operation.now) {
      this.#ledger.violated('D5', `${replica.name} claims ${operation.id} again under one name`)
    }
    this.#owners.set(key, sent)
    if (operation.now > wall) this.#isEarly(sent, operation.now)
  }

  /** Only a clock that was set back meanwhile excuses a `now` that is not yet. */
  #isEarly({ replica, operation, wall, at }: Sent, now: number): void {
    if (replica.process.machine.jumpedAt > at - 20_000) return
    const ahead = now - wall
    this.#ledger.violated(
      'I11',
      `${replica.name} sends a ${operation.do} ${ahead} ms ahead of time`,
    )
  }

  #claimed(sent: ClaimSent, result: ClaimResult, { before }: Change): void {
    const { id, now } = sent.operation
    const { fencingToken: token, takenOver } = result
    if (token <= (this.#tokens.get(id) ?? 0)) {
      this.#ledger.violated('I1', `token ${token} of ${id} was given before`)
    }
    this.#tokens.set(id, token)
    if (!before || before.nextRunAt === null || before.nextRunAt > now) {
      this.#ledger.violated('I2', `${id} was claimed and not due`)
      return
    }
    if ((before.leaseUntil ?? -Infinity) > now) {
      this.#ledger.violated('I2', `${id} was claimed under a live lease`)
    }
    if (takenOver) this.#tally.count('claim: taken over')
    this.#ledger.claims.set(`${token} ${id}`, {
      id,
      token,
      sent,
      before,
      slot: before.nextRunAt,
      takenOver,
      generation: this.#ledger.generation(id),
      runs: [],
      trusted: sent,
      isRejected: false,
      rejectedAt: Infinity,
      isRefused: false,
      isShortened: false,
      isCommitted: false,
      isAdopted: false,
      isUncertain: false,
    })
  }

  /** A late renewal may end a lease that a newer one has prolonged, where a store lets it. */
  #renewed(
    { id, token, leaseUntil }: Operation & { do: 'renew' },
    wall: number,
    { before, after }: Change,
  ): void {
    const claim = this.#ledger.claim(id, token)
    const isHandBack = leaseUntil <= wall
    const isMoved = before?.leaseUntil !== after?.leaseUntil
    if (!claim || isHandBack || !isMoved) return
    if (leaseUntil >= (before?.leaseUntil ?? -Infinity)) return
    this.#tally.count('lease: shortened by a late renewal')
    claim.isShortened = true
  }

  #registered(id: string, { before, after }: Change): void {
    if (before && before.kind === after?.kind && before.spec === after.spec) {
      if (before !== after) this.#ledger.violated('I12', `registering ${id} again changed its row`)
      if (before.nextRunAt === null) {
        this.#tally.count('row: later registration left a tombstone')
      }
      return
    }
    this.#ledger.planAnew(id)
  }

  #completed({ operation: { id }, definition }: Sent, patch: Patch, { before, after }: Change) {
    if (!before || !after) return
    const claim = this.#ledger.claim(id, before.fencingToken)
    if (claim && !claim.isCommitted) {
      this.#tally.count('commit: accepted')
      claim.isCommitted = true
    }
    const { plan } = patch
    if (plan && (plan.kind !== before.kind || plan.spec !== before.spec)) {
      if (this.#traits.knowsPlans) this.#tally.count('commit: kept a newer slot')
      // Such a store cannot tell a plan that was stored between the engine's look and its commit.
      else if (after.nextRunAt !== before.nextRunAt) this.#ledger.planAnew(id)
      return
    }
    // Away from a plan and back to it during one run: rows do not tell such registrations apart.
    if (claim && claim.generation !== this.#ledger.generation(id)) {
      this.#tally.count('commit: of an earlier registration')
      this.#ledger.planAnew(id)
      return
    }
    const [from, to] = [before.nextRunAt, after.nextRunAt]
    if (before.leaseUntil === undefined || from === null || to === null || from === to) return
    if (to < from) this.#ledger.violated('I6', `the slot of ${id} goes back from ${from} to ${to}`)
    if (claim) this.#ledger.passed.push({ claim, to })
    // The task may have been cancelled and registered otherwise, and the row not be told yet.
    const planned = [definition, claim?.sent.definition].find(
      (each) => each?.kind === before.kind && each.spec === before.spec,
    )
    if (planned && !isSlot(planned, from, to)) {
      this.#ledger.violated('I6', `${to} is no slot of ${id}, ${planned.spec}, after ${from}`)
    }
  }
}

/** A row before and after an operation. */
export interface Change {
  readonly before: ScheduleRecord | undefined
  readonly after: ScheduleRecord | undefined
}

function isSlot(definition: Definition, from: number, to: number): boolean {
  if (definition.kind === 'every') return (to - from) % definition.ms === 0
  return definition.kind === 'cron' && firstSlot(definition, to - 1) === to
}
