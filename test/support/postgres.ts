// A PostgreSQL server of the tests' own.

import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import {
  freePort,
  neededProgram,
  type RunningDatabase,
  runAs,
  serverFolder,
  startDatabase,
} from './server.ts'

const USER = 'postgres'
const VERSIONS = '/usr/lib/postgresql'

/**
 * Starts one, with the user and password `cronfence`, who may do everything. `more` are settings
 * that go before those of the tests.
 */
export async function startPostgres(more: readonly string[] = []): Promise<RunningDatabase> {
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
    ...more,
  ]
  return startDatabase({
    ...{ url, port, folder },
    command: program,
    args: ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    user: USER,
    stopSignal: 'SIGINT',
    ready: () => ping(url),
  })
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
