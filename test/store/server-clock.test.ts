// The clock that follows a server's: what it makes of round trips and of a local clock that is off.

import { describe, expect, it } from 'vitest'
import { ServerClock } from '../../src/store/server-clock.ts'
import { VirtualClock } from '../../src/testing/index.ts'

/** A server that is `aheadMs` ahead of `local` and answers after the given round trips, in turn. */
function measured(local: VirtualClock, aheadMs: number, roundTripsMs: readonly number[]) {
  const left = [...roundTripsMs]
  return new ServerClock(local, async () => {
    const halfMs = (left.shift() ?? 0) / 2
    await local.advance(halfMs)
    const now = local.now() + aheadMs
    await local.advance(halfMs)
    return now
  })
}

describe('the clock of a server', () => {
  it('is the local one until it is measured', () => {
    const local = new VirtualClock('2026-01-01')
    expect(measured(local, 500, []).now()).toBe(local.now())
  })

  it.each([0, 1, -3_600_000, 86_400_000])('that is %i ms ahead is followed', async (aheadMs) => {
    const local = new VirtualClock('2026-01-01')
    const clock = measured(local, aheadMs, [40, 40, 40])
    expect(await clock.measure()).toBe(aheadMs)
    await local.advance(1234)
    expect(clock.now()).toBe(local.now() + aheadMs)
    expect(clock.offsetMs).toBe(aheadMs)
  })

  it('is what the fastest of the round trips says', async () => {
    const local = new VirtualClock('2026-01-01')
    const answers = [9000, 20, 4000]
    const clock = new ServerClock(local, async () => {
      const roundTripMs = answers.shift() ?? 0
      await local.advance(roundTripMs)
      return local.now() + 7 // As if the whole round trip had been the request's.
    })
    expect(await clock.measure()).toBe(7 + 10)
  })
})
