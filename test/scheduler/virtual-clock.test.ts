// VirtualClock itself: every other test of the scheduler trusts it.

import { describe, expect, test } from 'vitest'
import { TIMER_MS_MAX } from '../../src/clock.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

describe('VirtualClock', () => {
  test('advance fires timers in order, each at its own instant', async () => {
    const clock = new VirtualClock('2026-01-01T00:00:00Z')
    const fired: [string, number][] = []
    const start = clock.now()
    for (const [name, ms] of [
      ['c', 30],
      ['a', 10],
      ['b', 10],
    ] as const) {
      clock.setTimer(() => fired.push([name, clock.now() - start]), ms)
    }
    await clock.advance(29)
    expect(fired).toEqual([
      ['a', 10],
      ['b', 10],
    ])
    await clock.advance(1)
    expect(fired).toEqual([
      ['a', 10],
      ['b', 10],
      ['c', 30],
    ])
    expect(clock.monotonic()).toBe(30)
  })

  test('promises settle between two timers, and timers they set fire too', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.setTimer(async () => {
      for (let i = 0; i < 100; i++) await null
      seen.push('settled')
      clock.setTimer(() => seen.push('nested'), 1)
    }, 10)
    clock.setTimer(() => seen.push('later'), 20)
    await clock.advance(20)
    expect(seen).toEqual(['settled', 'nested', 'later'])
  })

  test('a cancelled timer never fires', async () => {
    const clock = new VirtualClock()
    let fired = 0
    clock.setTimer(() => fired++, 5).cancel()
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(10)
    expect(fired).toBe(0)
  })

  test('a step moves wall time alone, as does suspend; a stall moves both', async () => {
    const clock = new VirtualClock(1000)
    const fired: number[] = []
    clock.setTimer(() => fired.push(clock.now()), 10)
    clock.stepWall(-500)
    expect([clock.now(), clock.monotonic()]).toEqual([500, 0])
    clock.suspend(200)
    expect([clock.now(), clock.monotonic()]).toEqual([700, 0])
    await clock.stall(50)
    expect([clock.now(), clock.monotonic()]).toEqual([750, 50])
    expect(fired).toEqual([750])
  })

  test('a skewed clock has its own offset and rate', async () => {
    const clock = new VirtualClock(0)
    const fast = clock.skewed({ offsetMs: 5000, rate: 2 })
    let firedAt = -1
    fast.setTimer(() => (firedAt = clock.now()), 100)
    await clock.advance(100)
    expect([fast.now(), fast.monotonic(), firedAt]).toEqual([5200, 200, 50])
  })

  test('misuse is refused at once', async () => {
    const clock = new VirtualClock()
    expect(() => new VirtualClock('yesterday')).toThrow(RangeError)
    expect(() => clock.setTimer(() => {}, TIMER_MS_MAX + 1)).toThrow(RangeError)
    expect(() => clock.suspend(-1)).toThrow(RangeError)
    await expect(clock.advance(-1)).rejects.toThrow(RangeError)
    const first = clock.advance(1)
    await expect(clock.advance(1)).rejects.toThrow(/moving already/)
    await first
  })
})
