// A campaign for leadership over a lease provider.

import { beforeEach, describe, expect, test, vi } from 'vitest'
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

  test('that is started again while it stops asks at one pace, and stops for good', async () => {
    const asked: number[] = []
    const slow: LeaseProvider = {
      acquire: async (...args) => {
        asked.push(clock.now())
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 500))
        return provider.acquire(...args)
      },
      renew: async (...args) => {
        asked.push(clock.now())
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 500))
        return provider.renew(...args)
      },
      release: (...args) => provider.release(...args),
    }
    const a = campaign('a', slow)
    void a.start()
    await clock.advance(TTL_MS / 3 + 600)
    const again = [a.stop(), a.start()]
    await clock.advance(1000)
    await Promise.all(again)
    expect(a.isLeader()).toBe(true)
    asked.length = 0
    await clock.advance(10 * TTL_MS)
    const gaps = asked.slice(1).map((at, index) => at - (asked[index] ?? 0))
    expect(new Set(gaps)).toEqual(new Set([TTL_MS / 3 + 500]))
    expect(a.isLeader()).toBe(true)
    await Promise.all([a.stop(), a.start(), a.stop()])
    expect([a.isLeader(), clock.pendingTimers]).toEqual([false, 0])
    const b = campaign('b')
    await b.start()
    expect(b.isLeader()).toBe(true)
    await b.stop()
  })

  test('goes on when whoever is told of an error throws', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    let isAway = true
    const a = new Campaign({
      ...{ name: 'leader', owner: 'a', ttlMs: TTL_MS, clock },
      provider: {
        acquire: (...args) =>
          isAway ? Promise.reject(new Error('away')) : provider.acquire(...args),
        renew: (...args) => provider.renew(...args),
        release: () => Promise.reject(new Error('away')),
      },
      onError: () => {
        throw new Error('no disk')
      },
    })
    await a.start()
    isAway = false
    await clock.advance(TTL_MS)
    expect(a.isLeader()).toBe(true)
    await a.stop()
    expect([clock.pendingTimers, log.mock.calls.length]).toEqual([0, 2])
    log.mockRestore()
  })

  test('leads again after a release that threw', async () => {
    const throwing: LeaseProvider = {
      acquire: (...args) => provider.acquire(...args),
      renew: (...args) => provider.renew(...args),
      release: () => {
        throw new Error('no connection')
      },
    }
    const a = campaign('a', throwing)
    await a.start()
    await a.stop()
    expect(errors).toMatchObject([{ message: 'no connection' }])
    const started = a.start()
    await clock.advance(2 * TTL_MS)
    await started
    expect(a.isLeader()).toBe(true)
    await a.stop()
  })

  test('that is told at its end that its lease is gone asks for no other', async () => {
    let acquired = 0
    const losing: LeaseProvider = {
      acquire: (...args) => {
        acquired++
        return provider.acquire(...args)
      },
      renew: async () => {
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 500))
        return false
      },
      release: (...args) => provider.release(...args),
    }
    const a = campaign('a', losing)
    await a.start()
    await clock.advance(TTL_MS / 3 + 100)
    const stopped = a.stop()
    await clock.advance(1000)
    await stopped
    expect(acquired).toBe(1)
  })

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
