// What the engine makes of a store that fails: RELIABILITY §3 and SPEC §2.5.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Scheduler } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000
const at = (time: string) => Date.parse(`2026-03-02T${time}Z`)

let world: World
let faulty: FaultyStore<World['store']>
let replica: Scheduler
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
  faulty = new FaultyStore(world.store)
  replica = world.replica({ store: faulty.proxy })
})
afterEach(() => world.checkInvariants())

describe('a claim whose reply is lost', () => {
  test('and that was carried out is found in the row and run', async () => {
    const adopted: unknown[] = []
    replica.on('claim-adopted', (event) => adopted.push(event))
    faulty.fault = (method, call) =>
      method === 'claimDueMany' && call === 1 ? 'unanswered' : undefined
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE + 2000)
    expect(world.runs).toMatchObject([
      { slot: '2026-03-02T10:01:00.000Z', token: 1, missed: false },
    ])
    expect(adopted).toMatchObject([{ taskId: 'job', fencingToken: 1 }])
    await world.clock.advance(MINUTE)
    expect(world.slots()).toEqual(['10:01:00', '10:02:00'])
  })

  test('and that was not carried out is made again', async () => {
    faulty.fault = (method, call) =>
      method === 'claimDueMany' && call === 1 ? 'dropped' : undefined
    replica.every('1m', { id: 'job', missed: 'run-once' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE + 2000)
    expect(world.slots()).toEqual(['10:01:00'])
  })

  test('is not run when it is found too late, but handed back', async () => {
    const handedBack: unknown[] = []
    replica.on('hand-back', (event) => handedBack.push(event))
    const away = { is: false }
    faulty.fault = (method) => {
      if (method === 'claimDueMany' && !away.is) {
        away.is = true
        return 'unanswered'
      }
      return away.is ? 'refused' : undefined
    }
    replica.every('1m', { id: 'job', leaseMs: '6s' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE + 20_000)
    expect(world.runs).toEqual([])
    away.is = false
    faulty.fault = () => undefined
    await world.clock.advance(12_000)
    // Nobody ran it: whoever claims it next runs it as itself.
    expect(handedBack).toMatchObject([{ fencingToken: 1 }])
    expect(world.runs[0]).toMatchObject({
      slot: '2026-03-02T10:01:00.000Z',
      token: 2,
      missed: false,
    })
  })

  test('of a missed slot stays missed when it is adopted', async () => {
    replica.every('1m', { id: 'job', missed: 'run-once' }, world.handler())
    await replica.start()
    await replica.stop()
    await world.clock.advance(90_000)
    faulty.fault = (method, call) =>
      method === 'claimDueMany' && call === 1 ? 'unanswered' : undefined
    await replica.start()
    await world.clock.advance(3000)
    expect(world.marked()).toEqual(['10:01:00!'])
  })

  test('of a slot that was taken over runs as itself when it is adopted', async () => {
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await replica.stop()
    await world.clock.advance(MINUTE)
    await world.store.claimDue('job', 'dead', world.clock.now(), 10_000)
    await world.clock.advance(20_000)
    faulty.fault = (method, call) =>
      method === 'claimDueMany' && call === 1 ? 'unanswered' : undefined
    await replica.start()
    await world.clock.advance(3000)
    expect(world.marked()).toEqual(['10:01:00'])
  })
})

describe('a commit whose reply is lost', () => {
  test('is settled by the row, though another claim has followed', async () => {
    const unknown: unknown[] = []
    replica.on('commit-unknown', (event) => unknown.push(event))
    faulty.fault = (method, call) => {
      if (method !== 'completeMany') return undefined
      if (call === 1) return 'unanswered'
      // Until another replica has claimed the next slot.
      return world.clock.now() < at('10:02:01') ? 'refused' : undefined
    }
    replica.every('1m', { id: 'job', missed: 'run-once' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE)
    const other = world.replica()
    other.every('1m', { id: 'job', missed: 'run-once' }, world.handler())
    await other.start()
    await world.clock.advance(3 * MINUTE)
    expect(world.slots()).toEqual(['10:01:00', '10:02:00', '10:03:00', '10:04:00'])
    expect(unknown).toMatchObject([{ fencingToken: 1 }])
  })

  test('and that was never carried out ends in a take-over when nobody can commit', async () => {
    const faulted = { is: true }
    faulty.fault = (method) => (method === 'completeMany' && faulted.is ? 'dropped' : undefined)
    replica.every('1m', { id: 'job', leaseMs: '10s' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE)
    const other = world.replica()
    other.every('1m', { id: 'job', leaseMs: '10s' }, world.handler())
    await other.start()
    await world.clock.advance(15_000)
    expect(
      world.runs.map(({ slot, token, missed }) => [slot.slice(11, 19), token, missed]),
    ).toEqual([
      ['10:01:00', 1, false],
      ['10:01:00', 2, false],
    ])
    faulted.is = false
    await world.clock.advance(2 * MINUTE)
    expect(world.slots().slice(2)).toEqual(['10:02:00', '10:03:00'])
  })

  test('does not hold up stop for ever', async () => {
    faulty.fault = (method) => (method === 'completeMany' ? 'dropped' : undefined)
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE)
    await world.within(20_000, replica.stop(), 100)
    expect(world.clock.pendingTimers).toBe(0)
  })
})

describe('a renewal that fails', () => {
  test('leaves the deadline as it was: the signal aborts before the lease ends', async () => {
    const lost: unknown[] = []
    replica.on('lease-lost', ({ reason }) => lost.push([reason, world.clock.now()]))
    faulty.fault = (method) => (method === 'renewMany' ? 'dropped' : undefined)
    replica.every('1m', { id: 'job', leaseMs: '10s' }, world.handler(30_000))
    await replica.start()
    await world.clock.advance(2 * MINUTE)
    expect(lost[0]).toEqual(['uncertain', at('10:01:09')])
    expect(world.runs[0]?.signal.aborted).toBe(true)
  })

  test('is tried again while there is time', async () => {
    faulty.fault = (method, call) =>
      method === 'renewMany' && call % 3 !== 0 ? 'refused' : undefined
    replica.every('10m', { id: 'job', leaseMs: '10s' }, world.handler(MINUTE))
    await replica.start()
    await world.clock.advance(12 * MINUTE)
    expect(world.runs[0]?.signal.aborted).toBe(false)
    expect(await world.store.get('job')).toMatchObject({ lastRunAt: at('10:10:00') })
  })
})
