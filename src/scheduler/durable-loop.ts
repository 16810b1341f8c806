// The loop of durable tasks. It keeps what each row last said and sleeps until the earliest slot;
// nothing is polled. A due slot is claimed, a refused claim makes it read the row, and the row tells
// how to go on. Deciding, running and committing are done elsewhere.

import { CronfenceError } from '../errors.ts'
import { LeaseKeeper } from '../lease/lease-keeper.ts'
import { moment } from '../lease/trust-window.ts'
import type { ClaimResult, ScheduleRecord, ScheduleStore } from '../store/store.ts'
import { ClaimRunner } from './claim-runner.ts'
import { Committer, claimEvent, LostReplies } from './committer.ts'
import { decide } from './decide.ts'
import { DurableTask, type Registration, type UnknownAttempt } from './durable-task.ts'
import type { StoreErrorEvent } from './events.ts'
import type { Journal } from './journal.ts'
import { type Failed, Lane } from './lane.ts'
import { LeaderWatch } from './leader-watch.ts'
import { Remover } from './remover.ts'
import { isAboutOneRow, StoreCalls } from './store-calls.ts'
import type { TimerQueue } from './timer-queue.ts'

/** How long a cron without a run waits before it is planned again. */
const DORMANT_MS = 86_400_000

/** How long a row that is not ours to run, or that cannot be read, is left alone. */
const ASIDE_MS = 30_000

/** How long the last commits may take once the handlers have ended or were given up. */
const LAST_WRITES_MS = 5000

/** What the loop needs. */
export interface DurableLoopOptions {
  readonly store: ScheduleStore
  readonly timers: TimerQueue
  readonly journal: Journal
  /** Different on every replica and in every process. */
  readonly owner: string
  readonly tickMs: number
  readonly graceMs: number
  /** `undefined`: there is no leader, all claim on time. */
  readonly leader: { isLeader(): boolean; readonly ttlMs: number } | undefined
}

/** Claims the slots of durable tasks as they fall due. */
export class DurableLoop {
  readonly #options: DurableLoopOptions
  readonly #timers: TimerQueue
  readonly #journal: Journal
  readonly #calls: StoreCalls
  readonly #tasks = new Map<string, DurableTask>()
  readonly #connecting: Lane<'start'>
  readonly #registering: Lane<DurableTask>
  readonly #reading: Lane<DurableTask>
  readonly #claiming: Lane<DurableTask>
  readonly #committer: Committer
  readonly #runner: ClaimRunner
  readonly #remover: Remover
  readonly #leader: LeaderWatch<DurableTask>
  /** The registration that is under way; a deletion waits for it. */
  #registration: Promise<unknown> = Promise.resolve()
  /** Why the store can never start. */
  #misfit: Error | undefined
  #isRunning = false
  #attempts = 0

  constructor(options: DurableLoopOptions) {
    const { store, timers, journal, tickMs } = options
    this.#options = options
    this.#timers = timers
    this.#journal = journal
    this.#calls = new StoreCalls(store, timers)
    this.#connecting = new Lane({
      timers,
      retryMs: tickMs,
      work: () => this.#connect(),
      onFailed: ({ error }, retryInMs) => {
        journal.storeFailed({ error, operation: 'start', taskIds: [], retryInMs })
      },
    })
    this.#registering = this.#lane('register', (batch) => this.#register(batch))
    this.#reading = this.#lane('read', (batch) => this.#read(batch))
    this.#claiming = this.#lane('claim', (batch) => this.#claim(batch))
    this.#committer = new Committer({
      calls: this.#calls,
      timers,
      journal,
      tickMs,
      onRefused: (task, row) => this.#refused(task, row),
      onBadRow: (task) => this.#setAside(task),
    })
    this.#runner = new ClaimRunner({
      keeper: this.#keeper(),
      committer: this.#committer,
      timers,
      journal,
      onCommitted: (task) => this.#goOn(task),
      onDropped: (task, reason) => this.#dropped(task, reason),
    })
    this.#remover = new Remover({ calls: this.#calls, timers, journal, tickMs })
    this.#leader = new LeaderWatch({
      leader: options.leader,
      timers,
      tickMs,
      onElected: (task) => this.#approach(task),
    })
  }

  has(storedId: string): boolean {
    return this.#tasks.has(storedId)
  }

  /** Takes a task on; it is stored at once when the loop is running, else at its start. */
  add(registration: Registration): DurableTask {
    const order = this.#timers.nextOrder()
    const task = new DurableTask(registration, order, (due) => this.#onDue(due))
    this.#tasks.set(task.storedId, task)
    if (this.#isRunning) this.#beginRegistering(task)
    return task
  }

  /** The ids of all rows, or why they are not known. */
  async stored(): Promise<string[] | Error> {
    const rows = await this.#calls.list()
    return rows instanceof Error ? rows : rows.map(({ id }) => id)
  }

  /** Ends a task and deletes its row. A namesake that was registered since stays. */
  cancel(task: DurableTask): Promise<void> {
    if (task.stage !== 'closed') return this.remove(task.storedId)
    return this.#remover.pending(task.storedId) ?? Promise.resolve()
  }

  /** Ends a task, and deletes its row; also a row that no task of this scheduler has. */
  remove(storedId: string): Promise<void> {
    const task = this.#tasks.get(storedId)
    if (task) this.#close(task)
    // A registration that is under way would bring the row back.
    const ready = this.#isRunning ? this.#registration : this.#started()
    return this.#remover.remove(storedId, ready)
  }

  /**
   * Starts the store, however often it fails. Rejects only with what trying again cannot mend;
   * resolves when the store has started, or when the loop is stopped meanwhile.
   */
  async connect(): Promise<void> {
    this.#connecting.open()
    this.#connecting.push('start')
    await this.#connecting.idle()
    const error = this.#misfit
    this.#misfit = undefined
    if (error) throw error
  }

  /** Resolves when all tasks are stored, or when the loop is stopped meanwhile. */
  async start(): Promise<void> {
    this.#isRunning = true
    for (const lane of this.#lanes) lane.open()
    this.#committer.open()
    this.#remover.open()
    this.#runner.resume()
    for (const task of this.#tasks.values()) this.#beginRegistering(task)
    await this.#registering.idle()
  }

  /** Claims nothing more and aborts what runs. */
  halt(reason: Error): void {
    this.#isRunning = false
    this.#connecting.close()
    for (const lane of this.#lanes) lane.close()
    this.#leader.clear()
    for (const task of this.#tasks.values()) {
      this.#timers.clear(task)
      if (task.stage !== 'claimed') task.stage = 'idle'
    }
    this.#runner.abort(reason)
  }

  /** Resolves when no handler runs. */
  async idle(): Promise<void> {
    await this.#runner.idle()
  }

  /** After `halt`: hands back what still runs, and waits for the last writes, but not for ever. */
  async close(): Promise<void> {
    this.#runner.handBackAll()
    await this.#timers.within(LAST_WRITES_MS, this.#lastWrites())
    this.#committer.close()
    this.#remover.close()
    for (const task of this.#tasks.values()) task.stage = 'idle'
  }

  async #lastWrites(): Promise<void> {
    // A claim that was under way hands itself back when its answer comes.
    await this.#claiming.idle()
    await Promise.all([this.#committer.idle(), this.#remover.idle()])
  }

  get #lanes(): Lane<DurableTask>[] {
    return [this.#registering, this.#reading, this.#claiming]
  }

  #lane(
    operation: StoreErrorEvent['operation'],
    work: (batch: DurableTask[]) => Promise<Failed<DurableTask> | undefined>,
  ): Lane<DurableTask> {
    return new Lane({
      timers: this.#timers,
      retryMs: this.#options.tickMs,
      work,
      onFailed: ({ items, error }, retryInMs) => {
        const taskIds = items.map(({ id }) => id)
        this.#journal.storeFailed({ error, operation, taskIds, retryInMs })
      },
    })
  }

  #keeper(): LeaseKeeper {
    return new LeaseKeeper({
      clock: this.#timers,
      renew: (renewals) => this.#calls.renew(renewals),
      onError: (error, storedIds) => {
        const taskIds = storedIds.flatMap((storedId) => this.#tasks.get(storedId)?.id ?? [])
        this.#journal.storeFailed({ error, operation: 'renew', taskIds, retryInMs: 0 })
      },
    })
  }

  async #started(): Promise<void> {
    const error = await this.#calls.start()
    if (error instanceof Error) throw error
  }

  async #connect(): Promise<Failed<'start'> | undefined> {
    const error = await this.#calls.start()
    if (!(error instanceof Error)) return undefined
    if (mayPass(error)) return { items: ['start'], error }
    this.#misfit = error
    return undefined
  }

  // Stages. A task is in one of them; each method below moves it into the next.

  #beginRegistering(task: DurableTask): void {
    task.stage = 'registering'
    const removal = this.#remover.pending(task.storedId)
    if (!removal) this.#registering.push(task)
    else void removal.catch(() => {}).then(() => this.#registering.push(task))
  }

  #beginReading(task: DurableTask): void {
    this.#leader.delete(task)
    task.stage = 'reading'
    this.#reading.push(task)
  }

  #wait(task: DurableTask, wakeTo: DurableTask['wakeTo'], instant: number): void {
    task.stage = 'waiting'
    task.wakeTo = wakeTo
    this.#timers.set(task, instant)
  }

  #onDue(task: DurableTask): void {
    if (task.stage !== 'waiting') return
    const isLeaders = this.#leader.mustWait(task, this.#timers.now())
    if (task.wakeTo === 'register') this.#beginRegistering(task)
    else if (task.wakeTo === 'claim' && (isLeaders || this.#leader.mayClaimOnTime())) {
      this.#approach(task)
    } else {
      // Also when there is a leader, who has most likely run this slot: look before claiming.
      this.#beginReading(task)
    }
  }

  /** The slot is due as far as is known: claims it, or leaves it to the leader for a while. */
  #approach(task: DurableTask): void {
    const now = this.#timers.now()
    if (this.#leader.mustWait(task, now)) {
      this.#wait(task, 'read', this.#leader.overdueAt(task))
      this.#leader.add(task)
      return
    }
    this.#timers.clear(task)
    task.stage = 'claiming'
    this.#claiming.push(task)
  }

  /** What is known of the row says how the task goes on. */
  #goOn(task: DurableTask): void {
    if (!this.#isRunning) task.stage = 'idle'
    else if (task.nextRunAt === null) this.#rest(task)
    else if (task.nextRunAt > this.#timers.now()) this.#wait(task, 'claim', task.nextRunAt)
    else this.#approach(task)
  }

  /** There is no slot: a delay is done, a cron is dormant. */
  #rest(task: DurableTask): void {
    task.stage = 'idle'
    if (task.plan.kind !== 'cron') return
    if (!task.isDormant) this.#journal.dormant(task.id, task.plan.spec)
    task.isDormant = true
    this.#wait(task, 'read', this.#timers.now() + DORMANT_MS)
  }

  #setAside(task: DurableTask): void {
    if (task.stage === 'closed' || !this.#isRunning) return
    this.#wait(task, 'read', this.#timers.now() + ASIDE_MS)
  }

  #close(task: DurableTask): void {
    task.stage = 'closed'
    task.nextRunAt = null
    this.#timers.clear(task)
    this.#leader.delete(task)
    this.#runner.forget(task)
    this.#tasks.delete(task.storedId)
  }

  // Registering.

  async #register(batch: DurableTask[]): Promise<Failed<DurableTask> | undefined> {
    const tasks = batch.filter((task) => task.stage === 'registering')
    const now = this.#timers.now()
    const schedules = tasks.map(({ storedId: id, plan }) => {
      return { id, kind: plan.kind, spec: plan.spec, nextRunAt: plan.first(now) }
    })
    const answer = this.#calls.register(schedules, now)
    this.#registration = answer
    const rows = await answer
    const lost = new LostReplies<DurableTask>()
    for (const [index, task] of tasks.entries()) {
      const row = rows[index]
      if (task.stage !== 'registering' || row === undefined) continue
      if (row instanceof Error) this.#notDone(task, 'register', row, lost)
      else this.#registered(task, row)
    }
    return lost.failed
  }

  #registered(task: DurableTask, row: ScheduleRecord): void {
    const nextRunAt = row.nextRunAt === null ? null : new Date(row.nextRunAt)
    this.#saw(task, row)
    this.#journal.registered({ taskId: task.id, nextRunAt })
  }

  /** No answer: all is tried again, except what only mending the row can help. */
  #notDone(
    task: DurableTask,
    operation: StoreErrorEvent['operation'],
    error: Error,
    lost: LostReplies<DurableTask>,
  ): void {
    if (!isAboutOneRow(error)) {
      lost.add(task, error)
      return
    }
    this.#journal.storeFailed({ error, operation, taskIds: [task.id], retryInMs: ASIDE_MS })
    const wakeTo = operation === 'register' ? 'register' : 'read'
    this.#wait(task, wakeTo, this.#timers.now() + ASIDE_MS)
  }

  // Reading.

  async #read(batch: DurableTask[]): Promise<Failed<DurableTask> | undefined> {
    const tasks = batch.filter((task) => task.stage === 'reading')
    const rows = await this.#calls.get(tasks.map(({ storedId }) => storedId))
    const lost = new LostReplies<DurableTask>()
    for (const [index, task] of tasks.entries()) {
      const row = rows[index]
      if (task.stage !== 'reading' || row === undefined) continue
      if (row instanceof Error) this.#notDone(task, 'read', row, lost)
      else if (row === null) this.#absent(task)
      else this.#saw(task, row)
    }
    return lost.failed
  }

  /** Absent twice, a tick apart: deleted. Once may be the moment between two writes of a replica. */
  #absent(task: DurableTask): void {
    if (!task.isAbsent) {
      task.isAbsent = true
      this.#wait(task, 'read', this.#timers.now() + this.#options.tickMs)
      return
    }
    this.#close(task)
    this.#journal.removed(task.id)
  }

  #saw(task: DurableTask, row: ScheduleRecord): void {
    const { attempt, isRefused, isLeased, fencingToken } = task
    task.attempt = undefined
    task.isRefused = false
    if (attempt && row.leaseOwner === attempt.owner) {
      // A token that grew by more than our own claim belongs to a runner that did not commit.
      const takenOver =
        isLeased || (row.nextRunAt === task.nextRunAt && row.fencingToken > fencingToken + 1)
      this.#adopt(task, { record: row, fencingToken: row.fencingToken, takenOver }, attempt)
      return
    }
    task.saw(row)
    if (!task.isPlanOf(row)) {
      this.#superseded(task, row)
      return
    }
    task.isSuperseded = false
    const now = this.#timers.now()
    if (row.nextRunAt === null) this.#seenWithoutSlot(task, row, now)
    else if (row.nextRunAt > now) this.#wait(task, 'claim', row.nextRunAt)
    else if (row.leaseUntil !== undefined && row.leaseUntil > now) {
      // Its runner may hand it back at any time.
      this.#wait(task, 'read', Math.min(row.leaseUntil, now + this.#options.tickMs))
    } else if (isRefused) this.#wait(task, 'read', now + this.#options.tickMs)
    else this.#approach(task)
  }

  /**
   * A dormant task may have a run by now, as time goes on or as rules of zones change. No claim can
   * set its slot, so the row is deleted and registered again; its token is kept by that.
   */
  #seenWithoutSlot(task: DurableTask, row: ScheduleRecord, now: number): void {
    if (task.plan.kind !== 'cron' || task.plan.first(now) === null) {
      this.#rest(task)
      return
    }
    task.isDormant = false
    task.stage = 'registering'
    const { storedId } = task
    const deletion = this.#calls.delete([{ storedId, fencingToken: row.fencingToken }])
    void deletion.then(([error]) => {
      if (task.stage !== 'registering') return
      if (error) this.#setAside(task)
      else this.#registering.push(task)
    })
  }

  #superseded(task: DurableTask, { kind, spec }: ScheduleRecord): void {
    if (!task.isSuperseded) this.#journal.superseded({ taskId: task.id, kind, spec })
    task.isSuperseded = true
    this.#setAside(task)
  }

  // Claiming.

  async #claim(batch: DurableTask[]): Promise<Failed<DurableTask> | undefined> {
    const lost = new LostReplies<DurableTask>()
    for (const [leaseMs, tasks] of this.#byLease(batch)) {
      const attempt = {
        owner: `${this.#options.owner}.${this.#attempts++}`,
        now: this.#timers.now(),
        leaseMs,
        sentAt: moment(this.#timers),
      }
      const storedIds = tasks.map(({ storedId }) => storedId)
      const answers = await this.#calls.claim(storedIds, attempt)
      for (const [index, task] of tasks.entries()) {
        const answer = answers[index]
        if (answer instanceof Error) this.#claimFailed(task, answer, attempt, lost)
        else if (answer) this.#won(task, answer, attempt)
        else this.#lostRace(task)
      }
    }
    // Nothing is claimed again before the rows were read; the lane only waits.
    return lost.failed && { ...lost.failed, items: [] }
  }

  #byLease(batch: DurableTask[]): Map<number, DurableTask[]> {
    const groups = new Map<number, DurableTask[]>()
    for (const task of batch) {
      if (task.stage !== 'claiming') continue
      if (this.#runner.isLive(task.storedId)) {
        // A run that was handed back, or of a cancelled namesake, has not ended yet.
        this.#wait(task, 'read', this.#timers.now() + this.#options.tickMs)
        continue
      }
      const { leaseMs } = task.registration
      const group = groups.get(leaseMs)
      if (group) group.push(task)
      else groups.set(leaseMs, [task])
    }
    return groups
  }

  #claimFailed(
    task: DurableTask,
    error: Error,
    attempt: UnknownAttempt,
    lost: LostReplies<DurableTask>,
  ): void {
    if (task.stage !== 'claiming') return
    task.attempt = attempt
    if (isAboutOneRow(error)) this.#notDone(task, 'claim', error, lost)
    else {
      lost.add(task, error)
      this.#beginReading(task)
    }
  }

  #lostRace(task: DurableTask): void {
    if (task.stage !== 'claiming') return
    task.isRefused = true
    this.#beginReading(task)
  }

  /** The reply was lost, but the row shows our claim. */
  #adopt(task: DurableTask, claim: ClaimResult, attempt: UnknownAttempt): void {
    const { fencingToken, record } = claim
    this.#journal.claimAdopted(claimEvent({ task, fencingToken, slot: record.nextRunAt ?? 0 }))
    task.stage = 'claiming'
    this.#won(task, claim, attempt)
  }

  #won(task: DurableTask, claim: ClaimResult, attempt: UnknownAttempt): void {
    const { record, fencingToken, takenOver } = claim
    const slot = record.nextRunAt ?? attempt.now
    if (task.stage !== 'claiming') {
      // Stopped or cancelled while the claim was on its way.
      this.#committer.handBack({ task, fencingToken, slot })
      return
    }
    task.saw(record)
    task.stage = 'claimed'
    if (!task.isPlanOf(record)) {
      this.#giveUpForeign(task, claim, slot)
      return
    }
    const { plan, registration } = task
    const { policy, maxCatchUp } = registration
    const { graceMs } = this.#options
    const claimedAt = attempt.now
    this.#runner.start({
      task,
      fencingToken,
      slot,
      sentAt: attempt.sentAt,
      decision: decide({ plan, slot, claimedAt, takenOver, policy, maxCatchUp, graceMs }),
    })
  }

  /** A newer deploy has changed the plan: the row is left as it was before the claim. */
  #giveUpForeign(task: DurableTask, claim: ClaimResult, slot: number): void {
    const { record, fencingToken, takenOver } = claim
    const { kind, spec, nextRunAt } = record
    // What was taken over must stay so: only a lapsed lease says that to the next replica.
    if (takenOver) this.#committer.handBack({ task, fencingToken, slot })
    else {
      const patch = { nextRunAt, plan: { kind, spec } }
      this.#committer.commit({ task, fencingToken, slot, patch, onCommitted: () => {} })
    }
    this.#superseded(task, record)
  }

  // After a claim.

  #refused(task: DurableTask, row: ScheduleRecord | null | undefined): void {
    if (task.stage !== 'claimed' || !this.#isRunning) return
    task.stage = 'reading'
    if (row) this.#saw(task, row)
    else this.#beginReading(task)
  }

  #dropped(task: DurableTask, reason: 'rejected' | 'handed back'): void {
    if (!this.#isRunning) task.stage = 'idle'
    else if (reason === 'rejected') this.#beginReading(task)
    else this.#wait(task, 'read', this.#timers.now() + this.#options.tickMs)
  }
}

/** Whether a store that failed to start may do so later. Wrong arguments and data stay wrong. */
function mayPass(error: Error): boolean {
  if (error instanceof CronfenceError) {
    return error.code === 'STORE_UNAVAILABLE' || error.code === 'STORE_OUTCOME_UNKNOWN'
  }
  return !(error instanceof TypeError || error instanceof RangeError)
}
