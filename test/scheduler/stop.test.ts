// How a scheduler stops: in bounded time, whatever the store and the leader lease do, and so that
// nothing goes on afterwards.

import { describe, expect, it } from 'vitest'
import type { LeaseProvider, SchedulerOptions } from '../../src/index.ts'
import { MemoryLeaseProvider } from '../../src/index.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

/** For the last writes; draining takes no time here. */
const WRITES_MS_MAX = 5000
/** A coordinator may take that long to start, and to stop. */
const LEADER_MS_MAX = 5000

interface Setting extends SchedulerOptions {
  readonly single?: boolean
  /** How long the store takes to answer `register`, and everything else. */
  readonly registerMs?: number
  readonly otherMs?: number
}

function setUp({ single = false, registerMs = 0, otherMs = 0, ...options }: Setting = {}) {
  const world = new World()
  const slow = new Proxy(world.store, {
    get: (target, name: string) => {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        await world.sleep(name.startsWith('register') ? registerMs : otherMs)
        return method.apply(target, args)
      }
    },
  })
  const isSlow = registerMs + otherMs > 0
  const faulty = new FaultyStore(isSlow ? slow : world.store, { single })
  const scheduler = world.replica({ store: faulty.proxy, drainMs: 0, ...options })
  return { world, faulty, scheduler }
}

type Stage = ReturnType<typeof setUp>

/** Stops, and sees that nothing goes on then: no timer beside those of the test, and no call. */
async function stopAndWatch({ world, faulty, scheduler }: Stage, maxMs = WRITES_MS_MAX, own = 0) {
  const calls = () => [...faulty.calls.values()].reduce((sum, count) => sum + count, 0)
  const stopped = scheduler.stop().then(() => [world.clock.pendingTimers, calls()])
  const [timers, sent] = await world.within(maxMs + 50, stopped)
  expect(timers).toBe(own)
  await world.clock.advance(120_000)
  expect(calls()).toBe(sent)
}

const never = new Promise<never>(() => {})

describe('stop() while the store has not answered', () => {
  const methods = ['start', 'list', 'register', 'claimDue', 'get', 'renew', 'complete'] as const
  for (const silent of methods) {
    for (const single of [true, false]) {
      it(`to ${silent} waits no longer than it says (single: ${single})`, async () => {
        const stage = setUp({ single })
        const { world, faulty, scheduler } = stage
        let isSilent = false
        faulty.fault = (method) => {
          if (silent === 'get' && method.startsWith('claimDue')) return 'unanswered'
          isSilent ||= method.startsWith(silent)
          return method.startsWith(silent) ? 'silent' : undefined
        }
        const isRunning = silent === 'renew'
        for (const id of ['a', 'b']) {
          const handler = world.handler(isRunning ? 1_000_000 : 0)
          scheduler.every('10s', { id, leaseMs: '60s' }, handler)
        }
        const started = scheduler.start()
        await world.clock.advance(isRunning ? 31_000 : 12_000)
        expect(isSilent).toBe(true)
        await stopAndWatch(stage, WRITES_MS_MAX, isRunning ? 2 : 0)
        await started
        expect(world.lines.join('\n')).not.toContain('orphans')
      })
    }
  }

  it('sends no more of what was to be asked one by one', async () => {
    const stage = setUp({ single: true })
    const { world, faulty, scheduler } = stage
    for (let task = 0; task < 300; task++) scheduler.every('10s', { id: `${task}` }, () => {})
    await scheduler.start()
    faulty.fault = (method) => (method === 'claimDue' ? 'silent' : undefined)
    await world.clock.advance(10_500)
    await stopAndWatch(stage)
    expect(faulty.count('claimDue')).toBe(100)
  })

  it('tells what was not confirmed, and what was not handed back', async () => {
    const stage = setUp()
    const { world, faulty, scheduler } = stage
    const unknown: unknown[] = []
    scheduler.on('commit-unknown', (event) => unknown.push(event))
    faulty.fault = (method) => (/^(complete|renew)/.test(method) ? 'silent' : undefined)
    scheduler.every('10s', { id: 'done' }, () => {})
    scheduler.every('10s', { id: 'running' }, () => new Promise(() => {}))
    await scheduler.start()
    await world.clock.advance(10_500)
    await stopAndWatch(stage)
    expect(unknown).toMatchObject([{ taskId: 'done', fencingToken: 1 }])
    const lines = world.lines.join('\n')
    expect(lines).toMatch(/commit of task "done".* not confirmed, and the scheduler has stopped/)
    expect(lines).toMatch(/stopped before "running" could be handed back/)
  })

  it('does not read again what it could not commit', async () => {
    const stage = setUp({ single: true })
    const { world, faulty, scheduler } = stage
    for (const id of ['a', 'b']) scheduler.every('10s', { id }, () => {})
    await scheduler.start()
    let isCommitting = false
    faulty.fault = (method, _, [id]) => {
      isCommitting ||= method === 'complete'
      if (method === 'complete' && id === 'a') return 'doubled'
      return isCommitting ? 'silent' : undefined
    }
    await world.clock.advance(10_500)
    await stopAndWatch(stage)
  })

  it('leaves a claim that the next start finds, and runs', async () => {
    const { world, faulty, scheduler } = setUp()
    scheduler.every('10s', { id: 'task', leaseMs: '10m' }, world.handler())
    await scheduler.start()
    faulty.fault = (method) => (method === 'claimDueMany' ? 'silent' : undefined)
    await world.clock.advance(10_000)
    await world.within(WRITES_MS_MAX + 50, scheduler.stop())
    faulty.fault = () => undefined
    await scheduler.start()
    await world.clock.advance(1000)
    expect(world.runs).toMatchObject([{ slot: '2026-03-02T10:00:10.000Z', token: 1 }])
  })
})

describe('stop() while a row is being deleted', () => {
  it('waits for it, when the store answers', async () => {
    const { world, scheduler } = setUp({ otherMs: 1000 })
    await world.within(5000, scheduler.start())
    const task = scheduler.every('10s', { id: 'task' }, world.handler())
    await world.clock.advance(100)
    const cancelled = task.cancel()
    // Waits for the row to be gone, and then for the next start.
    scheduler.every('10s', { id: 'task' }, world.handler())
    await world.within(WRITES_MS_MAX, scheduler.stop())
    await cancelled
    expect(await world.store.list()).toEqual([])
    await world.within(5000, scheduler.start())
    await world.clock.advance(22_000)
    expect(world.slots()).toHaveLength(2)
  })

  it('waits for a registration that comes first', async () => {
    const stage = setUp({ registerMs: 200 })
    const { world, scheduler } = stage
    await world.within(1000, scheduler.start())
    const task = scheduler.every('1h', { id: 'task' }, () => {})
    await world.clock.advance(10)
    const cancelled = task.cancel()
    await stopAndWatch(stage)
    await cancelled
    expect(await world.store.list()).toEqual([])
  })

  it.each(['register', 'get', 'delete'])('rejects when %s has no answer', async (silent) => {
    const stage = setUp()
    const { world, faulty, scheduler } = stage
    await scheduler.start()
    let isDeleting = false
    faulty.fault = (method, _, [subject]) => {
      isDeleting ||= method === 'delete'
      if (method === 'delete' && subject === 'other') return undefined
      return method.startsWith(silent) || isDeleting ? 'silent' : undefined
    }
    const tasks = ['task', 'other'].map((id) => scheduler.every('1h', { id }, () => {}))
    await world.clock.advance(10)
    const cancelled = Promise.allSettled(tasks.map((task) => task.cancel()))
    await stopAndWatch(stage)
    const [task] = await cancelled
    expect(task).toMatchObject({
      reason: { message: expect.stringMatching(/stopped before the store answered/) },
    })
  })
})

describe('stop() with a leader lease', () => {
  it.each(['acquire', 'renew', 'release'] as const)('whose %s is silent', async (silent) => {
    const world = new World()
    const provider = new MemoryLeaseProvider({ clock: world.clock })
    const lease: LeaseProvider = {
      acquire: (...args) => (silent === 'acquire' ? never : provider.acquire(...args)),
      renew: (...args) => (silent === 'renew' ? never : provider.renew(...args)),
      release: (...args) => (silent === 'release' ? never : provider.release(...args)),
    }
    const scheduler = world.replica({ lease, drainMs: 0 })
    const started = scheduler.start()
    await world.clock.advance(silent === 'acquire' ? 3000 : 11_000)
    // All that falls due meanwhile comes at once afterwards.
    const stopped = scheduler.stop().then(() => world.clock.pendingTimers)
    await world.clock.stall(60_000)
    expect(await world.within(LEADER_MS_MAX, stopped)).toBe(0)
    await started
  })

  it.each([
    ['never starts', { start: () => never, stop: async () => {} }],
    ['never stops', { start: async () => {}, stop: () => never }],
  ])('whose coordinator %s', async (_, steps) => {
    const stage = setUp({ lease: { ...steps, isLeader: () => false } })
    void stage.scheduler.start()
    await stage.world.clock.advance(100)
    await stopAndWatch(stage, LEADER_MS_MAX)
  })
})
