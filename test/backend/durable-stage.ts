// Replicas on one store and virtual time, for tests of `durable`; each test has its own.

import { afterEach, beforeEach, expect } from 'vitest'
import type { Backend, RegistrationSpec, Tick } from '../../src/backend/contract.ts'
import { durable } from '../../src/backend/durable.ts'
import { Scheduler } from '../../src/scheduler/scheduler.ts'
import { MemoryScheduleStore } from '../../src/store/memory/memory-schedule-store.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { SPEC, unhandledRejections } from './ticks.ts'

const SILENT = { warn: () => {}, error: () => {} }

export const MINUTELY = { cron: '* * * * *' }

export const spec = (change: Partial<RegistrationSpec> = {}): RegistrationSpec => ({
  ...SPEC,
  cadence: MINUTELY,
  ...change,
})

/** Sets up a store and a clock for each test; what runs at its end is stopped. */
export function durableStage() {
  const schedulers: Scheduler[] = []
  let rejections: ReturnType<typeof unhandledRejections>

  const stage = {
    clock: new VirtualClock(),
    store: new MemoryScheduleStore(),

    /** An empty store, at midnight of the year's first day. */
    reset() {
      stage.clock = new VirtualClock('2026-01-01T00:00:00Z')
      stage.store = new MemoryScheduleStore()
    },

    /** A scheduler that is not started, and its backend. */
    idle(): { scheduler: Scheduler; backend: Backend } {
      const { store, clock } = stage
      const scheduler = new Scheduler({ store, clock, logger: SILENT, drainMs: 0 })
      schedulers.push(scheduler)
      return { scheduler, backend: durable(scheduler, { clock }) }
    },

    /** A replica on the test's store. */
    async replica(): Promise<{ scheduler: Scheduler; backend: Backend }> {
      const replica = stage.idle()
      await replica.scheduler.start()
      return replica
    },

    async stop(scheduler: Scheduler): Promise<void> {
      const stopped = scheduler.stop()
      await stage.clock.advance(20_000)
      await stopped
    },
  }

  beforeEach(() => {
    stage.reset()
    rejections = unhandledRejections()
  })

  afterEach(async () => {
    for (const scheduler of schedulers.splice(0)) await stage.stop(scheduler)
    rejections.stop()
    expect(rejections.found).toEqual([])
  })
  return stage
}

/** A tick that ends at once, and the minutes of its slots. */
export function quickTick() {
  const minutes: number[] = []
  const keys: string[] = []
  const tick: Tick = async ({ key, scheduledAt }) => {
    minutes.push(scheduledAt.getTime() / 60_000 - Date.parse('2026-01-01') / 60_000)
    keys.push(key)
  }
  return { tick, minutes, keys }
}
