// A MariaDB server of the tests' own. It stands in for MySQL too, which Debian does not have.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import {
  freePort,
  neededProgram,
  type RunningDatabase,
  runAs,
  serverFolder,
  startDatabase,
} from './server.ts'

const USER = 'mysql'
const SERVERS = ['/usr/sbin/mariadbd', '/usr/libexec/mariadbd', '/usr/local/bin/mariadbd']
const INSTALLERS = ['/usr/bin/mariadb-install-db', '/usr/local/bin/mariadb-install-db']

/** Starts one, with a database `cronfence` and the user and password `cronfence`. */
export async function startMariadb(): Promise<RunningDatabase> {
  const command = await neededProgram({
    name: 'MariaDB server',
    find: () => SERVERS.find((path) => existsSync(path)),
    packages: ['mariadb-server'],
    variable: 'CRONFENCE_TEST_MYSQL_URL',
  })
  const folder = serverFolder(USER)
  const data = join(folder.path, 'data')
  const socket = join(folder.path, 'socket')
  const installer = INSTALLERS.find((path) => existsSync(path)) ?? 'mariadb-install-db'
  await runAs(USER, installer, [
    ...[
      '--no-defaults',
      `--datadir=${data}`,
      '--skip-test-db',
      '--auth-root-authentication-method=normal',
    ],
  ])
  const port = await freePort()
  const url = `mysql://cronfence:cronfence@127.0.0.1:${port}/cronfence`
  return startDatabase({
    ...{ url, port, folder },
    command,
    args: [
      ...['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, `--port=${port}`],
      ...[
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
        '--max-connections=200',
        '--lock-wait-timeout=20',
      ],
      ...[`--pid-file=${join(folder.path, 'pid')}`, `--tmpdir=${folder.path}`],
    ],
    user: USER,
    stopSignal: 'SIGTERM',
    ready: () => ensureDatabase(socket),
  })
}

async function ensureDatabase(socketPath: string): Promise<void> {
  const root = await mysql.createConnection({ user: 'root', socketPath })
  try {
    await root.query('CREATE DATABASE IF NOT EXISTS cronfence')
    await root.query("CREATE USER IF NOT EXISTS cronfence@'127.0.0.1' IDENTIFIED BY 'cronfence'")
    await root.query("GRANT ALL ON *.* TO cronfence@'127.0.0.1' WITH GRANT OPTION")
  } finally {
    await root.end()
  }
}
