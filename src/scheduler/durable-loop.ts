// The loop of durable tasks. It keeps what each row last said and sleeps until the earliest slot;
// nothing is polled. A due slot is claimed, a refused claim makes it read the row, and the row
// tells how to go on. The parts are elsewhere; here they are put together, started and stopped.

import { CronfenceError } from '../errors.ts'
import { LeaseKeeper } from '../lease/lease-keeper.ts'
import type { ScheduleStore } from '../store/store.ts'
import { ClaimRunner } from './claim-runner.ts'
import { Claimer } from './claimer.ts'
import { Committer } from './committer.ts'
import { DurableTask, type Registration } from './durable-task.ts'
import type { Journal } from './journal.ts'
import { type Failed, Lane } from './lane.ts'
import { Remover } from './remover.ts'
import { RowReader } from './row-reader.ts'
import { Stages, type StagesOptions } from './stages.ts'
import { StoreCalls } from './store-calls.ts'
import type { TimerQueue } from './timer-queue.ts'

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
  readonly leader: StagesOptions['leader']
}

/** Claims the slots of durable tasks as they fall due. */
export class DurableLoop {
  readonly #timers: TimerQueue
  readonly #journal: Journal
  readonly #calls: StoreCalls
  readonly #tasks = new Map<string, DurableTask>()
  readonly #stages: Stages
  readonly #connecting: Lane<'start'>
  readonly #reader: RowReader
  readonly #claimer: Claimer
  readonly #committer: Committer
  readonly #runner: ClaimRunner
  readonly #remover: Remover
  /** Why the store can never start. */
  #misfit: Error | undefined

  constructor(options: DurableLoopOptions) {
    const { store, timers, journal, tickMs } = options
    this.#timers = timers
    this.#journal = journal
    this.#calls = new StoreCalls(store, timers)
    this.#stages = new Stages({
      ...options,
      register: (task) => this.#reader.register(task),
      read: (task) => this.#reader.read(task),
      claim: (task) => this.#claimer.claim(task),
    })
    const parts = { ...options, calls: this.#calls, stages: this.#stages }
    this.#connecting = new Lane({
      timers,
      retryMs: tickMs,
      work: () => this.#connect(),
      onFailed: ({ error }, retryInMs) => {
        journal.storeFailed({ error, operation: 'start', taskIds: [], retryInMs })
      },
    })
    this.#remover = new Remover(parts)
    this.#reader = new RowReader({
      ...parts,
      remover: this.#remover,
      onFoundClaim: (task, claim, attempt) => this.#claimer.adopt(task, claim, attempt),
      onGone: (task) => this.#gone(task),
    })
    this.#committer = new Committer({
      ...parts,
      claimed: () => this.#claimer.idle(),
      onRefused: (task, row) => {
        if (task.stage !== 'claimed' || !this.#stages.isRunning) return
        if (row) this.#reader.saw(task, row)
        else this.#stages.read(task)
      },
      onBadRow: (task) => this.#stages.setAside(task),
    })
    this.#runner = new ClaimRunner({
      ...parts,
      keeper: this.#keeper(),
      committer: this.#committer,
      onCommitted: (task) => this.#stages.goOn(task),
      onDropped: (task, reason) => {
        if (task.hasEnded) return
        if (!this.#stages.isRunning) task.stage = 'idle'
        else if (reason === 'rejected') this.#stages.read(task)
        else this.#stages.waitATick(task)
      },
    })
    this.#claimer = new Claimer({
      ...parts,
      reader: this.#reader,
      runner: this.#runner,
      committer: this.#committer,
    })
  }

  has(storedId: string): boolean {
    return this.#tasks.has(storedId)
  }

  /** Takes a task on; it is stored at once when the loop is running, else at its start. */
  add(registration: Registration): DurableTask {
    const order = this.#timers.nextOrder()
    const task = new DurableTask(registration, order, (due) => this.#stages.onDue(due))
    this.#tasks.set(task.storedId, task)
    if (this.#stages.isRunning) this.#stages.register(task)
    return task
  }

  /** The ids of all rows, or why they are not known. */
  async stored(): Promise<string[] | Error> {
    const rows = await this.#calls.list()
    return rows instanceof Error ? rows : rows.map(({ id }) => id)
  }

  /**
   * Ends a task and deletes its row, also when an earlier try has failed. A namesake that was
   * registered since stays.
   */
  cancel(task: DurableTask): Promise<void> {
    const { storedId } = task
    if (task.hasEnded && (task.isDeleted || this.has(storedId))) {
      return this.#remover.pending(storedId) ?? Promise.resolve()
    }
    const removal = this.remove(storedId)
    const deleted = () => {
      task.isDeleted = true
    }
    removal.then(deleted, () => {})
    return removal
  }

  /** Ends a task and keeps its row. A claim that goes on is committed or handed back. */
  leave(task: DurableTask): void {
    if (task.hasEnded) return
    this.#stages.close(task, 'left')
    this.#tasks.delete(task.storedId)
  }

  /** Ends a task, and deletes its row; also a row that no task of this scheduler has. */
  remove(storedId: string): Promise<void> {
    const task = this.#tasks.get(storedId)
    if (task) this.#close(task)
    const ready = async () => {
      // One that is under way would bring the row back.
      await this.#reader.registration
      if (!this.#stages.isRunning) await this.#started()
    }
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
    this.#stages.isRunning = true
    this.#reader.open()
    this.#claimer.open()
    this.#committer.open()
    this.#remover.open()
    this.#runner.resume()
    for (const task of this.#tasks.values()) this.#stages.register(task)
    await this.#reader.registered()
  }

  /** Claims nothing more and aborts what runs. */
  halt(reason: Error): void {
    this.#connecting.close()
    this.#reader.close()
    this.#claimer.close()
    this.#stages.halt(this.#tasks.values())
    this.#runner.abort(reason)
  }

  /** Resolves when no handler runs. */
  async idle(): Promise<void> {
    await this.#runner.idle()
  }

  /**
   * After `halt`: hands back what still runs, and waits for the last writes, but not for ever. Then
   * the store is asked nothing until `reopen`.
   */
  async close(): Promise<void> {
    this.#runner.handBackAll()
    await this.#timers.within(LAST_WRITES_MS, this.#lastWrites())
    this.#committer.close()
    this.#remover.close()
    this.#calls.seal()
    await this.#settled()
    for (const task of this.#tasks.values()) task.stage = 'idle'
  }

  /** After `close`: the store is asked again, for what is asked of a scheduler that is stopped. */
  reopen(): void {
    this.#calls.reopen()
    this.#remover.reopen()
  }

  async #lastWrites(): Promise<void> {
    // A claim that was under way hands itself back when its answer comes.
    await this.#claimer.idle()
    const writes = [this.#committer.idle(), this.#remover.idle(), this.#reader.registered()]
    await Promise.all(writes)
  }

  /** Nothing that had begun goes on. It takes no time while the calls are sealed. */
  async #settled(): Promise<void> {
    const parts = [this.#connecting, this.#reader, this.#claimer, this.#committer, this.#remover]
    await Promise.all(parts.map((part) => part.idle()))
  }

  #close(task: DurableTask): void {
    this.#stages.close(task, 'closed')
    this.#runner.forget(task)
    this.#tasks.delete(task.storedId)
  }

  #gone(task: DurableTask): void {
    this.#close(task)
    task.isDeleted = true
    this.#journal.removed(task.id)
  }

  #keeper(): LeaseKeeper {
    return new LeaseKeeper({
      clock: this.#timers,
      renew: (renewals, answerMs) => this.#calls.renew(renewals, answerMs),
      onError: (error, storedIds, retryInMs) => {
        const taskIds = storedIds.flatMap((storedId) => this.#tasks.get(storedId)?.id ?? [])
        this.#journal.storeFailed({ error, operation: 'renew', taskIds, retryInMs })
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
}

/** Whether a store that failed to start may do so later. Wrong arguments and data stay wrong. */
function mayPass(error: Error): boolean {
  if (error instanceof CronfenceError) {
    return error.code === 'STORE_UNAVAILABLE' || error.code === 'STORE_OUTCOME_UNKNOWN'
  }
  return !(error instanceof TypeError || error instanceof RangeError)
}
