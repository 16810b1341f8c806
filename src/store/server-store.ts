// What users hold of a store on a server: the parts of the library that live there, and their
// beginning and end. How the server is spoken to is the engine's.

import { type Clock, systemClock, type Timer } from '../clock.ts'
import type { CronfenceError } from '../errors.ts'
import { LeaseCoordinator, type LeaseCoordinatorOptions } from '../lease/coordinator.ts'
import type { LeaseProvider } from '../lease/lease.ts'
import { checkDuration, checkInstant } from './arguments.ts'
import { ServerClock } from './server-clock.ts'
import type { ScheduleStore } from './store.ts'
import { oncePerRow, warn } from './warnings.ts'
import { type ScheduleWaves, WaveScheduleStore } from './wave-schedule-store.ts'

/** Options that the stores on servers share. */
export interface ServerStoreOptions {
  /**
   * How long a request may take, in ms, retries included, before it counts as failed. Default 5000;
   * keep it below a third of the shortest lease.
   */
  readonly timeoutMs?: number
  /** Corrected by the server's for leases and tombstones. Default: the machine's. */
  readonly clock?: Clock
  /**
   * Hears of each damaged row once, when `list` or a batch method passes over it. Calls for that
   * id alone reject with the same error. Default: a process warning.
   */
  readonly onDamaged?: (error: CronfenceError) => void
  /** Hears of each setting of the server that weakens a guarantee. Default: a process warning. */
  readonly onWarning?: (text: string) => void
}

/** How a store speaks to its server. */
export interface ServerEngine {
  readonly schedules: ScheduleWaves
  /** Connects and sets up what is missing. Idempotent; after a failure it tries again. */
  open(): Promise<void>
  readonly leases: LeaseProvider
  /** The server's time, in ms since the epoch. */
  serverNow(): Promise<number>
  /** Removes tombstones written before the instant and answers how many. */
  purge(olderThan: number): Promise<number>
  close(): Promise<void>
}

/** What an engine is told. */
export interface EngineSettings {
  /** Leases and tombstones go by it. */
  readonly clock: Clock
  readonly timeoutMs: number
  readonly onWarning: (text: string) => void
}

// Clocks of good machines drift apart by some ms in that time.
const MEASURE_EVERY_MS = 60_000

/** The base of the stores on servers. Methods reject with what the store's class says. */
export class ServerStore {
  readonly #engine: ServerEngine
  readonly #schedules: WaveScheduleStore
  readonly #leases: LeaseProvider
  readonly #clock: ServerClock
  #measuring: Timer | undefined
  #isStopped = false

  protected constructor(
    engineOf: (settings: EngineSettings) => ServerEngine,
    options: ServerStoreOptions,
  ) {
    const { clock = systemClock, timeoutMs = 5000, onDamaged = warn, onWarning = warn } = options
    checkDuration('timeoutMs', timeoutMs)
    this.#clock = new ServerClock(clock, () => this.#engine.serverNow())
    this.#engine = engineOf({ clock: this.#clock, timeoutMs, onWarning })
    this.#schedules = new WaveScheduleStore({
      waves: this.#engine.schedules,
      start: () => this.start(),
      onDamaged: oncePerRow(onDamaged),
    })
    this.#leases = this.#engine.leases
  }

  /**
   * Connects, creates or migrates the tables, and measures the server's clock. Idempotent, and safe
   * from many replicas at once. Other calls connect on demand, but do not measure.
   */
  async start(): Promise<void> {
    await this.#engine.open()
    if (this.#measuring) return
    await this.#clock.measure()
    this.#measureLater()
  }

  /** Closes connections that the store opened. Every later call rejects with `STORE_CLOSED`. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#measuring?.cancel()
    await this.#engine.close()
  }

  schedules(): Required<ScheduleStore> {
    return this.#schedules
  }

  leases(): LeaseProvider {
    return this.#leases
  }

  /** A new `Coordinator` over `leases()`, not started. */
  coordinator(options: Omit<LeaseCoordinatorOptions, 'provider'> = {}): LeaseCoordinator {
    return new LeaseCoordinator({ clock: this.#clock, ...options, provider: this.#leases })
  }

  /**
   * The local clock, corrected by the offset measured at the start and every minute since: for a
   * `Scheduler` whose machines' clocks are not to be trusted.
   */
  clock(): ServerClock {
    return this.#clock
  }

  /**
   * Removes the tombstones of tasks deleted before the instant `olderThan` and answers how many.
   * Their highest token becomes the least token of every new id, so no id's tokens ever go back;
   * what is given up is only that new ids start from 0. Rows of delays that ran are kept.
   */
  async purge(olderThan: number | Date): Promise<number> {
    const instant = Number(olderThan)
    checkInstant('olderThan', instant)
    return this.#engine.purge(instant)
  }

  #measureLater(): void {
    if (this.#isStopped) return
    this.#measuring?.cancel()
    this.#measuring = this.#clock.setTimer(() => {
      const again = () => this.#measureLater()
      this.#clock.measure().then(again, again) // An unreachable server shows in the real calls.
    }, MEASURE_EVERY_MS)
    this.#measuring.unref()
  }
}
