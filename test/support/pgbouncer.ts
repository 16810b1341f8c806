// A PgBouncer before a PostgreSQL server, in transaction mode: the one that keeps no session.

import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort, neededProgram, serverFolder, startServer } from './server.ts'

const PATHS = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer']

/** Starts one that keeps few connections to the server at `url`, so that clients share them. */
export async function startPgbouncer(url: string): Promise<{ url: string; stop(): Promise<void> }> {
  const command = await neededProgram({
    name: 'PgBouncer',
    find: () => PATHS.find((path) => existsSync(path)),
    packages: ['pgbouncer'],
    variable: 'PATH',
  })
  const { hostname, port, username, password, pathname } = new URL(url)
  const user = 'nobody'
  const folder = serverFolder()
  const ownPort = await freePort()
  const target = `host=${hostname} port=${port} user=${username} password=${password}`
  writeFileSync(join(folder.path, 'users'), `"${username}" "${password}"\n`)
  writeFileSync(
    join(folder.path, 'ini'),
    `[databases]
${pathname.slice(1)} = ${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder.path, 'users')}
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
`,
  )
  const server = await startServer({
    command,
    args: ['--user', user, join(folder.path, 'ini')],
    stopSignal: 'SIGINT',
    async ready() {
      const socket = connect(ownPort, '127.0.0.1')
      await once(socket, 'connect')
      socket.destroy()
    },
  })
  return {
    url: `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`,
    async stop() {
      await server.stop()
      folder.remove()
    },
  }
}
