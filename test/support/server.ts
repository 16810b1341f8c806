// Servers of tests: a program found or installed, a port and a folder of its own, started as a user
// that may not harm the machine, waited for, and ended with the tests, whatever ends them.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { run } from './command.ts'

/** A server that is up. */
export interface RunningServer {
  readonly process: ChildProcess
  /** What it printed so far, for errors. */
  output(): string
  /** Ends it in an orderly way, or with a signal of your own, and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** How to start a server. */
export interface ServerOptions {
  readonly command: string
  readonly args: readonly string[]
  /** The user it runs as when the tests run as root; by default root. */
  readonly user?: string
  readonly env?: Readonly<Record<string, string>>
  /** Ends it without waiting for clients. */
  readonly stopSignal: NodeJS.Signals
  /** Resolves when it takes requests; while it rejects it is asked again. */
  readonly ready: () => Promise<unknown>
}

/** A server with data, on a port of its own. */
export interface RunningDatabase {
  readonly url: string
  readonly port: number
  /** Ends it, in an orderly way or with a signal of your own; `start` brings it back. */
  pause(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again, with the same data on the same port. */
  start(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

/** Starts a server whose data is in `folder`, which goes when it is stopped. */
export async function startDatabase(
  options: ServerOptions & { url: string; port: number; folder: ServerFolder },
): Promise<RunningDatabase> {
  const { url, port, folder } = options
  let server = await startServer(options)
  const pause = (signal?: NodeJS.Signals) => server.stop(signal)
  return {
    url,
    port,
    pause,
    async start() {
      server = await startServer(options)
    },
    async stop() {
      await pause()
      folder.remove()
    },
  }
}

const READY_MS_MAX = 60_000
const READY_POLL_MS = 50
const isRoot = process.getuid?.() === 0

/** Starts a server and resolves once it is ready; it never outlives this process. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { command, args, stopSignal, ready } = options
  const [file = '', ...rest] = asUser(options.user, stopSignal, [command, ...args])
  const child = spawn(file, rest, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-20_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.on('error', (error) => keep(Buffer.from(String(error))))
  const killAtExit = () => child.kill('SIGKILL')
  process.on('exit', killAtExit)
  child.on('exit', () => process.off('exit', killAtExit))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const server: RunningServer = {
    process: child,
    output: () => output,
    async stop(signal = stopSignal) {
      if (hasEnded() || child.pid === undefined) return
      const end = once(child, 'exit')
      child.kill(signal)
      await end
    },
  }
  const giveUpAt = performance.now() + READY_MS_MAX
  for (;;) {
    if (hasEnded() || child.pid === undefined) throw new Error(`${command} ended:\n${output}`)
    const problem = await ready().then(
      () => undefined,
      (error: unknown) => error ?? new Error('not ready'),
    )
    if (problem === undefined) return server
    if (performance.now() > giveUpAt) {
      await server.stop('SIGKILL')
      throw new Error(`${command} was not ready in time: ${problem}\n${output}`)
    }
    await delay(READY_POLL_MS)
  }
}

const execute = promisify(execFile)

/** Runs a program to its end, as `user` when this is root. The test runner goes on meanwhile. */
export async function runAs(user: string | undefined, command: string, args: readonly string[]) {
  const [file = '', ...rest] = asUser(user, 'SIGTERM', [command, ...args])
  await execute(file, rest)
}

// A process that changes its user also asks to be ended together with the one that started it.
function asUser(user: string | undefined, endSignal: string, command: readonly string[]) {
  if (!isRoot) return command
  const identity = user === undefined ? [] : ['--reuid', user, '--regid', user, '--init-groups']
  return ['setpriv', '--pdeathsig', endSignal.replace('SIG', ''), ...identity, ...command]
}

/** A free TCP port of the loopback interface. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** A temporary folder. */
export interface ServerFolder {
  readonly path: string
  remove(): void
}

/** A temporary folder that belongs to `user` when this is root, and the way to remove it. */
export function serverFolder(user?: string): ServerFolder {
  const path = mkdtempSync(join(tmpdir(), 'cronfence-server-'))
  if (isRoot && user !== undefined) {
    chownSync(path, Number(run('id', ['-u', user])), Number(run('id', ['-g', user])))
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Where a program may be, and the Debian packages that bring it. */
export interface NeededProgram {
  readonly name: string
  /** Candidates in order; called again after an installation. */
  readonly find: () => string | undefined
  readonly packages: readonly string[]
  /** The variable that names a running server instead. */
  readonly variable: string
}

/** The path of a program, installed now if it has to be; fails with what to do when it may not. */
export async function neededProgram(program: NeededProgram): Promise<string> {
  const { name, find, packages, variable } = program
  const found = find()
  if (found !== undefined) return found
  const remedy =
    `No ${name} found. Install one (Debian: apt-get install ${packages.join(' ')}), ` +
    `or name a server in ${variable}.`
  if (!isRoot || !existsSync('/usr/bin/apt-get')) throw new Error(remedy)
  installing = installing.then(() => install(packages))
  await installing
  const installed = find()
  if (installed === undefined) throw new Error(`apt-get installed ${packages}, yet: ${remedy}`)
  return installed
}

// One at a time: apt-get locks out a second one.
let installing = Promise.resolve()

// Debian starts a server's service as it installs it, unless this file forbids it.
const POLICY = '/usr/sbin/policy-rc.d'

async function install(packages: readonly string[]): Promise<void> {
  const options = ['-o', 'DPkg::Lock::Timeout=120']
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const before = existsSync(POLICY) ? readFileSync(POLICY) : undefined
  writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    await execute('apt-get', [...options, 'update'], { env })
    const flags = ['install', '-y', '--no-install-recommends']
    await execute('apt-get', [...options, ...flags, ...packages], { env, maxBuffer: 2 ** 26 })
  } finally {
    if (before === undefined) rmSync(POLICY)
    else writeFileSync(POLICY, before, { mode: 0o755 })
  }
}
