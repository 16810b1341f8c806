// The contract over a Scheduler and whatever store it has: each registration is a durable task, so
// persistence, claims and leases are the scheduler's. Here the policies are mapped, and runs are
// led through the chain that all backends share.

import { type Clock, systemClock } from '../clock.ts'
import type { MissedPolicy } from '../scheduler/decide.ts'
import type { ScheduledRun } from '../scheduler/run.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { everyMs, slotsOf } from './cadence.ts'
import type { Backend, Registration, RegistrationSpec, Tick } from './contract.ts'
import { Deferred, outcomeOf, SUCCESS } from './outcome.ts'
import { type CheckedSpec, checkedSpec } from './registration-spec.ts'
import { manualKey } from './run-key.ts'
import { Seat } from './seat.ts'
import { TickChain } from './tick-chain.ts'

/** Options of `durable`. */
export interface DurableBackendOptions {
  /** The scheduler's own, when it has another than the system's. */
  readonly clock?: Clock | undefined
}

/** What is needed of a scheduler. */
export type DurableScheduler = Pick<Scheduler, 'schedule' | 'every' | 'delay' | 'on'>

/** How long a claim may take before a key is taken to be another replica's. */
const CLAIM_MS_MAX = 5000

/**
 * Runs registrations as durable tasks of a scheduler, which the caller starts and stops. The name
 * is the task's id. Intervals count from when they were first stored.
 *
 * `stop` leaves the task with the scheduler, for only deleting its row would take it away: a slot
 * that is claimed afterwards waits until the name is registered again, or is handed to another
 * replica when the scheduler stops.
 */
export function durable(
  scheduler: DurableScheduler,
  { clock = systemClock }: DurableBackendOptions = {},
): Backend {
  const seats = new Map<string, Seat>()
  const keys = new OnceKeys(scheduler, clock)
  return {
    register(spec: RegistrationSpec, tick: Tick): Registration {
      const checked = checkedSpec(spec, tick, clock.now())
      const { name } = checked
      const chain = new TickChain({
        spec: checked,
        clock,
        triggerOnce: (dedupKey) => keys.trigger(seat, name, dedupKey),
      })
      const seat = seatOf(checked)
      const registeredAt = clock.now()
      seat.sit({
        chain,
        slotOf: (run) => slotToRun(checked, run, { registeredAt, now: clock.now() }),
      })
      return {
        trigger: (dedupKey) => chain.trigger(dedupKey),
        next: () => (seat.has(chain) ? (seat.nextRunAt ?? estimate(checked)) : undefined),
        async stop() {
          seat.leave(chain)
          keys.leave(seat)
          await chain.stop()
        },
      }
    },
  }

  function estimate({ slots }: CheckedSpec): Date | undefined {
    const next = slots.after(clock.now())
    return next === null ? undefined : new Date(next)
  }

  function seatOf(spec: CheckedSpec): Seat {
    const plan = JSON.stringify([spec.cadence, policyOf(spec)])
    const left = seats.get(spec.name)
    if (left?.plan === plan && left.isFree) return left
    if (left?.isFree) left.remove()
    const seat = new Seat(plan)
    seat.take(addTask(spec, seat))
    seats.set(spec.name, seat)
    return seat
  }

  function addTask(spec: CheckedSpec, seat: Seat) {
    const { name: id, cadence } = spec
    // The chain decides what is dropped: here no slot may be.
    const options = { id, missed: policyOf(spec), maxCatchUp: Number.MAX_SAFE_INTEGER }
    const handler = (run: ScheduledRun) => seat.run(run)
    if ('every' in cadence) return scheduler.every(everyMs(cadence.every), options, handler)
    return scheduler.schedule(cadence.cron, { ...options, dialect: 'extended' }, handler)
  }
}

/**
 * A slot that falls due during a run counts as missed once the run was long, so to queue such slots
 * takes `catch-up`; which of the missed ones run is then for `slotToRun` to say.
 */
function policyOf({ overlap, catchUp }: CheckedSpec): MissedPolicy {
  if (overlap === 'queue' || catchUp === 'all') return 'catch-up'
  return catchUp === 'last' ? 'run-once' : 'skip'
}

/** The slot that a run of the scheduler stands for; `undefined`: none, it is passed over. */
function slotToRun(
  spec: CheckedSpec,
  run: ScheduledRun,
  { registeredAt, now }: { registeredAt: number; now: number },
): number | undefined {
  const { name, cadence, overlap, catchUp } = spec
  const slot = run.scheduledAt.getTime()
  if (!run.missed || catchUp === 'all') return slot
  const newest = (until: number) => slotsOf(cadence, { name, anchor: slot }).latest(until) ?? slot
  // `run-once` comes with the first missed slot; the contract wants the newest.
  if (overlap === 'skip') return newest(now)
  if (slot >= registeredAt) return slot
  return catchUp === 'last' && newest(registeredAt) === slot ? slot : undefined
}

/**
 * Triggers with a key: a delay of no time under an id of its own, whose row says to all replicas
 * and for ever that it ran.
 */
class OnceKeys {
  readonly #scheduler: DurableScheduler
  readonly #clock: Clock
  readonly #known = new Map<string, { seat: Seat; ended: Deferred; isRunning: boolean }>()

  constructor(scheduler: DurableScheduler, clock: Clock) {
    this.#scheduler = scheduler
    this.#clock = clock
    scheduler.on('registered', ({ taskId, nextRunAt }) => this.#registered(taskId, nextRunAt))
  }

  trigger(seat: Seat, name: string, dedupKey: string): Promise<void> {
    const id = manualKey(name, dedupKey)
    const known = this.#known.get(id)
    // Whoever asks first hears how it went; to the others it is somebody else's.
    if (known) return known.ended.promise.catch(() => {})
    const key = { seat, ended: new Deferred(), isRunning: false }
    this.#known.set(id, key)
    try {
      this.#scheduler.delay(0, { id, missed: 'run-once' }, async (run: ScheduledRun) => {
        key.isRunning = true
        const outcome = await outcomeOf(() => seat.runKey(id, run))
        key.isRunning = false
        if (outcome.ok) key.ended.end(SUCCESS)
        else if (!run.signal.aborted) key.ended.end(outcome)
        if (!outcome.ok) throw outcome.error
      })
    } catch (error) {
      this.#known.delete(id)
      key.ended.end({ ok: false, error })
    }
    return key.ended.promise
  }

  /** Those that wait for their turn elsewhere are not waited for any longer. */
  leave(seat: Seat): void {
    const error = new Error('trigger: stopped before it ran here; another replica may run it')
    for (const key of this.#known.values()) {
      if (key.seat === seat && !key.isRunning) key.ended.end({ ok: false, error })
    }
  }

  #registered(id: string, nextRunAt: Date | null): void {
    const key = this.#known.get(id)
    if (!key) return
    // Without a slot it ran long ago. Nothing tells that another replica is running it right now,
    // except that our own claim, which comes next, does not lead to a run.
    if (nextRunAt === null) key.ended.end(SUCCESS)
    else this.#clock.setTimer(() => key.isRunning || key.ended.end(SUCCESS), CLAIM_MS_MAX)
  }
}
