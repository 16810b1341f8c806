// Schedulers to be stopped, over stores that are slow, silent or fail, and a stop that is watched.

import { expect } from 'vitest'
import type { SchedulerOptions } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

/** For the last writes; draining takes no time here. */
export const WRITES_MS_MAX = 5000
/** For a coordinator that is being started, and then to be stopped. */
export const LEADER_MS_MAX = 10_000

/** What a test sets. */
export interface Setting extends SchedulerOptions {
  readonly single?: boolean
  /** How long the store takes to answer `register`, and everything else. */
  readonly registerMs?: number
  readonly otherMs?: number
}

/** A world with a scheduler that is not started. */
export function setUp({ single = false, registerMs = 0, otherMs = 0, ...options }: Setting = {}) {
  const world = new World()
  const slow = new Proxy(world.store, {
    get: (target, name: string) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        await world.sleep(name.startsWith('register') ? registerMs : otherMs)
        return method.apply(target, args)
      }
    },
  })
  const isSlow = registerMs + otherMs > 0
  const faulty = new FaultyStore(isSlow ? slow : world.store, { single })
  const scheduler = world.replica({ store: faulty.proxy, drainMs: 0, ...options })
  return { world, faulty, scheduler }
}

/** What tests have before them. */
export type Stage = ReturnType<typeof setUp>

/** Stops, and sees that nothing goes on then: no timer beside those of the test, and no call. */
export async function stopAndWatch(
  { world, faulty, scheduler }: Stage,
  maxMs = WRITES_MS_MAX,
  own = 0,
) {
  const calls = () => [...faulty.calls.values()].reduce((sum, count) => sum + count, 0)
  const stopped = scheduler.stop().then(() => [world.clock.pendingTimers, calls()])
  const [timers, sent] = await world.within(maxMs + 50, stopped)
  expect(timers).toBe(own)
  await world.clock.advance(120_000)
  expect(calls()).toBe(sent)
}
