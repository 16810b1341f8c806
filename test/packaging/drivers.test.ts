// Drivers are optional: without them every entry loads, and the store that needs one says so in one
// sentence, in the packed package as a user has it. That all entries load is in install.test.ts.

import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { NODE_MAJORS, nodeBinary } from '../support/node-versions.ts'
import { ENTRIES, installPacked } from '../support/packed-package.ts'

const installed = installPacked()
afterAll(() => installed.dispose())

/** By entry: what makes its store, and what a start without the driver rejects with. */
const STORES: Readonly<Record<string, { store: string; says: string }>> = {
  'cronfence/sqlite': {
    store: `new SQLiteStore({ file: 'x.db' })`,
    says:
      'SQLiteStore needs a driver and better-sqlite3 and node:sqlite could not be loaded: run ' +
      '`npm install better-sqlite3`, or use a Node that has node:sqlite (22.13 or newer).',
  },
  'cronfence/redis': {
    store: `new RedisStore({ url: 'redis://h' })`,
    says:
      'RedisStore needs the driver ioredis, which could not be loaded: ' +
      'run `npm install ioredis`, or hand in a client.',
  },
  'cronfence/postgres': {
    store: `new PostgresStore({ url: 'postgres://h/d' })`,
    says: 'PostgresStore needs the driver pg, which could not be loaded: run `npm install pg`.',
  },
  'cronfence/mysql': {
    store: `new MysqlStore({ url: 'mysql://h/d' })`,
    says:
      'MysqlStore needs the driver mysql2, which could not be loaded: ' +
      'run `npm install mysql2`.',
  },
  'cronfence/mongo': {
    store: `new MongoStore({ url: 'mongodb://h/d' })`,
    says:
      'MongoStore needs the driver mongodb, which could not be loaded: ' +
      'run `npm install mongodb`.',
  },
  'cronfence/nats': {
    store: `new NatsStore({ servers: 'h' })`,
    says:
      'NatsStore needs the driver @nats-io/transport-node, which could not be loaded: ' +
      'run `npm install @nats-io/kv @nats-io/transport-node`.',
  },
}

/** Entries that need no driver. */
const DRIVERLESS = ['cronfence', 'cronfence/engine', 'cronfence/describe', 'cronfence/lite']
const PRESENT = ENTRIES.filter((entry) => entry in STORES)

test('every entry is listed here, with a driver or without', () => {
  const listed = [...DRIVERLESS, 'cronfence/testing', ...PRESENT]
  expect([...ENTRIES].sort()).toEqual(listed.sort())
})

const FORMS = [
  { form: 'ESM', file: 'drivers.mjs', load: (entry: string) => `await import('${entry}')` },
  { form: 'CommonJS', file: 'drivers.cjs', load: (entry: string) => `require('${entry}')` },
]

// Newer releases of Node have a driver of SQLite themselves.
const [OLDEST = 20] = NODE_MAJORS

describe.each(PRESENT)('%s without its driver', (entry) => {
  test.each(FORMS)('loads, and its store asks for it in one sentence: $form', (form) => {
    const { store = '', says } = STORES[entry] ?? {}
    const [, name] = /new (\w+)/.exec(store) ?? []
    const program = installed.write(
      form.file,
      `void (async () => {
        const { ${name} } = ${form.load(entry)}
        const store = ${store}
        const tell = ({ name, code, message }) => console.log([name, code, message].join(': '))
        await store.start().catch(tell)
        await store.schedules().get('a').catch(tell)
        await store.stop()
      })()`,
    )
    const line = `CronfenceError: STORE_DRIVER_MISSING: ${says}\n`
    expect(run(nodeBinary(OLDEST), [program])).toBe(line + line)
  })
})
