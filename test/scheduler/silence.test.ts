// A store that stays silent: one call without an answer holds up nothing else, and is asked again
// while there is time.

import { describe, expect, it } from 'vitest'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const METHODS = ['register', 'claimDue', 'get', 'complete'] as const

function setUp({ single }: { single: boolean }) {
  const world = new World()
  const faulty = new FaultyStore(world.store, { single })
  const scheduler = world.replica({ store: faulty.proxy })
  return { world, faulty, scheduler }
}

/** Whether the call is about that task, alone or in a batch. */
const isAbout = (id: string, [subject]: readonly unknown[]) => JSON.stringify(subject).includes(id)

describe('a call that is never answered', () => {
  for (const silent of METHODS) {
    it(`${silent} of one task holds up no other task`, async () => {
      const { world, faulty, scheduler } = setUp({ single: true })
      faulty.fault = (method, _, args) =>
        method === silent && isAbout('stuck', args) ? 'silent' : undefined
      scheduler.every('10s', { id: 'stuck' }, () => {})
      scheduler.every('10s', { id: 'beside' }, world.handler())
      scheduler.every('7s', { id: 'other' }, world.handler())
      void scheduler.start()
      await world.clock.advance(42_500)
      expect(world.slots('beside')).toEqual(['10:00:10', '10:00:20', '10:00:30', '10:00:40'])
      expect(world.slots('other')).toHaveLength(6)
      for (const run of world.runs) {
        expect(run.startedAt - Date.parse(`2026-03-02T${run.slot.slice(11)}`)).toBeLessThan(1000)
      }
    })
  }

  it('a claim is found in the row in time to be run', async () => {
    const { world, faulty, scheduler } = setUp({ single: false })
    faulty.fault = (method, call) =>
      method === 'claimDueMany' && call === 1 ? 'silent' : undefined
    scheduler.every('1h', { id: 'task', leaseMs: '6s' }, world.handler())
    await scheduler.start()
    await world.clock.advance(3_604_000)
    expect(world.marked()).toEqual(['11:00:00'])
    expect(world.runs[0]?.token).toBe(1)
  })

  it('a commit is sent again before its lease ends', async () => {
    const { world, faulty, scheduler } = setUp({ single: true })
    faulty.fault = (method, call) => (method === 'complete' && call === 1 ? 'silent' : undefined)
    scheduler.every('10s', { id: 'task', leaseMs: '6s' }, world.handler())
    await scheduler.start()
    await world.clock.advance(20_000)
    expect(world.marked()).toEqual(['10:00:10', '10:00:20'])
  })

  it('a commit to a store without batches does not wait long for a look at the row', async () => {
    const { world, faulty, scheduler } = setUp({ single: true })
    scheduler.every('1h', { id: 'task', leaseMs: '10m' }, () => {})
    await scheduler.start()
    faulty.fault = (method) => (method === 'get' ? 'silent' : undefined)
    await world.clock.advance(3_600_000 + 6000)
    expect((await world.store.get('task'))?.lastRunAt).toBe(world.clock.now() - 6000)
  })

  for (const single of [true, false]) {
    it(`a renewal is sent again, and the run keeps its lease (single: ${single})`, async () => {
      const { world, faulty, scheduler } = setUp({ single })
      faulty.fault = (method, call) =>
        method.startsWith('renew') && call === 1 ? 'silent' : undefined
      scheduler.every('1h', { id: 'task', leaseMs: '30s' }, world.handler(120_000))
      await scheduler.start()
      await world.clock.advance(3_600_000 + 125_000)
      expect(world.runs.map(({ signal }) => signal.aborted)).toEqual([false])
    })
  }
})

describe('a store that swallows all calls for half a minute', () => {
  for (const single of [true, false]) {
    it(`is back in use soon after (single: ${single})`, async () => {
      const { world, faulty, scheduler } = setUp({ single })
      const start = world.clock.now()
      const outage = [start + 50_000, start + 80_000] as const
      faulty.fault = () => {
        const now = world.clock.now()
        return now >= outage[0] && now < outage[1] ? 'silent' : undefined
      }
      scheduler.every('1m', { id: 'task', missed: 'run-once' }, world.handler())
      scheduler.every('1h', { id: 'other' }, () => {})
      await scheduler.start()
      await world.clock.advance(180_000)
      expect(world.slots()).toEqual(['10:01:00', '10:02:00', '10:03:00'])
      expect(world.runs[0]!.startedAt - outage[1]).toBeLessThan(15_000)
      expect(world.runs[1]!.startedAt).toBe(start + 120_000)
    })
  }
})

describe('a claim that the client sent twice', () => {
  for (const single of [true, false]) {
    it(`is run at once, though its reply says that it is taken (single: ${single})`, async () => {
      const { world, faulty, scheduler } = setUp({ single })
      faulty.fault = (method) => (method.startsWith('claimDue') ? 'doubled' : undefined)
      scheduler.every('10s', { id: 'task' }, world.handler())
      await scheduler.start()
      await world.clock.advance(21_000)
      expect(world.marked()).toEqual(['10:00:10', '10:00:20'])
    })
  }
})

describe('a burst', () => {
  it('claims all that is due before it commits', async () => {
    const { world, faulty, scheduler } = setUp({ single: false })
    const order: string[] = []
    faulty.fault = (method) => {
      if (/^(claim|complete)/.test(method)) order.push(method)
      return undefined
    }
    for (let task = 0; task < 5000; task++) {
      scheduler.schedule('* * * * *', { id: `task ${task}` }, () => {})
    }
    await scheduler.start()
    await world.clock.advance(60_000)
    const claims = new Array(5).fill('claimDueMany')
    expect(order).toEqual([...claims, ...new Array(5).fill('completeMany')])
  })

  it('commits while claims stay without an answer', async () => {
    const { world, faulty, scheduler } = setUp({ single: true })
    faulty.fault = (method, _, args) =>
      method === 'claimDue' && isAbout('stuck', args) ? 'silent' : undefined
    scheduler.every('10s', { id: 'stuck' }, () => {})
    scheduler.every('10s', { id: 'task' }, () => {})
    await scheduler.start()
    await world.clock.advance(10_500)
    expect((await world.store.get('task'))?.lastRunAt).toBe(world.clock.now() - 500)
  })
})
