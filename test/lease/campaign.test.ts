// A campaign for leadership over a lease provider.

import { beforeEach, describe, expect, test } from 'vitest'
import { Campaign } from '../../src/lease/leader-gate.ts'
import type { LeaseProvider } from '../../src/lease/lease.ts'
import { MemoryLeaseProvider } from '../../src/store/memory/memory-lease-provider.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const TTL_MS = 30_000

let clock: VirtualClock
let provider: MemoryLeaseProvider
let errors: unknown[]
beforeEach(() => {
  clock = new VirtualClock(0)
  provider = new MemoryLeaseProvider({ clock })
  errors = []
})

const campaign = (owner: string, own: LeaseProvider = provider) =>
  new Campaign({
    provider: own,
    name: 'leader',
    owner,
    ttlMs: TTL_MS,
    clock,
    onError: (error) => errors.push(error),
  })

describe('a campaign', () => {
  test('leads, renews and gives up at stop, when another one leads soon', async () => {
    const [a, b] = [campaign('a'), campaign('b')]
    await a.start()
    await b.start()
    expect([a.isLeader(), b.isLeader()]).toEqual([true, false])
    for (let step = 0; step < 100; step++) {
      await clock.advance(3000)
      expect([a.isLeader(), b.isLeader()]).toEqual([true, false])
    }
    await a.stop()
    expect(a.isLeader()).toBe(false)
    await clock.advance(10_000)
    expect(b.isLeader()).toBe(true)
    await b.stop()
    expect(clock.pendingTimers).toBe(0)
  })

  test('does not lead when in doubt: before its lease ends by its own clock', async () => {
    let isAway = false
    const away = () => Promise.reject(new Error('away'))
    const flaky: LeaseProvider = {
      acquire: (...args) => (isAway ? away() : provider.acquire(...args)),
      renew: (...args) => (isAway ? away() : provider.renew(...args)),
      release: (...args) => (isAway ? away() : provider.release(...args)),
    }
    const a = campaign('a', flaky)
    await a.start()
    await clock.advance(25_000)
    isAway = true
    // Renewed at 20 s for 30 s, less a second.
    await clock.advance(23_999)
    expect(a.isLeader()).toBe(true)
    await clock.advance(1)
    expect(a.isLeader()).toBe(false)
    expect(errors.length).toBeGreaterThan(2)
    isAway = false
    await clock.advance(TTL_MS)
    expect(a.isLeader()).toBe(true)
    isAway = true
    await a.stop()
  })

  test('a stalled leader knows at its first look that its time is over', async () => {
    const [a, b] = [campaign('a'), campaign('b')]
    await a.start()
    clock.suspend(TTL_MS)
    expect(a.isLeader()).toBe(false)
    await b.start()
    expect(b.isLeader()).toBe(true)
    await clock.advance(11_000)
    expect([a.isLeader(), b.isLeader()]).toEqual([false, true])
  })

  test.each(['acquire', 'renew', 'release'] as const)(
    'stops soon while %s has no answer, and leaves no timer',
    async (silent) => {
      let hasStopped = false
      const never = new Promise<never>(() => {})
      const swallowing: LeaseProvider = {
        acquire: (...args) => (silent === 'acquire' ? never : provider.acquire(...args)),
        renew: (...args) => (silent === 'renew' ? never : provider.renew(...args)),
        release: (...args) => (silent === 'release' ? never : provider.release(...args)),
      }
      const a = campaign('a', swallowing)
      const started = a.start()
      await clock.advance(silent === 'acquire' ? 3000 : 11_000)
      const stopped = a.stop().then(() => {
        hasStopped = true
      })
      await clock.advance(5000)
      expect([hasStopped, clock.pendingTimers, a.isLeader()]).toEqual([true, 0, false])
      await Promise.all([started, stopped])
    },
  )

  test.each(['acquire', 'renew'] as const)(
    'goes on after %s was never answered',
    async (silent) => {
      let isSilent = true
      const never = new Promise<never>(() => {})
      const swallowing: LeaseProvider = {
        acquire: (...args) =>
          isSilent && silent === 'acquire' ? never : provider.acquire(...args),
        renew: (...args) => (isSilent && silent === 'renew' ? never : provider.renew(...args)),
        release: (...args) => provider.release(...args),
      }
      const a = campaign('a', swallowing)
      const started = a.start()
      await clock.advance(60_000)
      await started
      expect(a.isLeader()).toBe(false)
      expect(errors.length).toBeGreaterThan(0)
      isSilent = false
      await clock.advance(20_000)
      expect(a.isLeader()).toBe(true)
      await a.stop()
      expect(clock.pendingTimers).toBe(0)
    },
  )
})
