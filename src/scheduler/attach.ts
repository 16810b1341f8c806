// Puts a scheduler on a bot: its methods beside the bot's own, and one start and stop for both.

import type { Scheduler } from './scheduler.ts'

/** What a bot gains. */
export type Scheduling = Pick<Scheduler, 'every' | 'schedule' | 'delay' | 'forgetTask'>

/** The names of the bot's methods that start and stop it. */
export interface AttachOptions {
  readonly start?: string | undefined
  readonly stop?: string | undefined
}

const METHODS = ['every', 'schedule', 'delay', 'forgetTask'] as const

/**
 * Puts `every`, `schedule`, `delay` and `forgetTask` on `bot`, whatever its framework. Its `start`
 * starts the scheduler first, its `stop` stops both; a bot that has none gets the scheduler's.
 * Other names are given as options: `{ start: 'launch' }`. Returns the bot. Throws a `TypeError`
 * when the bot has one of those methods already.
 */
export function attachScheduler<Bot extends object>(
  bot: Bot,
  scheduler: Scheduler,
  { start = 'start', stop = 'stop' }: AttachOptions = {},
): Bot & Scheduling {
  const target = bot as Record<string, unknown>
  for (const name of METHODS) {
    if (target[name] !== undefined) {
      throw new TypeError(`attachScheduler: the bot has a "${name}" of its own already`)
    }
  }
  const botStart = methodOf(target, start)
  const botStop = methodOf(target, stop)
  for (const name of METHODS) {
    const method = scheduler[name] as (...args: unknown[]) => unknown
    target[name] = (...args: unknown[]) => method.apply(scheduler, args)
  }
  target[start] = async (...args: unknown[]) => {
    await scheduler.start()
    try {
      return await botStart?.apply(bot, args)
    } catch (error) {
      await scheduler.stop()
      throw error
    }
  }
  target[stop] = async (...args: unknown[]) => {
    const [stopped, botStopped] = await Promise.allSettled([
      scheduler.stop(),
      (async () => botStop?.apply(bot, args))(),
    ])
    if (botStopped.status === 'rejected') throw botStopped.reason
    if (stopped.status === 'rejected') throw stopped.reason
    return botStopped.value
  }
  return bot as Bot & Scheduling
}

function methodOf(
  target: Record<string, unknown>,
  name: string,
): ((...args: unknown[]) => unknown) | undefined {
  const method = target[name]
  if (method === undefined || typeof method === 'function') {
    return method as ((...args: unknown[]) => unknown) | undefined
  }
  throw new TypeError(`attachScheduler: the bot's "${name}" is no function`)
}
