// Scenarios of the timer (shared cases, scenarios.md).

import { expect, test } from 'vitest'
import { Scheduler } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { World } from './harness.ts'

test('sc-timer-02: delays around the limit of setTimeout', async () => {
  const world = new World()
  const replica = world.replica()
  const limits = [2 ** 31 - 2, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 + 5000]
  const start = world.clock.now()
  const fired: number[] = []
  for (const ms of limits) replica.delay(ms, () => fired.push(world.clock.now() - start))
  for (let day = 0; day < 60; day++) await world.clock.advance(86_400_000)
  expect(fired).toEqual(limits)
})

test('sc-timer-05: a hundred thousand tasks come and go', async () => {
  const clock = new VirtualClock()
  const scheduler = new Scheduler({ clock })
  for (let round = 0; round < 5; round++) {
    const tasks = Array.from({ length: 100_000 }, () => scheduler.delay('1d', () => {}))
    expect(clock.pendingTimers).toBe(1)
    for (const task of tasks) void task.cancel()
    expect(clock.pendingTimers).toBe(0)
  }
})
