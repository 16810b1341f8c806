// SPEC §2.5: how runs end, also those of runners that died, stalled or are stopped.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CronfenceError } from '../../src/errors.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const MINUTE = 60_000

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

const at = (time: string) => Date.parse(`2026-03-02T${time}Z`)

describe('dead runners', () => {
  test('are taken over: the slot runs again as itself, under a higher token', async () => {
    // A claim without a scheduler: its process has died.
    const replica = world.replica()
    replica.every('1m', { id: 'job', missed: 'catch-up' }, world.handler())
    await replica.start()
    await replica.stop()
    await world.clock.advance(MINUTE)
    await world.store.claimDue('job', 'dead', world.clock.now(), 10 * MINUTE)
    await replica.start()
    await world.clock.advance(9 * MINUTE)
    expect(world.runs).toEqual([])
    await world.clock.advance(70_000)
    expect(world.marked().slice(0, 3)).toEqual(['10:01:00', '10:02:00!', '10:03:00!'])
    expect(world.runs[0]?.token).toBe(2)
  })

  test('that were only stalled lose their lease, their signal and their commit', async () => {
    const a = world.replica()
    const rejected: unknown[] = []
    const lost: unknown[] = []
    a.on('lease-lost', ({ reason }) => lost.push(reason))
    a.on('commit-rejected', (event) => rejected.push(event))
    a.every('1m', { id: 'job', leaseMs: '6s' }, world.handler(20_000))
    await a.start()
    await world.clock.advance(MINUTE)
    // Meanwhile, as a stalled process would not see it, the lease passes to another.
    const row = await world.store.get('job')
    await world.store.renew('job', row!.fencingToken, world.clock.now())
    await world.store.claimDue('job', 'other', world.clock.now(), 60_000)
    await world.clock.advance(3000)
    expect(lost).toEqual(['rejected'])
    expect(world.runs[0]?.signal.aborted).toBe(true)
    await world.clock.advance(20_000)
    // Nothing more is written once the store has refused the lease.
    expect(rejected).toEqual([])
    expect(await world.store.get('job')).toMatchObject({
      leaseOwner: 'other',
      nextRunAt: at('10:01:00'),
    })
  })

  test('a stalled runner whose handler returned offers its commit; the token decides', async () => {
    const a = world.replica()
    const rejected: unknown[] = []
    a.on('commit-rejected', (event) => rejected.push(event))
    let finish = () => {}
    a.every('1m', { id: 'job', leaseMs: '6s' }, async () => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    await a.start()
    await world.clock.advance(MINUTE)
    const row = await world.store.get('job')
    await world.store.renew('job', row!.fencingToken, world.clock.now())
    await world.store.claimDue('job', 'other', world.clock.now(), 60_000)
    finish()
    await world.clock.settle()
    expect(rejected).toMatchObject([{ taskId: 'job', fencingToken: 1 }])
    expect(world.lines.join()).toContain('refused the commit of task "job"')
    expect(await world.store.get('job')).toMatchObject({ leaseOwner: 'other' })
  })

  test('a late commit that nobody challenged is accepted', async () => {
    const a = world.replica()
    const lost: unknown[] = []
    a.on('lease-lost', ({ reason }) => lost.push(reason))
    a.every('1m', { id: 'job', leaseMs: '6s' }, async () => {
      // The whole machine sleeps for longer than the lease.
      world.clock.suspend(20_000)
    })
    await a.start()
    await world.clock.advance(MINUTE)
    expect(lost).toEqual(['uncertain'])
    expect(await world.store.get('job')).toMatchObject({ lastRunAt: at('10:01:00') })
  })
})

describe('a lease', () => {
  test('is renewed every third of it while the handler runs', async () => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    replica.every('1h', { id: 'job', leaseMs: '30s' }, world.handler(95_000))
    await replica.start()
    await world.clock.advance(60 * MINUTE + 96_000)
    expect(faulty.count('renewMany')).toBe(9)
    expect(world.runs[0]?.signal.aborted).toBe(false)
  })

  test('of many runs is renewed together', async () => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    for (let n = 0; n < 500; n++) replica.every('1h', { id: `task-${n}` }, world.handler(50_000))
    await replica.start()
    await world.clock.advance(61 * MINUTE)
    expect(faulty.count('renewMany')).toBe(2)
    expect(world.clock.pendingTimers).toBeLessThanOrEqual(2)
  })
})

describe('stop', () => {
  test('in a catch-up goes on with the first slot that did not run', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job', missed: 'catch-up' }, world.handler(400))
    await replica.start()
    await replica.stop()
    await world.clock.advanceTo('2026-03-02T10:05:30Z')
    await replica.start()
    await world.clock.advance(500)
    await world.within(5000, replica.stop())
    expect(world.marked()).toEqual(['10:01:00!', '10:02:00!'])
    expect(await world.store.get('job')).toMatchObject({
      nextRunAt: at('10:03:00'),
      lastRunAt: at('10:02:00'),
    })
    await replica.start()
    await world.clock.advance(5000)
    expect(world.marked().slice(2)).toEqual(['10:03:00!', '10:04:00!', '10:05:00!'])
  })

  test('hands back a run that gives up because of its signal', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job' }, async ({ signal }) => {
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    })
    await replica.start()
    await world.clock.advance(MINUTE)
    const other = world.replica()
    other.every('1m', { id: 'job' }, world.handler())
    await other.start()
    await world.within(1000, replica.stop())
    await world.clock.advance(1000)
    expect(world.marked()).toEqual(['10:01:00'])
    expect(world.runs[0]?.token).toBe(2)
  })

  test('does not run what it claimed last, but hands it back', async () => {
    const faulty = new FaultyStore(world.store)
    const replica = world.replica({ store: faulty.proxy })
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    let stopped: Promise<void> | undefined
    faulty.fault = (method) => {
      if (method === 'claimDueMany') stopped ??= replica.stop()
      return undefined
    }
    await world.clock.advance(MINUTE)
    await stopped
    expect(world.runs).toEqual([])
    expect(await world.store.get('job')).toMatchObject({
      leaseUntil: expect.toSatisfy((until) => until <= at('10:01:00')),
      fencingToken: 1,
    })
  })

  test('twice is the same stop; before a start it does nothing', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job' }, world.handler())
    await Promise.all([replica.stop(), replica.stop()])
    expect(await world.store.list()).toEqual([])
    await replica.start()
    await replica.start()
    await world.clock.advance(MINUTE)
    expect(world.runs).toHaveLength(1)
  })

  test('leaves no timer', async () => {
    const replica = world.replica()
    replica.every('1m', { id: 'job' }, world.handler())
    await replica.start()
    await world.clock.advance(MINUTE)
    await replica.stop()
    expect(world.clock.pendingTimers).toBe(0)
  })

  test('hands back at once also to a replica whose clock is behind', async () => {
    const a = world.replica({ drainMs: 500 })
    const b = world.replica({ clock: world.clock.skewed({ offsetMs: -20_000 }) })
    a.every('1h', { id: 'job' }, world.handler(120_000))
    await a.start()
    b.every('1h', { id: 'job' }, world.handler())
    await b.start()
    await world.clock.advance(60 * MINUTE + 30_000)
    await world.within(1000, a.stop())
    await world.clock.advance(3000)
    expect(world.marked()).toEqual(['11:00:00', '11:00:00'])
  })

  test('#7: ends a start under way well, also when the store is stopped next', async () => {
    let closeStore = () => {}
    const closed = new Promise<never>((_, reject) => {
      closeStore = () => reject(new CronfenceError('STORE_CLOSED', 'the store was stopped'))
    })
    const store = new Proxy(world.store, {
      get: (target, name) => (name === 'start' ? () => closed : Reflect.get(target, name)),
    })
    const early = world.replica({ store })
    const started = early.start()
    await world.clock.advance(5000)
    await world.within(100, early.stop())
    closeStore()
    await started
    expect(world.clock.pendingTimers).toBe(0)
  })
})
