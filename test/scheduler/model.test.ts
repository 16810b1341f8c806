// Replicas over one store that loses requests and replies, killed, stopped and started at random.
// Whatever happens: tokens only grow, no two runs of a task are live while both may act, slots are
// true slots, and a catch-up task loses none of them. The seed is printed on failure.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryScheduleStore, type ScheduledRun, Scheduler } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { type Fault, FaultyStore } from './faulty-store.ts'

const START = Date.parse('2026-03-02T10:00:00Z')
const POLICIES = ['skip', 'run-once', 'catch-up'] as const
const INTERVAL_MS = 2000
const LEASE_MS = 6000

type Action =
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'suspend'; readonly ms: number }
  | { readonly do: 'stop' | 'start' | 'kill'; readonly replica: number }
  | { readonly do: 'faults'; readonly rate: number; readonly replica?: number }

interface Run {
  readonly slot: number
  readonly token: number
  readonly signal: AbortSignal
  readonly replica: Replica
  /** How often the machine had slept when it started. */
  readonly suspends: number
  isLive: boolean
}

interface Replica {
  readonly scheduler: Scheduler
  readonly faulty: FaultyStore<MemoryScheduleStore>
  isDead: boolean
  isRunning: boolean
  /** The share of its calls to the store that fail. */
  faultRate: number
}

class Model {
  readonly clock = new VirtualClock(START)
  readonly store = new MemoryScheduleStore()
  readonly runs = new Map<string, Run[]>(POLICIES.map((policy) => [policy, []]))
  readonly replicas: Replica[] = []
  /** What a handler saw that must not be: thrown there, it would only be a failing handler. */
  readonly violations: string[] = []
  /** The slot of the catch-up task when it was first stored. */
  firstSlot = Infinity
  #random: number
  /** Handlers take no time any more: slow ones may lag behind for ever. */
  isCalm = false
  hadFaults = false
  suspends = 0

  constructor(seed: number) {
    this.#random = seed
    for (let count = 0; count < 3; count++) this.replicas.push(this.#replica())
  }

  async act(action: Action): Promise<void> {
    if (action.do === 'advance') await this.clock.advance(action.ms)
    else if (action.do === 'suspend') {
      this.suspends++
      this.clock.suspend(action.ms)
    } else if (action.do === 'faults') {
      for (const [index, replica] of this.replicas.entries()) {
        if (index === (action.replica ?? index)) replica.faultRate = action.rate
      }
      this.hadFaults ||= action.rate > 0
    } else await this.#actOn(action.do, action.replica)
  }

  async #actOn(what: 'stop' | 'start' | 'kill', index: number): Promise<void> {
    const replica = this.replicas[index]!
    if (what === 'start') this.#start(replica)
    else if (what === 'stop') {
      replica.isRunning = false
      void replica.scheduler.stop()
      await this.clock.settle()
    } else {
      // Its promises go on, but nothing of them reaches the store any more.
      replica.isDead = true
      this.hadFaults = true
      replica.faulty.fault = () => 'refused'
      void replica.scheduler.stop()
      this.replicas[index] = this.#replica()
    }
  }

  #start(replica: Replica): void {
    if (replica.isRunning) return
    replica.isRunning = true
    void replica.scheduler.start()
  }

  #replica(): Replica {
    const faulty = new FaultyStore(this.store)
    const replica = {
      faulty,
      scheduler: new Scheduler({
        clock: this.clock,
        store: faulty.proxy,
        drainMs: 1000,
        logger: { warn: () => {}, error: () => {} },
      }),
      isDead: false,
      isRunning: false,
      faultRate: 0,
    }
    faulty.fault = () => this.#fault(replica.faultRate)
    replica.scheduler.on('registered', ({ taskId, nextRunAt }) => {
      if (taskId === 'catch-up') this.firstSlot = Math.min(this.firstSlot, nextRunAt!.getTime())
    })
    for (const missed of POLICIES) {
      const options = { id: missed, missed, leaseMs: LEASE_MS, maxCatchUp: 1e6 }
      replica.scheduler.every(INTERVAL_MS, options, (run) => this.#handle(replica, run))
    }
    return replica
  }

  async #handle(replica: Replica, scheduled: ScheduledRun): Promise<void> {
    const { taskId, signal, fencingToken: token } = scheduled
    if (replica.isDead) return
    const runs = this.runs.get(taskId)!
    const slot = scheduled.scheduledAt.getTime()
    for (const other of runs) {
      // After a sleep a run learns at the next timer only that its time is over; its token fences.
      const slept = other.suspends !== this.suspends
      const mayAct = other.isLive && !other.replica.isDead && !other.signal.aborted && !slept
      if (mayAct) this.violations.push(`two runs of ${taskId} at once`)
    }
    const last = runs.at(-1)
    if (last && (token < last.token || (token === last.token && slot <= last.slot))) {
      this.violations.push(`token ${token}, slot ${slot} after ${last.token}, ${last.slot}`)
    }
    if (last && (slot - last.slot) % INTERVAL_MS !== 0) this.violations.push(`no slot: ${slot}`)
    const { suspends } = this
    const run = { slot, token, signal, replica, suspends, isLive: true }
    runs.push(run)
    const ms = this.isCalm ? 0 : [0, 0, 0, 500, 1500, 9000][this.#next(6)]!
    if (ms > 0) await new Promise<void>((resolve) => void this.clock.setTimer(resolve, ms))
    run.isLive = false
    if (this.#next(10) === 0) throw new Error('a failing handler')
  }

  #fault(rate: number): Fault | undefined {
    if (this.#next(1000) >= rate * 1000) return undefined
    return (['refused', 'dropped', 'unanswered'] as const)[this.#next(3)]
  }

  #next(below: number): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0
    return Math.floor((this.#random / 2 ** 32) * below)
  }
}

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('advance' as const),
        ms: fc.integer({ min: 1, max: 15_000 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('suspend' as const),
        ms: fc.integer({ min: 1, max: 60_000 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom('stop' as const, 'start' as const, 'start' as const, 'kill' as const),
        replica: fc.nat(2),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('faults' as const),
        rate: fc.constantFrom(0, 0.05, 0.3, 1),
        replica: fc.nat(2),
      }),
    },
  ),
  { maxLength: 40 },
)

test('replicas over a store that fails keep every promise', async () => {
  let faultless = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(), actions, async (seed, steps) => {
      const model = new Model(seed)
      await model.act({ do: 'start', replica: 0 })
      for (const step of steps) await model.act(step)
      if (
        !model.hadFaults &&
        steps.every(({ do: what }) => what === 'advance' || what === 'start')
      ) {
        faultless++
        for (const runs of model.runs.values()) {
          expect(new Set(runs.map(({ slot }) => slot)).size, 'no slot runs twice').toBe(runs.length)
        }
      }
      // The faults stop: all is well again within a lease and the longest back-off.
      await model.act({ do: 'faults', rate: 0 })
      model.isCalm = true
      for (const replica of [0, 1, 2]) await model.act({ do: 'stop', replica })
      await model.clock.advance(60_000)
      for (const replica of [0, 1, 2]) await model.act({ do: 'start', replica })
      await model.clock.advance(120_000)
      const now = model.clock.now()
      for (const policy of POLICIES) {
        const runs = model.runs.get(policy)!
        expect(now - runs.at(-1)!.slot, `${policy} goes on`).toBeLessThan(45_000)
      }
      const slots = model.runs.get('catch-up')!.map(({ slot }) => slot)
      const distinct = new Set(slots)
      expect(model.violations).toEqual([])
      for (
        let slot = Math.min(model.firstSlot, slots[0]!);
        slot <= Math.max(...slots);
        slot += INTERVAL_MS
      ) {
        expect(distinct.has(slot), `slot ${slot - START} is not lost`).toBe(true)
      }
    }),
    { numRuns: 400, seed: 20260302 },
  )
  expect(faultless).toBeGreaterThan(0)
})
