// Checks that what an engine tells is true: its events against the store's own line, and that it
// takes up a claim whose reply was lost (RELIABILITY §3.3). Counts the rare ones.

import type { ScheduleRecord, Scheduler } from '../../src/index.ts'
import type { ClaimSent, Sent } from './ledger.ts'
import type { Replica } from './replica.ts'
import type { World } from './world.ts'

/** An engine waits no longer than this for an answer. */
const ANSWER_MS_MAX = 9900

/** Listens to schedulers. */
export class EventChecker {
  readonly #world: World
  /** The newest claim of each id that its replica has no good answer to. */
  readonly #open = new Map<Replica, Map<string, ClaimSent>>()
  /** Must be taken up in this step. */
  #found: { readonly sent: ClaimSent; readonly token: number }[] = []
  readonly #adopted = new Set<string>()
  readonly #committed = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  listen(replica: Replica, scheduler: Scheduler): void {
    const { ledger, tally, scenario } = this.#world
    const violated = (text: string) => {
      if (!replica.process.isDead) ledger.violated('event', `${replica.name} ${text}`)
    }
    const inFaultFree = (text: string) => {
      if (scenario.isFaultFree) violated(`${text}, without any fault`)
    }
    const key = (event: { taskId: string; fencingToken: number }) =>
      `${event.fencingToken} ${event.taskId}`
    scheduler
      .on('commit', (event) => {
        if (!this.#committed.has(key(event))) violated(`says that ${key(event)} is committed`)
      })
      .on('commit-rejected', (event) => {
        tally.count('commit: rejected')
        inFaultFree(`has a commit of ${event.taskId} refused`)
        const row = this.#world.store.rows.get(event.taskId)
        const claim = ledger.claim(event.taskId, event.fencingToken)
        const isSamePlan = claim?.generation === ledger.generation(event.taskId)
        const isOurs = isSamePlan && row?.fencingToken === event.fencingToken
        if (isOurs && this.#committed.has(key(event)))
          violated(`says that ${key(event)} is refused`)
      })
      .on('commit-unknown', () => tally.count('commit: unknown'))
      .on('lease-lost', ({ reason, ...event }) => {
        inFaultFree(`loses the lease of ${event.taskId}`)
        tally.count(`lease: ${reason}`)
        const claim = ledger.claim(event.taskId, event.fencingToken)
        if (claim && reason === 'uncertain') claim.isUncertain = true
        if (claim && reason === 'rejected' && !claim.isRefused) {
          violated(`says that ${key(event)} was refused its renewal`)
        }
      })
      .on('hand-back', () => tally.count('slot: handed back'))
      .on('claim-adopted', (event) => {
        tally.count('claim: adopted after a lost reply')
        this.#adopted.add(key(event))
        const claim = ledger.claim(event.taskId, event.fencingToken)
        if (claim) claim.isAdopted = true
      })
      .on('skipped', ({ reason }) =>
        tally.count(`slots: skipped ${reason === 'missed' ? 'as missed' : 'while running'}`),
      )
      .on('removed', ({ taskId }) => {
        tally.count('row: removed elsewhere')
        this.#world.tell(replica, `finds ${taskId} removed`)
        if (!this.#world.hasBeenRemoved(taskId)) violated(`says that ${taskId} was removed`)
        replica.ended(taskId)
      })
      .on('superseded', () => tally.count('row: superseded'))
      .on('orphans', () => tally.count('row: orphans told'))
      .on('dormant', ({ taskId }) => violated(`says that ${taskId} is dormant`))
      .on('store-error', ({ operation, error }) => {
        inFaultFree(`has a store that fails to ${operation} (${error})`)
      })
  }

  sent(sent: Sent): void {
    if (sent.operation.do === 'claim') {
      const { replica, operation } = sent
      if (replica.isStopping || !replica.definitions.has(operation.id)) {
        const text = `${replica.name} claims ${operation.id}, which has ended there`
        this.#world.ledger.violated('claim', text)
      }
      this.#openOf(replica).set(operation.id, sent as ClaimSent)
    }
    if (sent.operation.do === 'complete') {
      const key = `${sent.operation.token} ${sent.operation.id}`
      if (this.#committed.has(key)) this.#world.tally.count('commit: sent again')
    }
  }

  applied({ operation }: Sent, result: unknown): void {
    if (operation.do === 'complete' && result) {
      this.#committed.add(`${operation.token} ${operation.id}`)
    }
  }

  delivered(sent: Sent, result: unknown): void {
    const { replica, operation } = sent
    const { id } = operation
    const open = this.#openOf(replica)
    if (operation.do === 'claim' && result && !(result instanceof Error)) open.delete(id)
    if (operation.do === 'renew' && result === false) {
      const claim = this.#world.ledger.claim(id, operation.token)
      if (claim) claim.isRefused = true
    }
    const isLate = replica.process.monotonic - sent.monotonic > ANSWER_MS_MAX
    if (operation.do !== 'get' || result instanceof Error || isLate) return
    const row = result as ScheduleRecord | null | undefined
    const attempt = open.get(id)
    if (!attempt || sent.at < attempt.at) return
    const isIts = row?.leaseOwner === attempt.operation.owner
    // Carried out after a look at the row, a claim is left to lapse.
    if (!isIts) open.delete(id)
    if (!isIts || sent.at < givenUpAt(attempt) || replica.wasStopped) return
    open.delete(id)
    if (replica.definitions.get(id) !== attempt.definition || replica.isCommitting(id)) return
    const { leaseMs } = attempt.operation
    const { monotonic, wall } = replica.process
    const hasTime = monotonic < attempt.monotonic + leaseMs / 2 && wall < attempt.wall + leaseMs / 2
    if (hasTime) this.#found.push({ sent: attempt, token: row.fencingToken })
  }

  /** After every step. */
  step(): void {
    if (this.#found.length === 0) return
    for (const { sent, token } of this.#found) {
      const { replica, operation } = sent
      if (this.#adopted.has(`${token} ${operation.id}`) || replica.process.isDead) continue
      this.#world.ledger.violated(
        '§3.3',
        `${replica.name} reads that its claim of ${operation.id} was won, and lets it lapse`,
      )
    }
    this.#found = []
  }

  #openOf(replica: Replica): Map<string, ClaimSent> {
    let open = this.#open.get(replica)
    if (!open) {
      open = new Map()
      this.#open.set(replica, open)
    }
    return open
  }
}

/** From then on the replica reads rows to know what became of its claim, not for other reasons. */
function givenUpAt({ at, operation: { leaseMs } }: ClaimSent): number {
  return at + Math.min(10_000, leaseMs / 3)
}
