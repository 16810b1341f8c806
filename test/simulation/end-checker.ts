// Checks how things end: that a stopped replica leaves nothing behind (I15), that a cancelled task
// is gone, and that, once faults have stopped, every task is on time again and no slot was lost on
// the way (I8, I10, I13, I14, I16).

import type { ScheduleRecord } from '../../src/index.ts'
import { slotAfter } from './definition.ts'
import type { Run } from './ledger.ts'
import type { Replica } from './replica.ts'
import type { World } from './world.ts'

/** What `stop` may take besides draining: last writes, leaving leadership, and late timers. */
const STOP_MS_MAX = 5000 + 4000 + 1000

const DAY_MS = 86_400_000

/** Requests of one replica to the store per slot that may have fallen due, and at its start. */
const REQUESTS_PER_SLOT = 8

/** Ends of replicas, tasks and simulations. */
export class EndChecker {
  readonly #world: World
  readonly #generations = new Map<string, number>()
  #isRecovered = false
  /** Slots that must have run by the end. */
  readonly #ranSince = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  sent(replica: Replica): void {
    replica.requests++
    if (replica.hasStopped && !replica.isDeleting) {
      this.#world.ledger.violated('I15', `${replica.name} has stopped and asks the store`)
    }
  }

  started({ claim, slot, replica }: Run): void {
    if (!this.#isRecovered) return
    const { ledger, timeline } = this.#world
    this.#ranSince.set(claim.id, (this.#ranSince.get(claim.id) ?? 0) + 1)
    if (timeline.now - slot > this.#patienceMs(claim.before)) {
      const late = Math.round(timeline.now - slot)
      ledger.violated('I10', `${replica.name} runs ${claim.id}@${slot} ${late} ms too late`)
    }
  }

  cancelling(replica: Replica, id: string): void {
    this.#generations.set(`${replica.name} ${id}`, this.#world.ledger.generation(id))
  }

  cancelled(replica: Replica, id: string): void {
    const { ledger, store } = this.#world
    const isSame = this.#generations.get(`${replica.name} ${id}`) === ledger.generation(id)
    if (isSame && store.rows.has(id)) {
      ledger.violated('cancel', `${replica.name} has cancelled ${id}, and its row is there`)
    }
  }

  stopped(replica: Replica, { begunAt, tookMs }: { begunAt: number; tookMs: number }): void {
    const { ledger, store, scenario } = this.#world
    const { process, name } = replica
    if (process.timers > 0) ledger.violated('I15', `${name} has stopped and has timers`)
    if (process.pausedUntil < begunAt && tookMs > scenario.drainMs + STOP_MS_MAX) {
      ledger.violated('I15', `${name} took ${tookMs} ms to stop`)
    }
    if (process.troubledAt >= begunAt - 60_000) return
    for (const row of store.rows.values()) {
      const claim = ledger.claim(row.id, row.fencingToken)
      const isHeld =
        (row.leaseUntil ?? -Infinity) > Math.max(row.nextRunAt ?? Infinity, process.wall)
      if (isHeld && claim?.sent.replica === replica) {
        ledger.violated('I15', `${name} has stopped and keeps the lease of ${row.id}`)
      }
    }
  }

  longStopped({ process, name }: Replica): void {
    if (process.timers > 0) this.#world.ledger.violated('I15', `${name} keeps timers for long`)
  }

  recovered(): void {
    this.#checkCursors()
    this.#isRecovered = true
  }

  finished(): void {
    this.#checkCursors()
    this.#checkPassed()
    this.#checkRequests()
  }

  /**
   * How late a slot may run. Of a row that was deleted and registered again by a replica that is
   * gone, the others learn when the slot comes that they know: a round of the task later at most,
   * by the clock of whoever registered.
   */
  #patienceMs({ id, spec, lastRunAt }: ScheduleRecord): number {
    const { ledger, lateMs, scenario } = this.#world
    const isPlannedAnew = ledger.generation(id) > 0
    // There a late commit of an older plan writes its slot over the newer plan's.
    if (isPlannedAnew && !scenario.traits.knowsPlans) return Infinity
    if (lastRunAt !== undefined || !isPlannedAnew) return lateMs
    return scenario.areClocksTame ? lateMs + (Number(spec) || DAY_MS) : Infinity
  }

  /** Nothing is overdue that somebody could run. */
  #checkCursors(): void {
    const { ledger, store, timeline } = this.#world
    for (const row of store.rows.values()) {
      if (row.nextRunAt === null || !this.#isExpected(row)) continue
      const overdueMs = timeline.now - row.nextRunAt
      if (overdueMs > this.#patienceMs(row)) {
        ledger.violated('I10', `${row.id} is ${Math.round(overdueMs)} ms overdue`)
      }
    }
  }

  #isExpected({ id, kind, spec }: { id: string; kind: string; spec: string }): boolean {
    const { replicas, ledger } = this.#world
    if ([...ledger.live].some(({ claim }) => claim.id === id)) return false
    return replicas.some((replica) => replica.looksAfter(id, { kind, spec }))
  }

  /** Every slot that a commit has passed ran, unless its policy skips it. */
  #checkPassed(): void {
    const { ledger } = this.#world
    for (const { claim, to } of ledger.passed) {
      const definition = claim.runs[0]?.definition ?? claim.sent.definition
      if (!definition || definition.missed === 'skip') continue
      const isCatchUp = definition.missed === 'catch-up'
      let [slot, count]: [number | null, number] = [claim.slot, 0]
      while (slot !== null && (to === null || slot < to) && count++ < definition.maxCatchUp) {
        const runs = ledger.runsOf(claim.id, claim.generation, slot)
        if (!runs.some(({ end }) => end === 'done')) {
          ledger.violated('I8', `${claim.id}@${slot} was passed and has never run`)
        }
        slot = isCatchUp ? slotAfter(definition, slot, slot) : null
      }
    }
  }

  #checkRequests(): void {
    const { ledger, replicas, scenario, timeline } = this.#world
    if (!scenario.isFaultFree) return
    for (const { name, requests, definitions, startedAt } of replicas) {
      const minutes = (timeline.now - startedAt) / 60_000
      // Besides one look per slot, every replica looks at a row it finds leased each tick.
      const looks = (timeline.now - startedAt) / scenario.tickMs
      const slots = (timeline.now - startedAt) / scenario.unitMs + minutes + 10
      const budget = definitions.size * (REQUESTS_PER_SLOT * slots + looks)
      if (requests > budget) ledger.violated('I14', `${name} has sent ${requests} requests`)
    }
  }
}
