// The contract over a Scheduler and whatever store it has: each registration is a durable task, so
// persistence, claims and leases are the scheduler's. Here the policies are mapped, and runs are
// led through the chain that all backends share.

import { type Clock, systemClock } from '../clock.ts'
import type { MissedPolicy } from '../scheduler/decide.ts'
import type { ScheduledRun } from '../scheduler/run.ts'
import type { ScheduledTask } from '../scheduler/task.ts'
import { everyMs, slotsOf } from './cadence.ts'
import type { Backend, Registration, RegistrationSpec, Tick } from './contract.ts'
import { type DurableScheduler, OnceKeys } from './once-keys.ts'
import { type CheckedSpec, checkedSpec } from './registration-spec.ts'
import { TickChain } from './tick-chain.ts'

/** Options of `durable`. */
export interface DurableBackendOptions {
  /** The scheduler's own, when it has another than the system's. */
  readonly clock?: Clock | undefined
}

/**
 * Runs registrations as durable tasks of a scheduler, which the caller starts and stops. The name
 * is the task's id. Intervals count from when they were first stored.
 *
 * `stop` leaves the row to the other replicas and to a later registration of the name; what was
 * claimed and has not begun is handed back at once.
 */
export function durable(
  scheduler: DurableScheduler,
  { clock = systemClock }: DurableBackendOptions = {},
): Backend {
  return {
    register(spec: RegistrationSpec, tick: Tick): Registration {
      const checked = checkedSpec(spec, tick, clock.now())
      const registeredAt = clock.now()
      const chain: TickChain = new TickChain({
        spec: checked,
        clock,
        triggerOnce: (dedupKey) => keys.trigger(dedupKey),
      })
      const keys = new OnceKeys({ scheduler, clock, chain, name: checked.name })
      let isStopped = false
      const task = addTask(scheduler, checked, async (run) => {
        const slot = slotToRun(checked, run, { registeredAt, now: clock.now() })
        if (slot !== undefined) await chain.take({ scheduledAt: slot, signal: run.signal })
      })
      return {
        trigger: (dedupKey) => chain.trigger(dedupKey),
        next: () => (isStopped ? undefined : (task.nextRunAt ?? estimate(checked, clock.now()))),
        stop() {
          isStopped = true
          task.leave()
          keys.leave()
          return chain.stop()
        },
      }
    },
  }
}

function addTask(
  scheduler: DurableScheduler,
  spec: CheckedSpec,
  handler: (run: ScheduledRun) => Promise<void>,
): ScheduledTask {
  const { name: id, cadence } = spec
  // The chain decides what is dropped: here no slot may be.
  const options = { id, missed: policyOf(spec), maxCatchUp: Number.MAX_SAFE_INTEGER }
  if ('every' in cadence) return scheduler.every(everyMs(cadence.every), options, handler)
  return scheduler.schedule(cadence.cron, { ...options, dialect: 'extended' }, handler)
}

/** The next slot before the store has said one. */
function estimate({ slots }: CheckedSpec, now: number): Date | undefined {
  const next = slots.after(now)
  return next === null ? undefined : new Date(next)
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
