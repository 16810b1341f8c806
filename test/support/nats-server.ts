// A NATS server with JetStream for the tests that need one. CRONFENCE_TEST_NATS_URL names one that
// runs already; else a server of our own is started in a folder of its own, and is gone with the
// tests. Its program is the one on PATH, when it is young enough, or is built with Go and kept
// between runs.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { connect } from '@nats-io/transport-node'
import { ROOT } from './packed-package.ts'
import { freePort, type RunningDatabase, serverFolder, startDatabase } from './server.ts'

/** What is built when PATH has none, and the oldest that is taken from there. */
const BUILT_VERSION = 'v2.12.8'
const OLDEST_MINOR = 10

const CACHE = join(ROOT, 'node_modules/.cache/cronfence', `nats-server-${BUILT_VERSION}`)

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
  return ownNatsServer()
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
    ...{ url, port, folder, stopSignal: 'SIGTERM', command: await natsProgram() },
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

/** The path of the program; it is built when there is none. */
export async function natsProgram(): Promise<string> {
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
