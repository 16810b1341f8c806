// One life of a replica: a process with a real scheduler in it, what its code has registered, and
// what may be done to it. After a crash nothing of it happens any more, though promises go on.

import type { ScheduledTask, ScheduleRecord, Scheduler } from '../../src/index.ts'
import type { Definition } from './definition.ts'
import { handle } from './handlers.ts'
import { Belief } from './leader-lease.ts'
import type { Process } from './process.ts'
import { storeClient } from './store-client.ts'
import type { World } from './world.ts'

/** How long after `stop` resolved a row may still be deleted for whoever asked for it before. */
const LAST_ANSWER_MS = 60_000

/** A scheduler in a process. */
export class Replica {
  readonly name: string
  readonly seat: number
  readonly process: Process
  readonly definitions = new Map<string, Definition>()
  readonly belief = new Belief()
  readonly version: number
  /** Requests it has sent. */
  requests = 0
  isStarted = false
  isStopping = false
  /** Until then, in monotonic time, the latest stop waits for runs. */
  drainUntil = Infinity
  hasStopped = false
  /** It was told to stop at least once. */
  wasStopped = false
  /** A handler of it never ends. */
  hasHanging = false
  /** True time of its boot. */
  readonly startedAt: number
  readonly #world: World
  readonly #scheduler: Scheduler
  readonly #tasks = new Map<string, ScheduledTask>()
  /** Ids whose rows it may delete, because it was asked to. */
  readonly #deleting = new Set<string>()
  readonly #read = new Map<string, ScheduleRecord | null>()
  readonly #committing = new Set<string>()
  readonly #resting = new Set<string>()
  #stops = 0
  #crashesAtRequest: 'before' | 'after' | undefined
  #crashesInHandler = false

  constructor(world: World, options: { seat: number; process: Process; version: number }) {
    const { scenario } = world
    this.#world = world
    this.seat = options.seat
    this.process = options.process
    this.name = options.process.name
    this.version = options.version
    this.startedAt = world.timeline.now
    const leases = { none: undefined, coordinator: this.belief } as const
    const lease =
      scenario.leader === 'provider' ? world.leases.client(this.process) : leases[scenario.leader]
    const log = (line: string) => world.tell(this, line)
    this.#scheduler = new world.engine.Scheduler({
      clock: this.process.clock,
      store: storeClient(world, this),
      lease,
      owner: this.name,
      tickMs: scenario.tickMs,
      leaderTtlMs: scenario.leaderTtlMs,
      drainMs: scenario.drainMs,
      timeZone: 'UTC',
      logger: { warn: log, error: log, info: log },
    })
    world.judge.listen(this, this.#scheduler)
    for (const definition of scenario.versions[options.version]!) this.register(definition)
  }

  /** Registers a task as its code would. */
  register(definition: Definition): void {
    // An object of its own: a claim is of the registration it was sent for.
    const own = { ...definition }
    const { id, kind, ms, cron, timeZone, missed, maxCatchUp, leaseMs } = own
    const options = { id, missed, maxCatchUp, leaseMs }
    const handler = (run: Parameters<typeof handle>[3]) => handle(this.#world, this, own, run)
    this.definitions.set(id, own)
    const scheduler = this.#scheduler
    this.#tasks.set(
      id,
      kind === 'cron'
        ? scheduler.schedule(cron, { ...options, timeZone }, handler)
        : scheduler[kind](ms, options, handler),
    )
  }

  start(): void {
    this.isStarted = true
    this.isStopping = false
    this.hasStopped = false
    void this.#scheduler.start().catch((error) => {
      this.#world.ledger.violated('start', `${this.name} could not start: ${error}`)
    })
  }

  /** Resolves when the scheduler says that it has stopped. */
  async stop(): Promise<void> {
    this.isStopping = true
    this.wasStopped = true
    this.drainUntil = this.process.monotonic + this.#world.scenario.drainMs
    this.#world.tell(this, 'is told to stop')
    const { judge, timeline } = this.#world
    const begunAt = timeline.now
    const monotonic = this.process.monotonic
    await this.#scheduler.stop()
    if (this.process.isDead || !this.isStopping) return
    this.#world.tell(this, 'has stopped')
    this.hasStopped = true
    judge.stopped(this, { begunAt, tookMs: this.process.monotonic - monotonic })
    this.#lookAgain(++this.#stops, this.process.monotonic + LAST_ANSWER_MS)
  }

  /** Judges what is left of this stop once the replica's own clock shows `monotonic`. */
  #lookAgain(stops: number, monotonic: number): void {
    const { process } = this
    const { judge, scenario } = this.#world
    const look = () => {
      if (!this.hasStopped || stops !== this.#stops) return
      if (process.monotonic < monotonic) this.#lookAgain(stops, monotonic)
      else judge.longStopped(this)
    }
    process.deliver(process.machine.whenMonotonic(monotonic) + 4 * scenario.lateMs + 10, look)
  }

  crash(): void {
    this.#world.tell(this, 'crashes')
    this.#world.tally.count('process: crashed')
    this.process.crash()
    this.#world.judge.crashed(this)
  }

  cancel(id: string): void {
    const task = this.#tasks.get(id)
    if (!task) return
    this.#world.tell(this, `cancels ${id}`)
    this.#world.judge.cancelling(this, id)
    this.#forget(id)
    void this.#removal(id, task.cancel())
  }

  forget(id: string): void {
    this.#world.tell(this, `forgets ${id}`)
    this.#world.judge.cancelling(this, id)
    this.#forget(id)
    void this.#removal(id, this.#scheduler.forgetTask(id))
  }

  leave(id: string): void {
    const task = this.#tasks.get(id)
    if (!task) return
    this.#world.tell(this, `leaves ${id}`)
    this.#forget(id)
    task.leave()
  }

  /** The task has ended here. */
  ended(id: string): void {
    this.#forget(id)
  }

  async sleep(ms: number): Promise<void> {
    const { process } = this
    await new Promise<void>((resolve) => process.deliver(process.time + ms, resolve))
  }

  get isDeleting(): boolean {
    return this.#deleting.size > 0
  }

  mayDelete(id: string): boolean {
    return this.#deleting.has(id)
  }

  remember(id: string, row: ScheduleRecord | null): void {
    this.#read.set(id, row)
  }

  /** What the row's slot is, as far as it has heard; without one nothing of the task moves. */
  heard(id: string, slot: number | null): void {
    if (slot === null) this.#resting.add(id)
    else this.#resting.delete(id)
  }

  /** Whether it looks after that task: it has it, and has not seen it done. */
  looksAfter(id: string, { kind, spec }: { kind: string; spec: string }): boolean {
    const definition = this.definitions.get(id)
    const isUp = this.isStarted && !this.process.isDead && !this.isStopping
    const isIts = definition?.kind === kind && definition.spec === spec
    return isUp && isIts && !this.#resting.has(id)
  }

  committing(id: string, isOver: boolean): void {
    if (isOver) this.#committing.delete(id)
    else this.#committing.add(id)
  }

  /** Whether a commit of that id has no answer yet; rows are read on its behalf too. */
  isCommitting(id: string): boolean {
    return this.#committing.has(id)
  }

  /** The row as it was last read. */
  lastRead(id: string): ScheduleRecord | null | undefined {
    return this.#read.get(id)
  }

  crashAtRequest(when: 'before' | 'after'): void {
    this.#crashesAtRequest = when
  }

  crashInHandler(): void {
    this.#crashesInHandler = true
  }

  crashesInHandler(): boolean {
    return this.#crashesInHandler && !this.#world.isHealed
  }

  /** Whether the process lives on at this point; dead ones send nothing. */
  survivesRequest(when: 'before' | 'after'): boolean {
    if (this.#crashesAtRequest === when && !this.process.isDead && !this.#world.isHealed) {
      this.#world.tally.count(`process: crashed ${when} a request`)
      this.crash()
    }
    return !this.process.isDead
  }

  #forget(id: string): void {
    this.definitions.delete(id)
    this.#tasks.delete(id)
  }

  async #removal(id: string, removal: Promise<void>): Promise<void> {
    this.#deleting.add(id)
    try {
      await removal
      if (!this.process.isDead) this.#world.judge.cancelled(this, id)
    } catch {
      // Told the caller that the store could not be reached: the row may be there still.
    } finally {
      this.#deleting.delete(id)
    }
  }
}
