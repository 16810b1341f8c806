// What the engine has to say, in one place: each fact as an event, and as a log line where somebody
// who only reads logs should know. Payloads of handlers are never in it.

import type {
  AnyRun,
  ClaimEvent,
  Events,
  SchedulerEvents,
  SkippedEvent,
  StoreErrorEvent,
} from './events.ts'
import { briefText, errorText, type Logger, quoted } from './logger.ts'

/** A line names so many tasks, and the number of the others. */
const NAMES_MAX = 20

type Payload<Name extends keyof SchedulerEvents> = SchedulerEvents[Name][0]

/** Events and log lines of one scheduler. */
export class Journal {
  readonly #events: Events
  readonly #log: Required<Logger>

  constructor(events: Events, logger: Required<Logger>) {
    this.#events = events
    this.#log = logger
  }

  runStarted(run: AnyRun): void {
    this.#events.emit('run-start', run)
  }

  runEnded(run: AnyRun, result: { readonly error?: unknown }): void {
    this.#events.emit('run-end', run, result)
  }

  runFailed(run: AnyRun, error: unknown): void {
    const name = 'taskId' in run ? `task ${quoted(run.taskId)}` : 'a plain task'
    const slot = run.scheduledAt.toISOString()
    this.#log.error(`the handler of ${name} failed in its run of ${slot}: ${errorText(error)}`)
    this.#events.emit('error', error, run)
  }

  /** `event` is asked for only when somebody listens: there is one for every occurrence. */
  committed(event: () => Payload<'commit'>): void {
    if (this.#events.has('commit')) this.#events.emit('commit', event())
  }

  commitRejected(event: ClaimEvent): void {
    this.#log.warn(
      `the store refused the commit of ${occurrence(event)}: it was taken over, or is gone`,
    )
    this.#events.emit('commit-rejected', event)
  }

  commitUnknown(
    event: ClaimEvent,
    since: 'the row has moved on' | 'the scheduler has stopped',
  ): void {
    this.#log.warn(`the commit of ${occurrence(event)} was not confirmed, and ${since}`)
    this.#events.emit('commit-unknown', event)
  }

  skipped(event: SkippedEvent): void {
    const name = event.taskId === undefined ? 'a plain task' : `task ${quoted(event.taskId)}`
    const count = event.isLeast ? `at least ${event.count}` : event.count
    const line = `skipped ${count} slots of ${name}, from ${event.from.toISOString()} on`
    if (event.reason === 'missed') this.#log.warn(`${line}: they were missed`)
    else this.#log.debug(`${line}: they fell due during a run`)
    this.#events.emit('skipped', event)
  }

  leaseLost(event: Payload<'lease-lost'>): void {
    const why =
      event.reason === 'rejected'
        ? 'the store refused its renewal'
        : 'it could not be renewed in time'
    this.#log.warn(`lost the lease of ${occurrence(event)}: ${why}`)
    this.#events.emit('lease-lost', event)
  }

  handedBack(event: ClaimEvent): void {
    this.#log.info(`handed back ${occurrence(event)}`)
    this.#events.emit('hand-back', event)
  }

  notHandedBack(events: readonly ClaimEvent[]): void {
    const taskIds = events.map(({ taskId }) => taskId)
    this.#log.warn(`stopped before ${named(taskIds)} could be handed back: their leases run out`)
  }

  claimAdopted(event: ClaimEvent): void {
    this.#log.info(`the claim of ${occurrence(event)} was won, though its reply was lost`)
    this.#events.emit('claim-adopted', event)
  }

  registered(event: Payload<'registered'>): void {
    this.#events.emit('registered', event)
  }

  /** As `committed`: rows are read often. */
  read(event: () => Payload<'read'>): void {
    if (this.#events.has('read')) this.#events.emit('read', event())
  }

  dormant(taskId: string | undefined, spec: string): void {
    const name = taskId === undefined ? 'a plain task' : `task ${quoted(taskId)}`
    this.#log.warn(`${name} is dormant: ${quoted(spec)} has no run inside the horizon`)
    this.#events.emit('dormant', { taskId })
  }

  superseded(event: Payload<'superseded'>): void {
    const stored = `${event.kind} ${quoted(event.spec)}`
    this.#log.warn(
      `task ${quoted(event.taskId)} is stored as ${stored}, not as registered here: it waits`,
    )
    this.#events.emit('superseded', event)
  }

  removed(taskId: string): void {
    this.#log.warn(`task ${quoted(taskId)} was deleted from the store elsewhere: it ends here too`)
    this.#events.emit('removed', { taskId })
  }

  orphans(taskIds: readonly string[]): void {
    this.#log.warn(`stored, but registered by no code: ${named(taskIds)}`)
    this.#events.emit('orphans', { taskIds })
  }

  storeFailed(event: StoreErrorEvent): void {
    const tasks = event.taskIds.length > 0 ? ` for ${named(event.taskIds)}` : ''
    const retry = `next try in ${event.retryInMs} ms`
    this.#log.error(
      `the store failed to ${event.operation}${tasks}, ${retry}: ${briefText(event.error)}`,
    )
    this.#events.emit('store-error', event)
  }

  /** A failure that is no fault of the store or of a handler, and changes nothing. */
  clockOff(errorMs: number, leaseMs: number): void {
    this.#log.warn(
      `this machine's clock is ${Math.round(errorMs)} ms off the store's, more than a tenth of ` +
        `the shortest lease (${leaseMs} ms): set it, or let every replica use the store's clock()`,
    )
  }

  warn(line: string, error?: unknown): void {
    this.#log.warn(error === undefined ? line : `${line}: ${briefText(error)}`)
  }
}

function occurrence({ taskId, scheduledAt, fencingToken }: ClaimEvent): string {
  return `task ${quoted(taskId)}, slot ${scheduledAt.toISOString()}, token ${fencingToken}`
}

function named(taskIds: readonly string[]): string {
  const names = taskIds.slice(0, NAMES_MAX).map(quoted).join(', ')
  const others = taskIds.length - NAMES_MAX
  return others > 0 ? `${names} and ${others} more` : names
}
