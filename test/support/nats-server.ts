// A NATS server with JetStream for the tests that need one. CRONFENCE_TEST_NATS_URL names one that
// runs already; else a server of our own is started in a folder of its own, and is gone with the
// tests. Its program is the one on PATH, when it is young enough, or is built with Go and kept
// between runs.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '@nats-io/transport-node'
import { ROOT } from './packed-package.ts'
import { type RunningDatabase, serverFolder, startDatabase } from './server.ts'

/** What is built when PATH has none, and the oldest that is taken from there. */
const BUILT_VERSION = 'v2.12.8'
const OLDEST_MINOR = 10

const CACHE = join(ROOT, 'node_modules/.cache/cronfence', `nats-server-${BUILT_VERSION}`)
const STARTED_MS_MAX = 20_000

const execute = promisify(execFile)

/** A server, and what a test can do to it. */
export interface NatsServer {
  readonly url: string
  /** Ends it and deletes what it stored; one of CRONFENCE_TEST_NATS_URL is left alone. */
  stop(): Promise<void>
}

/** Answers with a server that is ready. Fails, and says what to do, when there can be none. */
export async function natsServer(): Promise<NatsServer> {
  const url = process.env.CRONFENCE_TEST_NATS_URL
  if (url) return { url, stop: async () => {} }
  return startServer(await program())
}

/**
 * A server for one test alone, which can be ended and brought back. `args` are more arguments of
 * the program, `url` is how to reach it then: by default without a user.
 */
export async function ownNatsServer(
  args: readonly string[] = [],
  credentials = '',
): Promise<RunningDatabase> {
  const folder = serverFolder()
  const port = await freePort()
  const url = `nats://${credentials}127.0.0.1:${port}`
  const address = ['--addr', '127.0.0.1', '--port', String(port)]
  const [user, pass] = credentials.replace('@', '').split(':')
  return startDatabase({
    ...{ url, port, folder, stopSignal: 'SIGTERM', command: await program() },
    args: [...address, '--jetstream', '--store_dir', folder.path, ...args],
    async ready() {
      const connection = await connect({
        ...{ servers: `127.0.0.1:${port}`, reconnect: false },
        ...(user && pass ? { user, pass } : {}),
      })
      await connection.request('$JS.API.INFO').finally(() => connection.close())
    },
  })
}

async function startServer(file: string): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-nats-'))
  const port = await freePort()
  const address = ['--addr', '127.0.0.1', '--port', String(port)]
  const child = spawn(file, [...address, '--jetstream', '--store_dir', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  await ready(child)
  return {
    url: `nats://127.0.0.1:${port}`,
    async stop() {
      process.off('exit', kill)
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.kill('SIGKILL')) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Reads the server's log, which must be read for as long as it writes one. */
async function ready(child: ChildProcess): Promise<void> {
  let log = ''
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`nats-server ${why}. Its log:\n${log}`))
    const deadline = setTimeout(() => fail('was not ready in time'), STARTED_MS_MAX)
    child.once('error', ({ message }) => fail(`did not start: ${message}`))
    child.once('exit', (code) => fail(`ended with code ${code}`))
    child.stderr?.on('data', (text) => {
      log = (log + text).slice(-4000)
      if (!log.includes('Server is ready')) return
      clearTimeout(deadline)
      resolve()
    })
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no port is free')
  return address.port
}

async function program(): Promise<string> {
  if (await isYoungEnough('nats-server')) return 'nats-server'
  const built = join(CACHE, 'nats-server')
  if (!existsSync(built)) await build()
  return built
}

async function isYoungEnough(file: string): Promise<boolean> {
  try {
    const { stdout } = await execute(file, ['--version'])
    const [, major, minor] = /v(\d+)\.(\d+)/.exec(stdout) ?? []
    return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= OLDEST_MINOR)
  } catch {
    return false
  }
}

async function build(): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const source = `github.com/nats-io/nats-server/v2@${BUILT_VERSION}`
  try {
    // Under another name first, so that a build that was cut short is not taken for a program.
    const folder = mkdtempSync(join(CACHE, 'build-'))
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath', CGO_ENABLED: '0' }
    await execute('go', ['install', source], { env })
    await execute('mv', [join(folder, 'nats-server'), join(CACHE, 'nats-server')])
    rmSync(folder, { recursive: true, force: true })
  } catch (cause) {
    throw new Error(
      `The NATS tests need nats-server 2.${OLDEST_MINOR} or later. Put one on PATH, or install ` +
        `Go 1.25 or later (https://go.dev/dl), with which ${source} is built once, or set ` +
        'CRONFENCE_TEST_NATS_URL to the address of a server with JetStream',
      { cause },
    )
  }
}
