// A MongoDB server of the tests' own: mongod where PATH has one, else FerretDB over the PostgreSQL
// server of the run.

import { MongoClient } from 'mongodb'
import { run } from './command.ts'
import { ferretdbProgram } from './ferretdb.ts'
import { freePort, type RunningDatabase, serverFolder, startDatabase } from './server.ts'

/** How to start one. */
export interface MongoOptions {
  /** The URL of a PostgreSQL server; asked for when it is needed. */
  readonly postgresUrl: () => Promise<string>
  /** FerretDB as it is: updates do not wait for each other. */
  readonly isAsItIs?: boolean
  /** FerretDB with users, of which there is one: `cronfence`, with the password `cronfence`. */
  readonly isGuarded?: boolean
}

/** Starts one; databases are told apart by the name in the URL, which is `cronfence` here. */
export async function startMongo(options: MongoOptions): Promise<RunningDatabase> {
  const folder = serverFolder()
  const port = await freePort()
  const url = `mongodb://127.0.0.1:${port}/cronfence`
  const program =
    hasMongod() && !options.isAsItIs
      ? mongod(folder.path, port)
      : await ferretdb(options, folder.path, port)
  return startDatabase({
    ...{ url, port, folder, stopSignal: 'SIGTERM', ready: () => ping(url) },
    ...program,
  })
}

function mongod(folder: string, port: number) {
  const address = ['--bind_ip', '127.0.0.1', '--port', String(port)]
  return { command: 'mongod', args: ['--dbpath', folder, ...address] }
}

async function ferretdb(options: MongoOptions, folder: string, port: number) {
  const { postgresUrl, isAsItIs, isGuarded } = options
  const users = ['--test-enable-new-auth', ...['username', 'password'].map(setUpFlag)]
  return {
    command: await ferretdbProgram(),
    args: [
      ...(isGuarded ? [...users, '--setup-database=cronfence'] : []),
      ...['--handler=postgresql', `--postgresql-url=${await postgresUrl()}`],
      ...[`--listen-addr=127.0.0.1:${port}`, '--debug-addr=-', `--state-dir=${folder}`],
      ...['--telemetry=disable', '--log-level=error'],
    ],
    env: isAsItIs ? {} : { FERRETDB_ONE_AT_A_TIME: 'yes' },
  }
}

const setUpFlag = (name: string): string => `--setup-${name}=cronfence`

function hasMongod(): boolean {
  try {
    run('mongod', ['--version'])
    return true
  } catch {
    return false
  }
}

async function ping(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 1000 })
  try {
    await client.db().command({ hello: 1 })
  } finally {
    await client.close()
  }
}
