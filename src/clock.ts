// The only file that reads the time or sets a timer. Everything in the scheduler takes a `Clock`,
// so tests, simulations and users can run it on virtual time (`VirtualClock`, cronfence/testing).

/** A timer that was set and can be taken back. */
export interface Timer {
  /** Takes the timer back; does nothing once it has fired. */
  cancel(): void
  /** Lets the process end while this timer is pending, where the host knows of such a thing. */
  unref(): void
}

/** Wall time for slots and leases, monotonic time for durations, and timers. */
export interface Clock {
  /** The wall clock: ms since the epoch. It may be set, forwards or back. */
  now(): number
  /** Ms since some fixed moment; never goes back, but may stand still while the machine sleeps. */
  monotonic(): number
  /** Calls `callback` once after `delayMs`, which is at most {@link TIMER_MS_MAX}. */
  setTimer(callback: () => void, delayMs: number): Timer
  /** How far `now` is corrected from the machine's clock, ms, where it follows another one. */
  readonly offsetMs?: number
  /**
   * Resolves in a later turn of the event loop: long work asks for it now and then, so that timers
   * and I/O get their say. Without it a timer of 0 ms serves.
   */
  turn?(): Promise<void>
}

/** The longest delay a host timer takes: beyond it `setTimeout` fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs) {
    const handle: unknown = setTimeout(callback, Math.min(delayMs, TIMER_MS_MAX))
    return {
      cancel: () => clearTimeout(handle as ReturnType<typeof setTimeout>),
      unref: () => (handle as { unref?(): void }).unref?.(),
    }
  },
  turn: () => new Promise<void>(nextTurn),
}

/** Calls back in a later turn of the event loop, when all promise reactions of this one ran. */
export const nextTurn: (callback: () => void) => void =
  typeof setImmediate === 'function'
    ? (callback) => void setImmediate(callback)
    : (callback) => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => {
          port1.close()
          callback()
        }
        port2.postMessage(null)
      }
