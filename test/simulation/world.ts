// One simulation: replicas in their seats, the store and the network between them, true time. It
// lets one thing happen after the other and asks the judge after each.

import { nextTurn } from '../../src/clock.ts'
import { Chaos } from './chaos.ts'
import type { Engine } from './engine.ts'
import { heal } from './healing.ts'
import { Judge } from './judge.ts'
import { LeaderLeases } from './leader-lease.ts'
import { Ledger } from './ledger.ts'
import { LiteralStore } from './literal-store.ts'
import { Machine } from './machine.ts'
import { Network } from './network.ts'
import { Process } from './process.ts'
import { Random } from './random.ts'
import { Replica } from './replica.ts'
import { type Scenario, scenarioOf } from './scenario.ts'
import { Tally } from './tally.ts'
import { Timeline } from './timeline.ts'

/** What may hold a task up that no fault does: a row set aside, back-off, answers waited for. */
const RECOVERY_MS = 30_000 + 10_000 + 2 * 10_000 + 15_000

/** From a look at a row to a run, with a commit that holds it up and is sent again. */
const ROUND_TRIPS = 6

/** All of one simulation. */
export class World {
  readonly engine: Engine
  readonly scenario: Scenario
  readonly timeline: Timeline
  readonly random: Random
  readonly ledger = new Ledger()
  readonly tally = new Tally()
  readonly store: LiteralStore
  readonly network: Network
  readonly leases: LeaderLeases
  readonly judge: Judge
  readonly machines: readonly Machine[]
  /** Every life of every replica, the present ones last. */
  readonly replicas: Replica[] = []
  /** The faults have stopped. */
  isHealed = false
  readonly chaos: Chaos
  /** How far any wall clock has been ahead of true time. */
  aheadMs = 0
  readonly #history: string[] | undefined
  /** True time until which a row cannot be read. */
  readonly #damagedUntil = new Map<string, number>()
  readonly #removed = new Set<string>()

  constructor(seed: number, engine: Engine, { keepsHistory }: { keepsHistory: boolean }) {
    this.engine = engine
    this.scenario = scenarioOf(seed)
    const { start, traits, clocks } = this.scenario
    this.timeline = new Timeline(start)
    this.random = new Random(seed ^ 0x5bd1e995)
    this.store = new LiteralStore(traits)
    this.#history = keepsHistory ? [] : undefined
    this.network = new Network({
      ...{ timeline: this.timeline, scenario: this.scenario, tally: this.tally },
      random: this.random.fork(),
      storeError: (code) => new engine.CronfenceError(code, 'a simulated fault'),
    })
    this.leases = new LeaderLeases(this)
    this.judge = new Judge(this)
    this.chaos = new Chaos(this)
    this.machines = clocks.map((clock) => new Machine(this.timeline, clock))
  }

  /** What happened, one line each: true time from the start, who, what. */
  get history(): readonly string[] {
    return this.#history ?? []
  }

  /** How late a run may be when nothing is wrong. */
  get lateMs(): number {
    const { graceMs, latencyMs } = this.scenario
    return graceMs + 3000 + ROUND_TRIPS * 2 * latencyMs
  }

  tell(replica: Replica | undefined, text: string | (() => string)): void {
    if (!this.#history) return
    const at = (this.timeline.now - this.scenario.start).toFixed(3).padStart(14)
    const who = (replica?.name ?? 'store').padEnd(6)
    this.#history.push(`${at} ${who} ${typeof text === 'string' ? text : text()}`)
  }

  async run(): Promise<void> {
    const { scenario, timeline, ledger, chaos } = this
    chaos.begin()
    await this.#pass(scenario.start + scenario.troubledMs)
    heal(this, this.random.fork())
    const leaseMs = Math.max(...scenario.versions.flat().map((definition) => definition.leaseMs))
    const leaderMs = scenario.leader === 'none' ? 0 : 2 * scenario.leaderTtlMs
    const recoveryMs = RECOVERY_MS + this.aheadMs + leaseMs + leaderMs + 120_000
    await this.#pass(timeline.now + recoveryMs)
    if (ledger.violations.length > 0) return
    this.judge.recovered()
    await this.#pass(timeline.now + Math.max(120_000, 3 * scenario.unitMs))
    if (ledger.violations.length > 0) return
    this.judge.finished()
    for (const replica of this.present()) {
      replica.process.deliver(timeline.now, () => void replica.stop())
    }
    await this.#pass(timeline.now + scenario.drainMs + 75_000)
    for (const replica of ledger.violations.length > 0 ? [] : this.present()) {
      if (!replica.hasStopped) ledger.violated('I15', `${replica.name} never stops`)
    }
  }

  /** The lives that go on. */
  present(): Replica[] {
    return this.replicas.filter(({ process }) => !process.isDead)
  }

  /** A new life in a seat. */
  boot(seat: number, version: number): Replica {
    this.machines[seat]!.wake()
    const life = this.replicas.filter((replica) => replica.seat === seat).length
    const process = new Process({
      name: `${String.fromCharCode(65 + seat)}${life}`,
      machine: this.machines[seat]!,
      timeline: this.timeline,
      random: this.random.fork(),
      lateMs: this.scenario.lateMs,
    })
    const replica = new Replica(this, { seat, process, version })
    this.replicas.push(replica)
    process.deliver(this.timeline.now, () => replica.start())
    this.tell(replica, `boots with version ${version}`)
    return replica
  }

  damage(id: string, ms: number): void {
    this.#damagedUntil.set(id, this.timeline.now + ms)
  }

  checkDamage(process: Process, id: string): void {
    if (this.isHealed || this.timeline.now >= (this.#damagedUntil.get(id) ?? -Infinity)) return
    process.troubledAt = Math.max(process.troubledAt, this.timeline.now)
    this.tally.count('store: damaged row')
    throw new this.engine.CronfenceError('STORE_DAMAGED_RECORD', `the row of ${id} is damaged`)
  }

  /** Somebody asks for the row to be deleted; whether it is, nobody may ever hear. */
  removing(id: string): void {
    this.#removed.add(id)
  }

  hasBeenRemoved(id: string): boolean {
    return this.#removed.has(id)
  }

  /** Lets everything happen up to that true time, or until something is violated. */
  async #pass(until: number): Promise<void> {
    const { timeline, ledger } = this
    while (ledger.violations.length === 0 && this.#step(until)) {
      if (!timeline.mustSettle) continue
      timeline.mustSettle = false
      await new Promise<void>(nextTurn)
      this.judge.step()
    }
  }

  #step(until: number): boolean {
    try {
      return this.timeline.step(until)
    } catch (error) {
      this.ledger.violated('throw', String(error))
      return false
    }
  }
}
