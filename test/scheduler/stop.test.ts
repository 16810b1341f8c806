// How a scheduler stops: in bounded time, whatever the store and the leader lease do, and so that
// nothing goes on afterwards.

import { describe, expect, it } from 'vitest'
import type { LeaseProvider } from '../../src/index.ts'
import { MemoryLeaseProvider } from '../../src/index.ts'
import { World } from './harness.ts'
import { LEADER_MS_MAX, setUp, stopAndWatch, WRITES_MS_MAX } from './stopping.ts'

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
    const failed: unknown[] = []
    scheduler.on('store-error', (event) => failed.push(event))
    faulty.fault = (method) => (/^(complete|renew)/.test(method) ? 'silent' : undefined)
    scheduler.every('10s', { id: 'done' }, () => {})
    scheduler.every('10s', { id: 'running' }, () => new Promise(() => {}))
    await scheduler.start()
    await world.clock.advance(10_500)
    await stopAndWatch(stage)
    expect(unknown).toMatchObject([{ taskId: 'done', fencingToken: 1 }])
    // Those tell when the next try is, and there is none.
    expect(failed).toEqual([])
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
    const stopped = scheduler.stop().then(() => world.clock.pendingTimers)
    expect(await world.within(LEADER_MS_MAX, stopped)).toBe(0)
    await started
  })

  it('whose provider is silent, in a process that stalls meanwhile', async () => {
    const world = new World()
    const provider = new MemoryLeaseProvider({ clock: world.clock })
    const lease: LeaseProvider = {
      acquire: (...args) => provider.acquire(...args),
      renew: () => never,
      release: () => never,
    }
    const scheduler = world.replica({ lease, drainMs: 0 })
    await scheduler.start()
    await world.clock.advance(11_000)
    const stopped = scheduler.stop().then(() => world.clock.pendingTimers)
    await world.clock.settle()
    // All timers that it has set fire at once.
    await world.clock.stall(60_000)
    expect(await world.within(LEADER_MS_MAX, stopped)).toBe(0)
  })

  it('whose coordinator is still being started', async () => {
    let isOn = false
    const lease = {
      start: async () => {
        await stage.world.sleep(1000)
        isOn = true
      },
      stop: async () => {
        isOn = false
      },
      isLeader: () => isOn,
    }
    const stage = setUp({ lease })
    void stage.scheduler.start()
    await stage.world.clock.advance(100)
    await stopAndWatch(stage, LEADER_MS_MAX)
    expect(isOn).toBe(false)
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

describe('stop() and start() that are called while the scheduler stops', () => {
  /** A task whose run, once aborted, does what `then` says and gives up; and runs on afterwards. */
  async function abortedBy(then: (stage: ReturnType<typeof setUp>) => unknown, otherMs: number) {
    const stage = setUp({ otherMs, drainMs: 10_000 })
    const { world, scheduler } = stage
    let runs = 0
    scheduler.every('10s', { id: 'task' }, async ({ signal }) => {
      if (runs++ > 0) return
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          then(stage)
          reject(signal.reason)
        })
      })
    })
    await world.within(1000, scheduler.start())
    await world.clock.advance(11_000)
    return { ...stage, runs: () => runs }
  }

  it.each([0, 20])('by a run that is aborted: it starts afterwards (%i ms)', async (otherMs) => {
    let again: Promise<void> | undefined
    const { world, scheduler, runs } = await abortedBy((stage) => {
      again = stage.scheduler.start()
    }, otherMs)
    await world.within(15_000, scheduler.stop())
    await world.within(1000, again ?? never)
    await world.clock.advance(60_000)
    expect(runs()).toBeGreaterThanOrEqual(6)
  })

  it('by a run that is aborted: two stops are one, and the next start lives', async () => {
    let stops = 0
    const lease = { start: async () => {}, stop: async () => void stops++, isLeader: () => true }
    const stage = setUp({ lease, drainMs: 10_000 })
    const { world, scheduler } = stage
    let runs = 0
    scheduler.every('10s', { id: 'task' }, async ({ signal }) => {
      runs++
      signal.addEventListener('abort', () => void scheduler.stop())
      if (runs === 1) await new Promise(() => {})
    })
    await scheduler.start()
    await world.clock.advance(11_000)
    await world.within(15_000, scheduler.stop())
    expect(stops).toBe(1)
    await world.within(1000, scheduler.start())
    await world.clock.advance(60_000)
    expect((await world.store.get('task'))?.leaseUntil).toBe(1)
    expect(world.clock.pendingTimers).toBeGreaterThan(0)
  })

  it('by a listener, in the middle of a start', async () => {
    const { world, scheduler } = setUp({ otherMs: 20 })
    let runs = 0
    scheduler.schedule('0 0 11 2 3 * 2026', { dialect: 'extended' }, () => {})
    scheduler.every('1s', () => runs++)
    await world.within(1000, scheduler.start())
    await world.within(1000, scheduler.stop())
    await world.clock.advance(2 * 3_600_000)
    let stopped: Promise<void> | undefined
    scheduler.on('dormant', () => {
      stopped = scheduler.stop()
    })
    runs = 0
    const started = scheduler.start()
    await world.clock.settle()
    expect(world.clock.pendingTimers).toBe(0)
    await world.within(1000, Promise.all([stopped ?? never, started]))
    await world.clock.advance(10_000)
    expect([runs, world.clock.pendingTimers]).toEqual([0, 0])
  })
})
