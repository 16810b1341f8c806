// attachScheduler: the scheduler's methods on a bot of any framework.

import { beforeEach, describe, expect, test } from 'vitest'
import { attachScheduler } from '../../src/index.ts'
import { World } from './harness.ts'

let world: World
let calls: string[]
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
  calls = []
})

class Bot {
  readonly name = 'bot'
  async start(port?: number) {
    calls.push(`start ${this.name} ${port}`)
    return 'started'
  }
  async stop() {
    calls.push(`stop ${this.name}`)
    return 'stopped'
  }
}

describe('attachScheduler', () => {
  test('puts the methods on the bot and ties start and stop', async () => {
    const bot = attachScheduler(new Bot(), world.replica())
    bot.every('1m', { id: 'job' }, world.handler())
    bot.schedule('* * * * *', { id: 'cron' }, world.handler())
    bot.delay('30s', { id: 'once' }, world.handler())
    expect(await bot.start(8080)).toBe('started')
    await world.clock.advance(60_000)
    expect(world.slots()).toEqual(['10:00:30', '10:01:00', '10:01:00'])
    await bot.forgetTask('once')
    expect(await world.store.get('once')).toBeNull()
    expect(await world.within(1000, bot.stop())).toBe('stopped')
    expect(calls).toEqual(['start bot 8080', 'stop bot'])
    await world.clock.advance(60_000)
    expect(world.runs).toHaveLength(3)
  })

  test("takes other names, and gives a bot without them the scheduler's own", async () => {
    const bot = attachScheduler({ launch: async () => 'up' }, world.replica(), { start: 'launch' })
    bot.every('1m', { id: 'job' }, world.handler())
    expect(await bot.launch()).toBe('up')
    await world.clock.advance(60_000)
    expect(world.runs).toHaveLength(1)
    await (bot as unknown as { stop(): Promise<void> }).stop()
    await world.clock.advance(60_000)
    expect(world.runs).toHaveLength(1)
  })

  test('stops the scheduler when the bot fails to start, and when it fails to stop', async () => {
    const bot = attachScheduler(
      {
        start: () => Promise.reject(new Error('unauthorized')),
        stop: () => {
          throw new Error('not running')
        },
      },
      world.replica(),
    )
    bot.every('1m', world.handler() as never)
    await expect(bot.start()).rejects.toThrow('unauthorized')
    expect(world.clock.pendingTimers).toBe(0)
    await expect((async () => bot.stop())()).rejects.toThrow('not running')
  })

  test('refuses a bot that has such a method already', () => {
    expect(() => attachScheduler({ every: () => {} }, world.replica())).toThrow(TypeError)
    expect(() => attachScheduler({ start: 5 }, world.replica())).toThrow(TypeError)
  })
})
