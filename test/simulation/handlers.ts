// What users' handlers do: end at once or late, throw, never end, block the event loop, heed their
// signal or ignore it. They tell the judge when they end, and how.

import type { ScheduledRun } from '../../src/index.ts'
import type { Definition } from './definition.ts'
import type { Replica } from './replica.ts'
import type { World } from './world.ts'

type Behaviour = 'instant' | 'short' | 'slow' | 'throws' | 'hangs' | 'blocks' | 'heeds' | 'crashes'

const BEHAVIOURS: Readonly<Record<Definition['temper'], readonly Behaviour[]>> = {
  quick: ['instant', 'instant', 'instant', 'short', 'short', 'throws'],
  mixed: ['instant', 'short', 'short', 'slow', 'throws', 'heeds', 'heeds'],
  poison: ['instant', 'slow', 'throws', 'hangs', 'hangs', 'heeds', 'blocks'],
}

/** Calls a handler as one replica has it. */
export function handle(
  world: World,
  replica: Replica,
  definition: Definition,
  handed: ScheduledRun,
): unknown {
  if (replica.process.isDead) return new Promise(() => {})
  const run = world.judge.started(replica, definition, handed)
  if (!run) return undefined
  const end = (error?: unknown) => world.judge.ended(run, error)
  const ms = lengthOf(world, definition)
  switch (behaviour(world, replica, definition)) {
    case 'instant':
      return end()
    case 'throws': {
      world.tally.count('handler: threw')
      const error = new Error('a failing handler')
      if (world.random.chance(0.5)) {
        end(error)
        throw error
      }
      return replica.sleep(20 * world.random.next()).then(() => {
        end(error)
        throw error
      })
    }
    case 'short':
      return replica.sleep(Math.min(300, definition.ms / 4) * world.random.next()).then(() => end())
    case 'slow':
      if (ms > definition.leaseMs) world.tally.count('handler: outlasted its lease')
      return replica.sleep(ms).then(() => end())
    case 'hangs':
      world.tally.count('handler: never ended')
      replica.hasHanging = true
      // Somebody notices, sooner or later; others look at the leased row each tick until then.
      if (world.scenario.unitMs >= 60_000) {
        world.chaos.killLater(replica, world.random.spread(5000, 150_000))
      }
      return new Promise(() => {})
    case 'blocks':
      world.tally.count('process: blocked by a handler')
      replica.process.block(ms)
      return end()
    case 'crashes':
      world.tally.count('process: crashed in a handler')
      replica.crash()
      return new Promise(() => {})
    case 'heeds':
      return heed(world, replica, { handed, ms, end })
  }
}

/** Rejects when its signal aborts: at once or a little later, with the reason or its own error. */
function heed(
  world: World,
  replica: Replica,
  { handed, ms, end }: { handed: ScheduledRun; ms: number; end: (error?: unknown) => void },
): Promise<void> {
  const { signal } = handed
  const lagMs = world.random.chance(0.5) ? 0 : world.random.spread(1, 5000)
  const error = world.random.chance(0.5) ? new DOMException('given up', 'AbortError') : undefined
  return new Promise((resolve, reject) => {
    const finish = (how: () => void) => {
      signal.removeEventListener('abort', giveUp)
      how()
    }
    const giveUp = () => {
      world.tally.count('handler: gave up when aborted')
      const reason = error ?? signal.reason
      const quit = () => {
        end(reason)
        reject(reason)
      }
      if (lagMs === 0) quit()
      else void replica.sleep(lagMs).then(quit)
    }
    signal.addEventListener('abort', giveUp)
    void replica.sleep(ms).then(() => {
      if (signal.aborted) return
      finish(() => {
        end()
        resolve()
      })
    })
  })
}

function behaviour(world: World, replica: Replica, { temper }: Definition): Behaviour {
  if (world.isHealed) return world.random.chance(0.5) ? 'instant' : 'short'
  if (replica.crashesInHandler()) return 'crashes'
  return world.random.pick(BEHAVIOURS[temper])
}

/** Some outlast the interval, some even the lease. */
function lengthOf({ random, scenario }: World, { leaseMs, ms }: Definition): number {
  if (scenario.isFaultFree) return random.spread(10, 2 * leaseMs)
  return random.spread(10, 3 * Math.max(leaseMs, Math.min(ms, 60_000)))
}
