// A PostgreSQL server of the tests' own.

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import {
  freePort,
  neededProgram,
  type RunningServer,
  runAs,
  serverFolder,
  startServer,
} from './server.ts'

const USER = 'postgres'
const VERSIONS = '/usr/lib/postgresql'

/** A server on a port of its own. */
export interface RunningPostgres {
  readonly url: string
  readonly port: number
  /** Ends it and starts it again, with the same data on the same port. */
  restart(signal?: NodeJS.Signals): Promise<void>
  /** Ends it; `start` brings it back. */
  pause(signal?: NodeJS.Signals): Promise<void>
  start(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

/** Starts one, with a database `cronfence` and the user and password `cronfence`. */
export async function startPostgres(): Promise<RunningPostgres> {
  const program = await neededProgram({
    name: 'PostgreSQL server',
    find: newest,
    packages: ['postgresql'],
    variable: 'CRONFENCE_TEST_POSTGRES_URL',
  })
  const folder = serverFolder(USER)
  const [data, passwords] = [join(folder.path, 'data'), join(folder.path, 'password')]
  writeFileSync(passwords, 'cronfence', { mode: 0o644 })
  await runAs(USER, join(program, '../initdb'), [
    ...['-D', data, '-U', 'cronfence', `--pwfile=${passwords}`, '-A', 'scram-sha-256'],
    ...['-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
  ])
  const port = await freePort()
  const url = `postgres://cronfence:cronfence@127.0.0.1:${port}/postgres`
  const settings = [
    ...['listen_addresses=127.0.0.1', `unix_socket_directories=${folder.path}`],
    ...['max_connections=200', 'max_prepared_transactions=4'],
    // The tests kill the server, not the machine.
    'fsync=off',
  ]
  let server: RunningServer
  const start = async () => {
    server = await startServer({
      command: program,
      args: ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
      user: USER,
      stopSignal: 'SIGINT',
      ready: () => ping(url),
    })
  }
  const pause = (signal?: NodeJS.Signals) => server.stop(signal)
  await start()
  return {
    url,
    port,
    start,
    pause,
    async restart(signal) {
      await pause(signal)
      await start()
    },
    async stop() {
      await pause()
      folder.remove()
    },
  }
}

async function ping(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // A server that is starting may end the connection at any moment.
  try {
    await client.connect()
    await client.query('SELECT 1')
  } finally {
    await client.end().catch(() => {})
  }
}

function newest(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : []
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(VERSIONS, version, 'bin/postgres'))
    .find((path) => existsSync(path))
}
