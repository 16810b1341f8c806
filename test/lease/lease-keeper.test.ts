// The keeper of leases: when it renews, when it gives up, and what it believes.

import { beforeEach, describe, expect, test } from 'vitest'
import { LeaseKeeper, type LossReason } from '../../src/lease/lease-keeper.ts'
import { moment, TrustWindow } from '../../src/lease/trust-window.ts'
import type { Renewal } from '../../src/store/store.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const LEASE_MS = 9000

let clock: VirtualClock
let sent: { at: number; renewals: readonly Renewal[] }[]
let answer: (renewal: Renewal) => boolean | Error | Promise<boolean | Error>
let keeper: LeaseKeeper
let errors: Error[]

beforeEach(() => {
  clock = new VirtualClock(0)
  sent = []
  errors = []
  answer = () => true
  keeper = new LeaseKeeper({
    clock,
    renew: (renewals) => {
      sent.push({ at: clock.now(), renewals })
      return Promise.all(renewals.map(answer))
    },
    onError: (error) => errors.push(error),
  })
})

function keep(id = 'job', leaseMs = LEASE_MS, sentAt = moment(clock)) {
  const lost: [LossReason, number][] = []
  const lease = keeper.keep({
    id,
    fencingToken: 1,
    leaseMs,
    sentAt,
    onLost: (reason) => lost.push([reason, clock.now()]),
  })
  return { lease, lost }
}

describe('a trust window', () => {
  // Opened at 0 for 9000 ms: it closes at 8100 by either clock.
  test.each<[string, number, number, boolean]>([
    ['at its start', 0, 0, true],
    ['just before its end', 8099, 8099, true],
    ['at its end', 8100, 8100, false],
    ['the machine slept', 8100, 10, false],
    ['the wall clock was set back', -5000, 8100, false],
  ])('%s', (_, wall, monotonic, isOpen) => {
    const window = new TrustWindow({ wall: 0, monotonic: 0 }, LEASE_MS)
    const now = { now: () => wall, monotonic: () => monotonic, setTimer: clock.setTimer }
    expect(window.isOpen(now)).toBe(isOpen)
    if (!isOpen) expect(window.leftMs(now)).toBe(0)
  })

  test('of a long lease keeps a margin of one second', () => {
    const window = new TrustWindow({ wall: 0, monotonic: 0 }, 60_000)
    expect(window.leftMs(clock)).toBe(59_000)
  })
})

describe('the keeper', () => {
  test('renews a third through, to a whole lease from then', async () => {
    keep()
    await clock.advance(9000)
    expect(sent.map(({ at }) => at)).toEqual([3000, 6000, 9000])
    expect(sent[0]?.renewals).toEqual([{ id: 'job', fencingToken: 1, leaseUntil: 12_000 }])
  })

  test('renews what is due at about the same time in one go', async () => {
    for (let n = 0; n < 100; n++) {
      keep(`task-${n}`)
      await clock.advance(1)
    }
    await clock.advance(3000)
    expect(sent).toHaveLength(1)
    expect(clock.pendingTimers).toBe(1)
  })

  test('stops when it is released', async () => {
    const { lease, lost } = keep()
    keeper.release(lease)
    expect(keeper.isHeld(lease)).toBe(false)
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(20_000)
    expect([sent, lost]).toEqual([[], []])
  })

  test('tells at once when the store refuses', async () => {
    const { lease, lost } = keep()
    answer = () => false
    await clock.advance(20_000)
    expect(lost).toEqual([['rejected', 3000]])
    expect(keeper.isHeld(lease)).toBe(false)
    expect(sent).toHaveLength(1)
  })

  test('counts from before the request: a late yes does not extend trust from then', async () => {
    const { lost } = keep()
    answer = () => new Promise((resolve) => void clock.setTimer(() => resolve(true), 4000))
    // Sent at 3000 and answered at 7000, it is trusted until 3000 + 8100 and renewed at once; that
    // is answered too, so trust lasts until 7001 + 8100.
    await clock.advance(7001)
    expect(sent.map(({ at }) => at)).toEqual([3000, 7001])
    answer = () => new Promise(() => {})
    await clock.advance(20_000)
    expect(lost).toEqual([['uncertain', 15_101]])
  })

  test('tells nobody of a renewal that failed after the release', async () => {
    const { lease } = keep()
    answer = () =>
      new Promise((resolve) => void clock.setTimer(() => resolve(new Error('late')), 500))
    await clock.advance(3100)
    expect(sent).toHaveLength(1)
    keeper.release(lease)
    await clock.advance(1000)
    expect(errors).toEqual([])
  })

  test('does not extend trust after an error, retries, and gives up in time', async () => {
    const { lost } = keep()
    answer = () => new Error('no answer')
    await clock.advance(20_000)
    expect(lost).toEqual([['uncertain', 8100]])
    expect(errors.length).toBeGreaterThan(2)
    expect(sent.every(({ at }) => at < 8100)).toBe(true)
  })

  test('gives up what a sleep of the machine outlived', async () => {
    const { lease, lost } = keep()
    clock.suspend(60_000)
    expect(keeper.isHeld(lease)).toBe(false)
    await clock.advance(3000)
    expect(lost).toEqual([['uncertain', 63_000]])
    expect(sent).toEqual([])
  })

  test('keeps leases of very different lengths each at its pace', async () => {
    keep('short', 300)
    keep('long', 30_000)
    await clock.advance(10_000)
    const count = (id: string) =>
      sent.filter(({ renewals }) => renewals.some((r) => r.id === id)).length
    expect(count('long')).toBe(1)
    expect(count('short')).toBe(100)
  })
})
