// The faults of a chaos run: which, when and whom is by chance, and a seed repeats it.

import { setTimeout as pause } from 'node:timers/promises'
import type { openLog } from './facts.ts'
import { weighted } from './random.ts'
import type { Seat } from './seat.ts'
import { restart, type Target } from './target.ts'

/** Faults of a replica's process, of its way to the server, and of the server. */
export type FaultKind =
  | ('kill' | 'freeze' | 'restart')
  | ('cut' | 'drop' | 'delay' | 'half-open')
  | ('server kill' | 'server restart')

/** How often each of them is chosen, where there is a server. */
const WITH_SERVER: Readonly<Record<FaultKind, number>> = {
  ...{ kill: 20, freeze: 20, restart: 8 },
  ...{ cut: 8, drop: 12, delay: 10, 'half-open': 14 },
  ...{ 'server kill': 4, 'server restart': 4 },
}

const NONE = { cut: 0, drop: 0, delay: 0, 'half-open': 0, 'server kill': 0, 'server restart': 0 }
const WITHOUT_SERVER: typeof WITH_SERVER = { ...NONE, kill: 45, freeze: 45, restart: 10 }

/** What faults need. */
export interface FaultsOptions {
  readonly seats: readonly Seat[]
  readonly target: Target
  readonly random: () => number
  readonly tell: ReturnType<typeof openLog>
  readonly leaseMs: number
}

/** Makes faults happen. */
export class Faults {
  readonly counts: Record<FaultKind, number> = { ...NONE, kill: 0, freeze: 0, restart: 0 }
  readonly #options: FaultsOptions
  #isServerBusy = false

  constructor(options: FaultsOptions) {
    this.#options = options
  }

  /** Resolves when the last of them is over. */
  async happen(length: {
    readonly rounds: number
    readonly lengthMs: number
    readonly pauseMs: readonly [least: number, most: number]
  }): Promise<void> {
    const { random } = this.#options
    const [least, most] = length.pauseMs
    const endAt = performance.now() + length.lengthMs
    const underWay: Promise<void>[] = []
    while (this.#total < length.rounds && performance.now() < endAt) {
      await pause(least + (most - least) * random())
      underWay.push(this.#fault())
    }
    await Promise.all(underWay)
  }

  get #total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count)
  }

  /** One fault, unless whoever it would strike has not recovered from another. */
  async #fault(): Promise<void> {
    const { target, random, seats, tell } = this.#options
    const { server } = target
    const kind = weighted(server ? WITH_SERVER : WITHOUT_SERVER, random)
    const strength = random()
    const choice = random()
    if (server && kind.startsWith('server')) {
      if (this.#isServerBusy) return
      this.#isServerBusy = true
      this.#count(kind, 'the server')
      const signal = kind === 'server kill' ? 'SIGKILL' : undefined
      await restart(server, signal, () => pause(this.#options.leaseMs * strength))
      tell({ what: 'fault', text: `${kind} is over` })
      this.#isServerBusy = false
      return
    }
    const free = seats.filter(({ isBusy }) => !isBusy)
    const seat = free[Math.floor(choice * free.length)]
    if (!seat) return
    seat.isBusy = true
    this.#count(kind, `seat ${seats.indexOf(seat)}`)
    await this.#strike(seat, kind, strength)
    seat.isBusy = false
  }

  /** `strength` is from 0 to 1. */
  async #strike(seat: Seat, kind: FaultKind, strength: number): Promise<void> {
    const { leaseMs } = this.#options
    const ms = leaseMs * (0.3 + 2.7 * strength)
    switch (kind) {
      case 'kill':
        return seat.kill()
      case 'freeze':
        return seat.freeze(ms)
      case 'restart':
        return seat.restart()
      case 'cut':
        return seat.cut()
      case 'drop':
        return seat.drop(ms)
      case 'delay':
        return seat.delay(ms, leaseMs)
      case 'half-open':
        return seat.blackHole(ms, Math.round(ms) % 2 === 0)
    }
  }

  #count(kind: FaultKind, whom: string): void {
    this.counts[kind]++
    this.#options.tell({ what: 'fault', text: `${kind}: ${whom}` })
  }
}
