// All checkers behind one face: a simulation tells it what happens, and it says what was violated.
//
// Invariants of RELIABILITY §4(c) and where they are checked:
//   I1 I2 I3 I6 I11 I12 D5 D7  row-checker.ts, at each request sent or carried out
//   I7 I9 D1                   claim-checker.ts, at each run and commit; the oracle: definition.ts
//   I4 I5 I14 D2 D3            run-checker.ts, at each run, renewal and step
//   I8 I10 I13 I14 I15 I16     end-checker.ts, when a replica has stopped and at the end
//   truth of events, adoption  event-checker.ts
// Not here: D9 (rollback of the store), which no store detects yet.

import type { ScheduledRun, ScheduleRecord, Scheduler } from '../../src/index.ts'
import { ClaimChecker } from './claim-checker.ts'
import type { Definition } from './definition.ts'
import { EndChecker } from './end-checker.ts'
import { EventChecker } from './event-checker.ts'
import type { Run, Sent } from './ledger.ts'
import type { Operation } from './literal-store.ts'
import type { Replica } from './replica.ts'
import { type Change, RowChecker } from './row-checker.ts'
import { RunChecker } from './run-checker.ts'
import type { World } from './world.ts'

/** An engine may have given up waiting for an answer that takes longer: a sixth of the lease. */
const PROMPT_MS = 3000 / 6 - 20

type SentOf<Do extends Operation['do']> = Sent<Operation & { do: Do }>

/** Judges one simulation. */
export class Judge {
  readonly #world: World
  readonly #rows: RowChecker
  readonly #claims: ClaimChecker
  readonly #runs: RunChecker
  readonly #events: EventChecker
  readonly #end: EndChecker

  constructor(world: World) {
    const { ledger, tally, scenario } = world
    this.#world = world
    this.#rows = new RowChecker(ledger, tally, scenario.traits)
    this.#claims = new ClaimChecker(ledger, tally, scenario)
    this.#runs = new RunChecker(ledger, scenario)
    this.#events = new EventChecker(world)
    this.#end = new EndChecker(world)
  }

  /** A replica sends a request. */
  sent(sent: Sent): void {
    const { operation, replica } = sent
    this.#world.tell(replica, () => `sends ${shown(operation)}`)
    this.#rows.sent(sent)
    this.#end.sent(replica)
    if (operation.do === 'complete') replica.committing(operation.id, false)
    if (operation.do === 'complete') this.#claims.sentCommit(sent as SentOf<'complete'>)
    if (operation.do === 'renew') this.#runs.sentRenewal(sent as SentOf<'renew'>)
    this.#events.sent(sent)
  }

  /** The store has carried it out. */
  applied(sent: Sent, result: unknown, change: Change): void {
    const { operation, replica } = sent
    this.#world.tell(undefined, () => {
      const row = change.after === change.before ? 'unchanged' : JSON.stringify(change.after)
      return `does ${replica.name}'s ${operation.do} ${operation.id}: ${brief(result)}; ${row}`
    })
    this.#rows.applied(sent, result, change)
    this.#events.applied(sent, result)
  }

  /** The replica is about to see a reply, or an error. */
  delivered(sent: Sent, result: unknown): void {
    const { operation, replica } = sent
    this.#world.tell(replica, () => `hears of ${operation.do} ${operation.id}: ${brief(result)}`)
    if (operation.do === 'get' && !(result instanceof Error) && result !== undefined) {
      replica.remember(operation.id, result as null)
    }
    if (operation.do === 'get' || operation.do === 'register') {
      const row = result instanceof Error ? undefined : (result as ScheduleRecord | null)
      if (row) replica.heard(operation.id, row.nextRunAt)
    }
    if (operation.do === 'complete' && result === true) {
      replica.committing(operation.id, true)
      replica.heard(operation.id, operation.patch.nextRunAt)
    }
    if (operation.do === 'renew' && result === true) {
      const claim = this.#world.ledger.claim(operation.id, operation.token)
      if (claim && sent.at > claim.trusted.at) claim.trusted = sent
      this.#world.tally.count('lease: renewed')
    }
    const isPrompt = replica.process.monotonic - sent.monotonic < PROMPT_MS
    if (operation.do === 'renew' && result === false && isPrompt) {
      this.#runs.rejected(sent as SentOf<'renew'>)
    }
    if (operation.do === 'claim' && result === null) this.#world.tally.count('claim: refused')
    this.#events.delivered(sent, result)
  }

  /** A handler is called; `undefined` when it must not have been, which is a violation. */
  started(replica: Replica, definition: Definition, handed: ScheduledRun): Run | undefined {
    const { ledger } = this.#world
    const { taskId: id, fencingToken: token } = handed
    const slot = handed.scheduledAt.getTime()
    this.#world.tell(replica, () => `runs ${id}@${slot}, token ${token}, missed ${handed.missed}`)
    const claim = ledger.claim(id, token)
    if (!claim) {
      ledger.violated('I3', `${replica.name} runs ${id}@${slot} without a claim (${token})`)
      return undefined
    }
    const run: Run = {
      ...{ claim, replica, definition, slot, handed },
      endedAt: Infinity,
      endedWall: 0,
      end: 'live',
    }
    this.#claims.started(run)
    this.#runs.started(run)
    this.#end.started(run)
    ledger.live.add(run)
    return run
  }

  /** A handler has returned, or thrown. */
  ended(run: Run, error: unknown): void {
    if (run.replica.process.isDead) return
    const { signal } = run.handed
    const isAbort =
      error === signal.reason || (error instanceof Error && error.name === 'AbortError')
    run.end = error !== undefined && signal.aborted && isAbort ? 'aborted' : 'done'
    run.endedAt = run.replica.process.monotonic
    run.endedWall = run.replica.process.wall
    this.#world.ledger.live.delete(run)
    this.#world.tell(run.replica, () => `ends ${run.claim.id}@${run.slot}: ${run.end}`)
  }

  listen(replica: Replica, scheduler: Scheduler): void {
    this.#events.listen(replica, scheduler)
  }

  crashed(replica: Replica): void {
    const { live } = this.#world.ledger
    for (const run of live) if (run.replica === replica) live.delete(run)
  }

  cancelling(replica: Replica, id: string): void {
    const { ledger, tally } = this.#world
    const isRunning = [...ledger.live].some(
      ({ claim, replica: other }) => other === replica && claim.id === id,
    )
    if (isRunning) tally.count('task: cancelled while it ran')
    this.#end.cancelling(replica, id)
  }

  cancelled(replica: Replica, id: string): void {
    this.#end.cancelled(replica, id)
  }

  stopped(replica: Replica, times: { begunAt: number; tookMs: number }): void {
    this.#end.stopped(replica, times)
  }

  longStopped(replica: Replica): void {
    this.#end.longStopped(replica)
  }

  /** After every step. */
  step(): void {
    this.#runs.step()
    this.#events.step()
  }

  /** All faults have been over for as long as recovery may take. */
  recovered(): void {
    this.#end.recovered()
  }

  finished(): void {
    this.#end.finished()
  }
}

function shown(operation: Operation): string {
  const { do: name, ...rest } = operation
  return `${name} ${JSON.stringify(rest)}`
}

function brief(result: unknown): string {
  return result instanceof Error ? `${result.name}: ${result.message}` : JSON.stringify(result)
}
