// A place for one replica, which is always a process except for a moment while it is replaced; and
// its way to the server, with the weather on it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { startProxy, type TcpProxy } from '../support/proxy.ts'
import type { ProcessFact } from './facts.ts'
import type { ReplicaArguments } from './replica.ts'
import { type Target, throughPort } from './target.ts'

/** What a seat needs. */
export interface SeatOptions {
  readonly index: number
  readonly program: string
  readonly target: Target
  readonly replica: Omit<ReplicaArguments, 'name' | 'url'>
  /** The open file where the replicas' standard error goes. */
  readonly errors: number
  readonly tell: (fact: ProcessFact, by: string) => void
  /** For the weather; how often it is asked depends on what goes to and fro. */
  readonly random: () => number
}

// An orderly end may wait for handlers, for writes to a server that does not answer, and for its
// connections.
const STOPPED_MS_MAX = 20_000

/** A seat, taken. */
export class Seat {
  /** What went wrong with its processes. */
  readonly violations: string[] = []
  /** A fault is under way; it does not meet another. */
  isBusy = false
  readonly #options: SeatOptions
  readonly #proxy: TcpProxy | undefined
  readonly #url: string
  #count = 0
  #name = ''
  #mayEnd = false
  #listens: Promise<unknown> = Promise.resolve()
  #child: ChildProcess

  private constructor(options: SeatOptions, proxy: TcpProxy | undefined) {
    const { url } = options.target
    this.#options = options
    this.#proxy = proxy
    this.#url = proxy ? throughPort(url, proxy.port) : url
    this.#child = this.#spawn()
  }

  static async take(options: SeatOptions): Promise<Seat> {
    const { server } = options.target
    return new Seat(options, server && (await startProxy(server.port)))
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
    this.#child = this.#spawn()
  }

  async restart(): Promise<void> {
    await this.stop()
    this.#child = this.#spawn()
  }

  async freeze(ms: number): Promise<void> {
    this.#tell('paused')
    this.#child.kill('SIGSTOP')
    await pause(ms)
    this.#tell('resumed')
    this.#child.kill('SIGCONT')
  }

  /** Ends all connections. */
  cut(): void {
    this.#proxy?.cut()
  }

  /** For a while, one chunk of bytes in six is lost with its connection. */
  drop(ms: number): Promise<void> {
    const { random } = this.#options
    return this.#weather(ms, () => (random() < 1 / 6 ? 'cut' : 'pass'))
  }

  /** For a while every chunk of bytes is late by a tenth of the lease, and some by up to two. */
  delay(ms: number, leaseMs: number): Promise<void> {
    const { random } = this.#options
    return this.#weather(ms, () => {
      const lateMs = random() < 1 / 6 ? 2 * leaseMs : leaseMs / 10
      return Math.ceil(random() * lateMs)
    })
  }

  /** For a while nothing passes and nothing says so; then what was sent arrives, or is lost. */
  async blackHole(ms: number, arrives: boolean): Promise<void> {
    await this.#weather(ms, () => 'hold')
    if (!arrives) this.#proxy?.cut()
    this.#proxy?.release()
  }

  /** Resolves when the replica has stopped by itself. */
  async stop(): Promise<void> {
    await this.#listens // Before that, the signal would end it as any process.
    const tooLong = setTimeout(() => {
      this.violations.push(`${this.#name} did not stop in ${STOPPED_MS_MAX} ms`)
      this.#child.kill('SIGKILL')
    }, STOPPED_MS_MAX)
    const [code, signal] = await this.#end('SIGTERM')
    clearTimeout(tooLong)
    if (code !== 0) this.violations.push(`${this.#name} ended with ${code ?? signal}`)
  }

  /** Ends it for good, however. */
  async leave(): Promise<void> {
    this.#mayEnd = true
    this.#child.kill('SIGKILL')
    await this.#proxy?.close()
  }

  async #weather(ms: number, rule: TcpProxy['rule']): Promise<void> {
    if (!this.#proxy) return
    this.#proxy.rule = rule
    await pause(ms)
    this.#proxy.rule = () => 'pass'
  }

  async #end(signal: NodeJS.Signals): Promise<unknown[]> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return [child.exitCode, null]
    this.#mayEnd = true
    const ended = once(child, 'exit')
    child.kill(signal)
    return ended
  }

  #tell(what: Exclude<ProcessFact['what'], 'stalled'>): void {
    this.#options.tell({ what }, this.#name)
  }

  #spawn(): ChildProcess {
    const { index, program, replica, errors } = this.#options
    this.#name = `${index}.${this.#count++}`
    this.#mayEnd = false
    const told: ReplicaArguments = { ...replica, name: this.#name, url: this.#url }
    const child = spawn(process.execPath, [program, JSON.stringify(told)], {
      // It ends when its standard input does: with this process, whatever ends it.
      stdio: ['pipe', 'pipe', errors],
    })
    const name = this.#name
    this.#tell('spawned')
    child.once('exit', (code, signal) => {
      this.#options.tell({ what: 'gone' }, name)
      if (!this.#mayEnd) this.violations.push(`${name} ended by itself, with ${code ?? signal}`)
    })
    const { stdout } = child
    this.#listens = Promise.race([stdout && once(stdout, 'data'), once(child, 'exit')])
    return child
  }
}
