// What rows say: registers tasks, reads their rows again when something is in doubt, and draws the
// conclusions from what is stored.

import { CronfenceError } from '../errors.ts'
import type { ClaimResult, ScheduleRecord, TaskKind } from '../store/store.ts'
import type { DurableTask, UnknownAttempt } from './durable-task.ts'
import type { StoreErrorEvent } from './events.ts'
import type { Journal } from './journal.ts'
import { type Failed, type Lane, LostReplies, taskLane } from './lane.ts'
import type { Remover } from './remover.ts'
import { ASIDE_MS, type Stages } from './stages.ts'
import { isAboutOneRow, type StoreCalls } from './store-calls.ts'
import type { TimerQueue } from './timer-queue.ts'

const KINDS: readonly TaskKind[] = ['cron', 'every', 'delay']

/** What the reader needs. */
export interface RowReaderOptions {
  readonly calls: StoreCalls
  readonly timers: TimerQueue
  readonly journal: Journal
  readonly tickMs: number
  readonly stages: Stages
  readonly remover: Remover
  /** A claim whose reply was lost shows in the row. */
  readonly onFoundClaim: (task: DurableTask, claim: ClaimResult, attempt: UnknownAttempt) => void
  /** The row was deleted elsewhere. */
  readonly onGone: (task: DurableTask) => void
}

/** Registers and reads. */
export class RowReader {
  readonly #options: RowReaderOptions
  readonly #registering: Lane<DurableTask>
  readonly #reading: Lane<DurableTask>
  #registration: Promise<unknown> = Promise.resolve()

  constructor(options: RowReaderOptions) {
    this.#options = options
    this.#registering = taskLane('register', options, (batch) => this.#register(batch))
    this.#reading = taskLane('read', options, (batch) => this.#read(batch))
  }

  /** Resolves when no registration is under way. */
  get registration(): Promise<unknown> {
    return this.#registration
  }

  /** Stores the task's plan, once a namesake that is being deleted is gone. */
  register(task: DurableTask): void {
    const removal = this.#options.remover.pending(task.storedId)
    if (!removal) this.#registering.push(task)
    else void removal.catch(() => {}).then(() => this.#registering.push(task))
  }

  read(task: DurableTask): void {
    this.#reading.push(task)
  }

  /** Resolves when all is registered. */
  async registered(): Promise<void> {
    await this.#registering.idle()
  }

  /** Resolves when nothing is registered or read any more. */
  async idle(): Promise<void> {
    await Promise.all([this.#registering.idle(), this.#reading.idle()])
  }

  open(): void {
    this.#registering.open()
    this.#reading.open()
  }

  close(): void {
    this.#registering.close()
    this.#reading.close()
  }

  /** Draws the conclusions from a row; the task is moved on. */
  saw(task: DurableTask, row: ScheduleRecord): void {
    if (!isSound(row)) {
      this.unsound(task)
      return
    }
    const { attempt, isRefused } = task
    task.attempt = undefined
    task.isRefused = false
    if (attempt && row.leaseOwner === attempt.owner) {
      this.#foundClaim(task, row, attempt)
      return
    }
    task.saw(row)
    if (task.isPlanOf(row)) this.#goOn(task, row, isRefused)
    else this.superseded(task, row)
    // Last, for a listener may end the task.
    this.#tellRead(task, row)
  }

  #goOn(task: DurableTask, row: ScheduleRecord, isRefused: boolean): void {
    const { stages, timers, tickMs } = this.#options
    task.isSuperseded = false
    const now = timers.now()
    if (row.nextRunAt === null) this.#sawNoSlot(task, row, now)
    else if (row.nextRunAt > now) stages.wait(task, 'claim', row.nextRunAt)
    else if (row.leaseUntil !== undefined && row.leaseUntil > now) {
      // Its runner may hand it back at any time.
      stages.wait(task, 'read', Math.min(row.leaseUntil, now + tickMs))
    } else if (isRefused) stages.waitATick(task)
    else stages.approach(task)
  }

  #tellRead({ id: taskId }: DurableTask, { nextRunAt, leaseUntil }: ScheduleRecord): void {
    this.#options.journal.read(() => ({
      taskId,
      nextRunAt: nextRunAt === null ? null : new Date(nextRunAt),
      leaseUntil: leaseUntil === undefined ? undefined : new Date(leaseUntil),
    }))
  }

  /** A newer deploy has stored another plan: said once, and looked at now and then. */
  superseded(task: DurableTask, { kind, spec }: ScheduleRecord): void {
    const { journal, stages } = this.#options
    if (!task.isSuperseded) journal.superseded({ taskId: task.id, kind, spec })
    task.isSuperseded = true
    stages.setAside(task)
  }

  /** Values that no engine wrote. The row is left untouched, for somebody to mend. */
  unsound(task: DurableTask): void {
    const text = `The stored row of ${JSON.stringify(task.id)} has impossible values`
    this.#setAside(task, 'read', new CronfenceError('STORE_DAMAGED_RECORD', text))
  }

  async #register(batch: DurableTask[]): Promise<Failed<DurableTask> | undefined> {
    const { calls, timers, journal } = this.#options
    const tasks = batch.filter((task) => task.stage === 'registering')
    const now = timers.now()
    const lost = new LostReplies<DurableTask>()
    const schedules = tasks.map(({ storedId: id, plan }) => {
      return { id, kind: plan.kind, spec: plan.spec, nextRunAt: plan.first(now) }
    })
    const answers = calls.register(schedules, now, (index, row) => {
      const task = tasks[index]!
      if (task.stage !== 'registering') return
      if (row instanceof Error) {
        this.#failed(task, 'register', row, lost)
        return
      }
      const { nextRunAt } = row
      this.saw(task, row)
      if (!isSound(row)) return
      journal.registered({
        taskId: task.id,
        nextRunAt: nextRunAt === null ? null : new Date(nextRunAt),
      })
    })
    this.#registration = Promise.all([this.#registration, answers]).then(() => {})
    await answers
    return lost.failed
  }

  async #read(batch: DurableTask[]): Promise<Failed<DurableTask> | undefined> {
    const tasks = batch.filter((task) => task.stage === 'reading')
    const lost = new LostReplies<DurableTask>()
    const storedIds = tasks.map(({ storedId }) => storedId)
    await this.#options.calls.get(storedIds, (index, row) => {
      const task = tasks[index]!
      if (task.stage !== 'reading') return
      if (row instanceof Error) this.#failed(task, 'read', row, lost)
      else if (!row) this.#absent(task)
      else this.saw(task, row)
    })
    return lost.failed
  }

  /** No answer: all is tried again, except what only mending the row can help. */
  #failed(
    task: DurableTask,
    operation: 'register' | 'read',
    error: Error,
    lost: LostReplies<DurableTask>,
  ): void {
    if (isAboutOneRow(error)) this.#setAside(task, operation, error)
    else lost.add(task, error)
  }

  #setAside(task: DurableTask, operation: StoreErrorEvent['operation'], error: Error): void {
    const { journal, stages } = this.#options
    journal.storeFailed({ error, operation, taskIds: [task.id], retryInMs: ASIDE_MS })
    stages.setAside(task)
    if (operation === 'register') task.wakeTo = 'register'
  }

  /** Absent twice, a tick apart: deleted. Once may be between two writes of a replica. */
  #absent(task: DurableTask): void {
    if (task.isAbsent) {
      this.#options.onGone(task)
      return
    }
    task.isAbsent = true
    this.#options.stages.waitATick(task)
  }

  #foundClaim(task: DurableTask, record: ScheduleRecord, attempt: UnknownAttempt): void {
    const { fencingToken } = record
    // A token that grew by more than our own claim belongs to a runner that did not commit, unless
    // the slot is another one by now: then whoever had the lease that was seen has committed.
    const othersClaimed = task.isLeased || fencingToken > task.fencingToken + 1
    const takenOver = othersClaimed && record.nextRunAt === task.nextRunAt
    this.#options.onFoundClaim(task, { record, fencingToken, takenOver }, attempt)
  }

  /**
   * A dormant task may have a run by now, as time goes on or as rules of zones change. No claim can
   * set its slot, so the row is deleted and registered again; its token is kept by that.
   */
  #sawNoSlot(task: DurableTask, row: ScheduleRecord, now: number): void {
    const { calls, stages } = this.#options
    if (task.plan.kind !== 'cron' || task.plan.first(now) === null) {
      stages.rest(task)
      return
    }
    task.isDormant = false
    task.stage = 'registering'
    const { storedId } = task
    const deletion = calls.delete([{ storedId, fencingToken: row.fencingToken }])
    void deletion.then(([error]) => {
      if (task.stage !== 'registering') return
      // Read again after a while, the row shows once more that it has no slot.
      if (error) this.#setAside(task, 'delete', error)
      else this.#registering.push(task)
    })
  }
}

/** Whether a row has values that the engine can go by, whoever wrote the store. */
export function isSound(row: ScheduleRecord): boolean {
  const { kind, spec, nextRunAt, leaseUntil, fencingToken } = row
  return (
    KINDS.includes(kind) &&
    typeof spec === 'string' &&
    (nextRunAt === null || isInstant(nextRunAt)) &&
    (leaseUntil === undefined || Number.isSafeInteger(leaseUntil)) &&
    Number.isSafeInteger(fencingToken) &&
    fencingToken >= 0
  )
}

function isInstant(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= 8.64e15
}
