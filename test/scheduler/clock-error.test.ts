// RELIABILITY D3: a machine whose clock is far off the store's is told so, once.

import { expect, test } from 'vitest'
import type { Clock } from '../../src/index.ts'
import { World } from './harness.ts'

/** The world's clock, as if corrected by `offsetMs()`. */
const corrected = (clock: Clock, offsetMs: () => number): Clock => ({
  now: () => clock.now(),
  monotonic: () => clock.monotonic(),
  setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
  get offsetMs() {
    return offsetMs()
  },
})

test.each([
  [999, 0],
  [1001, 1],
  [-1001, 1],
])('a clock %i ms off, with a lease of 10 s, is warned of %i times', async (offset, times) => {
  const world = new World()
  const replica = world.replica({ clock: corrected(world.clock, () => offset) })
  replica.every('1s', { id: 'a', leaseMs: '10s' }, world.handler())
  replica.every('1s', { id: 'b', leaseMs: '1h' }, world.handler())
  await replica.start()
  await world.clock.advance(5000)
  expect(world.lines.filter((line) => line.includes("off the store's"))).toHaveLength(times)
  await replica.stop()
})

test('a clock that was set and is off again is warned of again', async () => {
  const world = new World()
  let offset = 2000
  const replica = world.replica({ clock: corrected(world.clock, () => offset) })
  replica.every('1s', { id: 'a', leaseMs: '10s' }, world.handler())
  await replica.start()
  await world.clock.advance(2000)
  offset = 0
  await world.clock.advance(2000)
  offset = -3000
  await world.clock.advance(2000)
  expect(world.lines.map((line) => /clock is (\d+) ms off/.exec(line)?.[1])).toEqual([
    '2000',
    '3000',
  ])
  await replica.stop()
})
