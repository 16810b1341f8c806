// What users hold. It checks what it is given, makes tasks of it, and starts and stops the two
// loops that run them: the plain one in memory, the durable one over a store.

import type { Dialect } from '../../bindings/index.ts'
import { systemClock } from '../clock.ts'
import { type Duration, nonNegativeMs, positiveMs } from '../duration.ts'
import { Campaign } from '../lease/leader-gate.ts'
import type { Coordinator } from '../lease/lease.ts'
import { MemoryScheduleStore } from '../store/memory/memory-schedule-store.ts'
import { CronPlan } from './cron-plan.ts'
import { DurableLoop } from './durable-loop.ts'
import { Events, type Listener, type SchedulerEvents } from './events.ts'
import { Journal } from './journal.ts'
import { consoleLogger, guardedLogger } from './logger.ts'
import {
  checkTaskOptions,
  type DurableCronOptions,
  type DurableOptions,
  durableSetting,
  overlapOf,
  type PlainCronOptions,
  type PlainOptions,
  type TaskOptions,
} from './options.ts'
import { PlainLoop } from './plain-loop.ts'
import { DelayPlan, IntervalPlan, type Plan } from './plan.ts'
import type { Handler, PlainRun, ScheduledRun } from './run.ts'
import { checkSchedulerOptions, type SchedulerOptions } from './scheduler-options.ts'
import { DurableHandle, PlainHandle, type ScheduledTask } from './task.ts'
import { checkNamespace, idInNamespace, storedId } from './task-id.ts'
import { TimerQueue } from './timer-queue.ts'

/** A coordinator that takes longer to start or stop is not waited for. */
const COORDINATOR_MS_MAX = 5000

/** Runs handlers when their slots are due (SPEC §2). */
export class Scheduler {
  readonly #timeZone: string | undefined
  readonly #dialect: Dialect | undefined
  readonly #namespace: string
  readonly #drainMs: number
  readonly #events: Events
  readonly #journal: Journal
  readonly #timers: TimerQueue
  readonly #plain: PlainLoop
  readonly #durable: DurableLoop
  readonly #coordinator: Coordinator | undefined
  #forgetsWarning: string | undefined
  #starting: Promise<void> | undefined
  /** Counts stops: a start that finds it changed has been overtaken by one. */
  #stops = 0
  #stopping: Promise<void> | undefined

  /** Throws a `TypeError` or `RangeError` for a wrong option. */
  constructor(options: SchedulerOptions = {}) {
    checkSchedulerOptions(options)
    const { clock = systemClock, logger = consoleLogger, namespace = '', owner = '' } = options
    const tickMs = positiveMs(options.tickMs ?? 1000, 'tickMs')
    const ttlMs = positiveMs(options.leaderTtlMs ?? 30_000, 'leaderTtlMs')
    checkNamespace(namespace)
    this.#namespace = namespace
    this.#drainMs = nonNegativeMs(options.drainMs ?? 10_000, 'drainMs')
    const { timeZone, dialect } = options
    this.#timeZone = timeZone
    this.#dialect = dialect
    // Throws for a wrong one of them.
    if (timeZone ?? dialect) new CronPlan('* * * * *', { timeZone, dialect })

    const log = guardedLogger(logger)
    this.#events = new Events((error) => this.#journal.warn('an event listener failed', error))
    this.#journal = new Journal(this.#events, log)
    this.#timers = new TimerQueue(clock, { unref: options.unref ?? false })
    this.#plain = new PlainLoop(this.#timers, this.#journal)
    const replica = `${owner}${owner && '/'}${crypto.randomUUID()}`
    this.#coordinator = this.#coordinatorOf(options.lease, replica, ttlMs)
    const coordinator = this.#coordinator
    if (!options.store) {
      this.#forgetsWarning =
        'durable tasks are kept in memory, a restart forgets them: give the scheduler a store'
    }
    this.#durable = new DurableLoop({
      store: options.store ?? new MemoryScheduleStore(),
      timers: this.#timers,
      journal: this.#journal,
      owner: replica,
      tickMs,
      graceMs: coordinator ? tickMs + 2 * ttlMs : tickMs,
      leader: coordinator && { isLeader: () => coordinator.isLeader(), ttlMs },
    })
  }

  /** Runs the handler every `duration`: a plain task at once, a durable one from `start` on. */
  every(duration: Duration, handler: Handler<PlainRun>): ScheduledTask
  every(duration: Duration, options: PlainOptions, handler: Handler<PlainRun>): ScheduledTask
  every(duration: Duration, options: DurableOptions, handler: Handler<ScheduledRun>): ScheduledTask
  every(duration: Duration, ...rest: TaskArguments): ScheduledTask {
    return this.#add(new IntervalPlan(positiveMs(duration, 'every')), ...taskArguments(rest, false))
  }

  /** Runs the handler once, `duration` from now; a durable one, from when it was first stored. */
  delay(duration: Duration, handler: Handler<PlainRun>): ScheduledTask
  delay(duration: Duration, options: PlainOptions, handler: Handler<PlainRun>): ScheduledTask
  delay(duration: Duration, options: DurableOptions, handler: Handler<ScheduledRun>): ScheduledTask
  delay(duration: Duration, ...rest: TaskArguments): ScheduledTask {
    return this.#add(new DelayPlan(nonNegativeMs(duration, 'delay')), ...taskArguments(rest, false))
  }

  /** Runs the handler at the instants of a cron expression. */
  schedule(cron: string, handler: Handler<PlainRun>): ScheduledTask
  schedule(cron: string, options: PlainCronOptions, handler: Handler<PlainRun>): ScheduledTask
  schedule(cron: string, options: DurableCronOptions, handler: Handler<ScheduledRun>): ScheduledTask
  schedule(cron: string, ...rest: TaskArguments): ScheduledTask {
    const [options, handler] = taskArguments(rest, true)
    const { id, dialect = this.#dialect, gap, fold, timeZone = this.#timeZone } = options
    const plan = new CronPlan(cron, { dialect, timeZone, gap, fold }, id)
    return this.#add(plan, options, handler)
  }

  /**
   * Starts the store and stores the durable tasks; from then on their slots are claimed. Resolves
   * when all are stored, or when `stop` is called meanwhile: a store that cannot be reached is
   * tried again, with back-off. Rejects only with an error that trying again cannot mend, such as a
   * missing driver or a foreign schema. After `stop` it starts again.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch((error) => {
      this.#starting = undefined
      throw error
    })
    return this.#starting
  }

  /**
   * Aborts the signals of all runs, waits for their handlers up to `drainMs`, commits those that
   * finished and hands the rest back. Plain tasks stop too. The store stays open. A store that is
   * silent holds it up for 5 s at most, a leader lease for 10 s. Afterwards nothing goes on here,
   * no timer and no call: a commit that was given up is told (`commit-unknown`), and a `cancel()`
   * rejects.
   */
  stop(): Promise<void> {
    this.#stops++
    const starting = this.#starting
    this.#starting = undefined
    if (this.#stopping) return this.#stopping
    const stopped = Promise.resolve().then(() => this.#stop(starting))
    // Set before any run is told: who stops or starts again from there joins in, or waits.
    this.#stopping = stopped.finally(() => {
      this.#stopping = undefined
    })
    const reason = new DOMException('The scheduler stops', 'AbortError')
    this.#plain.halt(reason)
    this.#durable.halt(reason)
    return this.#stopping
  }

  /** Deletes the row of an id, registered here or not; a task of that id ends. */
  forgetTask(id: string): Promise<void> {
    try {
      return this.#durable.remove(storedId(this.#namespace, id))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  on<Name extends keyof SchedulerEvents>(name: Name, listener: Listener<Name>): this {
    this.#events.on(name, listener)
    return this
  }

  off<Name extends keyof SchedulerEvents>(name: Name, listener: Listener<Name>): this {
    this.#events.off(name, listener)
    return this
  }

  #coordinatorOf(
    lease: SchedulerOptions['lease'],
    replica: string,
    ttlMs: number,
  ): Coordinator | undefined {
    if (!lease || 'isLeader' in lease) return lease
    const suffix = this.#namespace && `:${this.#namespace}`
    return new Campaign({
      provider: lease,
      name: `scheduler:leader${suffix}`,
      owner: replica,
      ttlMs,
      clock: this.#timers,
      onError: (error) => this.#journal.warn('the leader lease is not available', error),
    })
  }

  #add(plan: Plan, options: TaskOptions, handler: Handler<never>): ScheduledTask {
    const { id } = options
    if (id !== undefined) return this.#addDurable(plan, { ...options, id }, handler)
    return new PlainHandle(this.#plain.add(plan, overlapOf(options), handler as Handler<PlainRun>))
  }

  #addDurable(
    plan: Plan,
    options: TaskOptions & { id: string },
    handler: Handler<never>,
  ): ScheduledTask {
    const { id } = options
    const stored = storedId(this.#namespace, id)
    if (this.#durable.has(stored)) {
      throw new TypeError(`id: ${JSON.stringify(id)} is registered in this scheduler already`)
    }
    const setting = durableSetting(options)
    this.#warnOfForgetting()
    const task = this.#durable.add({
      id,
      storedId: stored,
      plan,
      ...setting,
      handler: handler as Handler<ScheduledRun>,
    })
    return new DurableHandle(task, this.#durable)
  }

  #warnOfForgetting(): void {
    if (this.#forgetsWarning) this.#journal.warn(this.#forgetsWarning)
    this.#forgetsWarning = undefined
  }

  async #start(): Promise<void> {
    const stops = this.#stops
    await this.#stopping
    if (stops !== this.#stops) return
    this.#plain.resume()
    // A listener that was told of a dormant task may have stopped all.
    if (stops !== this.#stops) return
    try {
      await this.#durable.connect()
    } catch (error) {
      // Whoever stops the scheduler may stop the store next, under a start that is given up.
      if (stops === this.#stops) throw error
    }
    if (stops !== this.#stops) return
    await this.#coordinate('start')
    if (stops !== this.#stops) return
    await this.#durable.start()
    if (stops !== this.#stops) return
    const rows = await this.#durable.stored()
    if (stops === this.#stops) this.#reportOrphans(rows)
  }

  #reportOrphans(rows: string[] | Error): void {
    if (rows instanceof Error) {
      this.#journal.warn('the stored tasks could not be listed, orphans are not reported', rows)
      return
    }
    const orphans = rows.filter((storedId) => !this.#durable.has(storedId))
    const taskIds = orphans.flatMap((storedId) => idInNamespace(this.#namespace, storedId) ?? [])
    if (taskIds.length > 0) this.#journal.orphans(taskIds)
  }

  async #stop(starting: Promise<void> | undefined): Promise<void> {
    await this.#timers.within(
      this.#drainMs,
      Promise.all([this.#plain.idle(), this.#durable.idle()]),
    )
    await Promise.all([this.#durable.close(), this.#endLeadership(starting)])
    this.#durable.reopen()
  }

  /** A start that was overtaken may be about to start the coordinator. */
  async #endLeadership(starting: Promise<void> | undefined): Promise<void> {
    await starting?.catch(() => {})
    await this.#coordinate('stop')
  }

  /** Leadership decides nothing, so neither its failure nor its silence holds anything up. */
  async #coordinate(step: 'start' | 'stop'): Promise<void> {
    const coordinator = this.#coordinator
    if (!coordinator) return
    try {
      const work = coordinator[step]()
      // After a stall of the process it would be given up at the moment it ends by itself.
      const endsInTime = step === 'stop' && coordinator instanceof Campaign
      await (endsInTime ? work : this.#timers.within(COORDINATOR_MS_MAX, work))
    } catch (error) {
      this.#journal.warn(`the coordinator failed to ${step}`, error)
    }
  }
}

type TaskArguments =
  | [handler: Handler<PlainRun>]
  | [options: TaskOptions, handler: Handler<PlainRun> | Handler<ScheduledRun>]

function taskArguments(rest: TaskArguments, isCron: boolean): [TaskOptions, Handler<never>] {
  const [options, handler] = rest.length > 1 ? rest : [{}, rest[0]]
  if (typeof handler !== 'function') {
    throw new TypeError(`handler: must be a function, not ${typeof handler}`)
  }
  checkTaskOptions(options as TaskOptions, isCron)
  return [options as TaskOptions, handler]
}
