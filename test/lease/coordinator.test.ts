// The coordinator that stores hand out, over the memory provider on virtual time.

import { beforeEach, describe, expect, it } from 'vitest'
import { LeaseCoordinator, type LeaseCoordinatorOptions } from '../../src/lease/coordinator.ts'
import { MemoryLeaseProvider } from '../../src/store/memory/memory-lease-provider.ts'
import { VirtualClock } from '../../src/testing/index.ts'

const TTL_MS = 30_000

let clock: VirtualClock
let provider: MemoryLeaseProvider

beforeEach(() => {
  clock = new VirtualClock('2026-01-01')
  provider = new MemoryLeaseProvider({ clock })
})

const coordinator = (options: Partial<LeaseCoordinatorOptions> = {}) =>
  new LeaseCoordinator({ provider, clock, ...options })

describe('a coordinator', () => {
  it('leads from its start on, and keeps leading', async () => {
    const first = coordinator()
    expect(first.isLeader()).toBe(false)
    await first.start()
    for (let round = 0; round < 20; round++) {
      expect(first.isLeader()).toBe(true)
      await clock.advance(TTL_MS / 4)
    }
    await first.stop()
  })

  it('is one of many, whose successor leads after it stopped', async () => {
    const [first, second] = [coordinator(), coordinator()]
    await first.start()
    await second.start()
    expect([first.isLeader(), second.isLeader()]).toEqual([true, false])
    await first.stop()
    await clock.advance(TTL_MS / 3)
    expect([first.isLeader(), second.isLeader()]).toEqual([false, true])
    await second.stop()
  })

  it('leads no longer than it may trust its lease when the provider fails', async () => {
    const errors: unknown[] = []
    const first = coordinator({ onError: (error) => void errors.push(error) })
    await first.start()
    provider.renew = () => Promise.reject(new Error('no answer'))
    await clock.advance(TTL_MS)
    expect(first.isLeader()).toBe(false)
    expect(errors.length).toBeGreaterThan(1)
    await first.stop()
  })

  it('leads no longer when the wall clock jumps beyond the lease', async () => {
    const first = coordinator()
    await first.start()
    clock.stepWall(TTL_MS)
    expect(first.isLeader()).toBe(false)
    await first.stop()
  })

  it('gives no trust for a reply that took as long as the lease', async () => {
    const acquire = provider.acquire.bind(provider)
    provider.acquire = async (...values) => {
      clock.suspend(TTL_MS)
      return acquire(...values)
    }
    const first = coordinator()
    await first.start()
    expect(first.isLeader()).toBe(false)
    await first.stop()
  })

  it('of another name does not stand in the way', async () => {
    const [first, second] = [coordinator(), coordinator({ name: 'other' })]
    await first.start()
    await second.start()
    expect([first.isLeader(), second.isLeader()]).toEqual([true, true])
    await first.stop()
    await second.stop()
  })

  it('refuses a time to live that is none', () => {
    for (const ttlMs of [0, 2, 1.5, Number.NaN, Infinity]) {
      expect(() => coordinator({ ttlMs })).toThrow(RangeError)
    }
  })
})
