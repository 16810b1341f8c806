// A MongoDB server of the tests' own: mongod where PATH has one, else FerretDB over the PostgreSQL
// server of the run.

import { MongoClient } from 'mongodb'
import pg from 'pg'
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
  const isMongod = hasMongod() && !options.isAsItIs
  const under = isMongod ? undefined : await ownDatabase(await options.postgresUrl(), port)
  const program = under
    ? await ferretdb(options, { url: under.url, folder: folder.path, port })
    : mongod(folder.path, port)
  const server = await startDatabase({
    ...{ url, port, folder, stopSignal: 'SIGTERM', ready: () => ping(url) },
    ...program,
  })
  return {
    ...server,
    async stop() {
      await server.stop()
      await under?.drop()
    },
  }
}

/**
 * A database of PostgreSQL for one FerretDB alone: its databases are schemas there, which would
 * stand before the tables of other tests, and two FerretDBs at once do not agree on making one.
 */
async function ownDatabase(serverUrl: string, port: number) {
  const name = `cronfence_ferretdb_${port}`
  const url = new URL(serverUrl)
  url.pathname = name
  await query(serverUrl, `CREATE DATABASE ${name}`)
  return {
    url: url.href,
    async drop() {
      try {
        await query(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
      } catch {
        // PostgreSQL of the run may have ended first, and all its data with it.
      }
    },
  }
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.query(text)
  } finally {
    await client.end()
  }
}

function mongod(folder: string, port: number) {
  const address = ['--bind_ip', '127.0.0.1', '--port', String(port)]
  return { command: 'mongod', args: ['--dbpath', folder, ...address] }
}

async function ferretdb(
  { isAsItIs, isGuarded }: MongoOptions,
  { url, folder, port }: { url: string; folder: string; port: number },
) {
  const users = ['--test-enable-new-auth', ...['username', 'password'].map(setUpFlag)]
  return {
    command: await ferretdbProgram(),
    args: [
      ...(isGuarded ? [...users, '--setup-database=cronfence'] : []),
      ...['--handler=postgresql', `--postgresql-url=${url}`],
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
