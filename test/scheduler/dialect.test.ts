// The dialect of cron tasks: the scheduler's or their own, in the stored plan, and what `H` hashes.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { World } from './harness.ts'

let world: World
beforeEach(() => {
  world = new World('2026-03-02T10:00:00Z')
})
afterEach(() => world.checkInvariants())

describe('a cron task', () => {
  test('has the dialect of the scheduler, or its own', async () => {
    const replica = world.replica({ timeZone: undefined, dialect: 'extended' })
    replica.schedule('@daily', { id: 'macro' }, () => {})
    replica.schedule('0 9 * * 1', { id: 'plain', dialect: 'standard' }, () => {})
    await replica.start()
    expect(await world.store.get('macro')).toMatchObject({ spec: 'DIALECT=extended @daily' })
    expect(await world.store.get('plain')).toMatchObject({ spec: '0 9 * * 1' })
    expect(() => world.replica({ dialect: 'quartz' as never })).toThrow(TypeError)
  })

  test('that hashes has minutes of its own in each task, from its id', async () => {
    const replica = world.replica({ timeZone: 'UTC', dialect: 'extended' })
    const slots = Array.from({ length: 20 }, (_, i) =>
      replica.schedule('H H * * *', { id: `task ${i}` }, () => {}),
    )
    await replica.start()
    const minutes = new Set(slots.map((task) => (task.nextRunAt?.getTime() ?? 0) % 86_400_000))
    expect(minutes.size).toBeGreaterThan(15)
    expect(() => replica.schedule('H H * * *', () => {})).toThrow('seed')
  })
})
