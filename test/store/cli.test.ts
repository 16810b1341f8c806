// `cronfence tasks` over every scheme that `--store` takes: the program as it is built, over a real
// server. What the table of `tasks list` looks like is in test/cli.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Kvm } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenStore, openStore, STORE_URLS } from '../../src/cli/stores.ts'
import { NatsStore } from '../../src/store/nats/index.ts'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'
import { cronfence, type Outcome } from '../cli/program.ts'
import { type NatsServer, natsServer } from '../support/nats-server.ts'
import { serverUrl } from '../support/server-url.ts'
import { scratch } from './subjects.ts'

const EVERY = { kind: 'every', spec: '60000', nextRunAt: 0 } as const

/** The servers of the tests are not set up to survive a power cut, and stores say so. */
const WARNINGS = /^(cronfence: \w+Store\b[^\n]+\n)*$/

/** A name that no other test has, for a prefix or a bucket. */
const name = `cli_${randomUUID().slice(0, 8)}_`
const folder = scratch()
let nats: NatsServer

beforeAll(async () => {
  nats = await natsServer()
}, 300_000)
afterAll(async () => {
  await nats.stop()
  folder.remove()
})

/** By scheme: the URL of a place that is there, and of one that cannot be reached. */
interface Scheme {
  readonly url: () => Promise<string>
  readonly unreachable: string
  /** What is said of the latter. */
  readonly says: RegExp
  /** Sets up what looking at tasks must not create. */
  readonly prepare?: (url: string) => Promise<void>
}

const onServer = (server: string, scheme: string): Scheme => ({
  url: async () => `${(await serverUrl(server)).replace(/^\w+:/, `${scheme}:`)}#${name}${scheme}`,
  unreachable: `${scheme}://me:secret-word@127.0.0.1:1/x`,
  says: /^cronfence: \w+Store at 127\.0\.0\.1:1\S*: [^\n]*ECONNREFUSED[^\n]*\n$/,
})

const SCHEMES: Readonly<Record<string, Scheme>> = {
  sqlite: {
    url: async () => `sqlite:${folder.file}`,
    unreachable: `sqlite:${folder.folder}/missing.db`,
    says: /^cronfence: --store sqlite:\S+missing\.db: no such file\n$/,
    prepare: async () => {
      const store = new SQLiteStore({ file: folder.file })
      await store.start()
      await store.stop()
    },
  },
  postgres: onServer('postgres', 'postgres'),
  postgresql: onServer('postgres', 'postgresql'),
  mysql: onServer('mariadb', 'mysql'),
  mariadb: onServer('mariadb', 'mariadb'),
  redis: onServer('redis', 'redis'),
  mongodb: {
    ...onServer('mongo', 'mongodb'),
    says: /^cronfence: MongoStore at [^\n]*127\.0\.0\.1:1[^\n]*\n$/,
  },
  nats: {
    url: async () => `${nats.url}#${name}`,
    unreachable: 'nats://me:secret-word@127.0.0.1:1#x',
    says: /^cronfence: NatsStore at [^\n]*127\.0\.0\.1:1[^\n]*\n$/,
    prepare: async () => {
      const store = new NatsStore({ servers: nats.url, bucket: name, onWarning: () => {} })
      await store.start()
      await store.stop()
    },
  },
}

it('every scheme that the help names is tried here', () => {
  const named = STORE_URLS.match(/\w+(?=:)/g) ?? []
  expect(Object.keys(SCHEMES)).toEqual(expect.arrayContaining(named))
})

describe.each(Object.entries(SCHEMES))('%s:', (_scheme, scheme) => {
  const { url, unreachable, says, prepare } = scheme
  let address = ''
  let store: OpenStore
  const tasks = (...args: string[]): Outcome => cronfence(['tasks', ...args, '--store', address])

  beforeAll(async () => {
    address = await url()
    await prepare?.(address)
    store = await openStore(address, () => {})
    await store.start()
  }, 300_000)
  afterAll(() => store.stop())

  it('tasks are listed, forgotten and purged, and tokens go on from where they were', async () => {
    const schedules = store.schedules()
    for (const id of ['nightly', 'weekly']) await schedules.register({ id, ...EVERY }, 0)
    await schedules.claimDue('nightly', 'me', 0, 10)
    const { status, stdout, stderr } = tasks('list', '--json')
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(WARNINGS) })
    const listed = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(listed.map(({ id, fencingToken }) => [id, fencingToken])).toEqual([
      ['nightly', 1],
      ['weekly', 0],
    ])
    expect(tasks('forget', 'nightly')).toMatchObject({ status: 0, stdout: 'forgot nightly\n' })
    expect(tasks('forget', 'nightly')).toMatchObject({ status: 1, stdout: '' })
    expect(await schedules.get('nightly')).toBeNull()
    expect(tasks('purge')).toMatchObject({ status: 0, stdout: 'purged 0 tombstones\n' })
    expect((await schedules.register({ id: 'nightly', ...EVERY }, 0)).fencingToken).toBe(1)
  })

  it('a place that cannot be reached is one clear line without the password', () => {
    const { status, stdout, stderr } = cronfence(['tasks', 'list', '--store', unreachable])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(says)
    expect(stderr).not.toContain('secret-word')
  })
})

it('a file or a bucket that does not exist is not made by looking at it', async () => {
  const bucket = `${name}absent`
  const { status, stdout, stderr } = cronfence([
    ...['tasks', 'list', '--store', `${nats.url}#${bucket}`],
  ])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^cronfence: .*create the bucket, or name another one\n$/)
  const connection = await connect({ servers: nats.url })
  const absent = await new Kvm(connection).open(bucket)
  await expect(absent.status()).rejects.toThrow(/not found/)
  await connection.close()
  expect(existsSync(`${folder.folder}/missing.db`)).toBe(false)
})
