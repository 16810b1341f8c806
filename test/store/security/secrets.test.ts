// Passwords in URLs: no error that a store throws, nothing it hangs on to, no log line and no line
// of the program has them.

import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Scheduler } from '../../../src/index.ts'
import { cronfence } from '../../cli/program.ts'
import { type AnyStore, freshPlace, KINDS } from './places.ts'

/** Nothing else has it in its text. */
const SECRET = 'Sesam0effneDich'
const KINDS_WITH_URL = KINDS.filter(({ name }) => name !== 'SQLiteStore')

describe.each(KINDS_WITH_URL)('$name', ({ name, url, open }) => {
  let server: Awaited<ReturnType<typeof url>>
  const stores: AnyStore[] = []
  beforeAll(async () => {
    server = await url()
  }, 300_000)
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.stop()))
    await server.stop()
  })

  /** As somebody whom the server does not know. */
  const wrong = () => withSecret(server.url)
  /** Where nothing listens. */
  const unreachable = () => withSecret(server.url, '127.0.0.1:1')

  const opened = (address: string) => {
    const store = open(address, freshPlace())
    stores.push(store)
    return store
  }

  test('that is refused or not reached says so without the password', async () => {
    for (const address of [wrong(), unreachable()]) {
      const error = await opened(address)
        .start()
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
      // The NATS server of the tests has no passwords, and lets anybody in.
      const isIn = name === 'NatsStore' && address !== unreachable()
      if (!isIn) expect(error).toBeInstanceOf(Error)
      expect(shown(error)).not.toContain(SECRET)
    }
  })

  test('does not show it when it is itself shown', () => {
    const store = opened(wrong())
    for (const each of [store, store.schedules(), store.leases()]) {
      expect(shown(each)).not.toContain(SECRET)
    }
  })

  test('keeps it out of the log of a scheduler and out of its events', async () => {
    const lines: string[] = []
    const log = (line: string) => void lines.push(line)
    const store = opened(unreachable())
    const scheduler = new Scheduler({
      store: store.schedules(),
      lease: store.leases(),
      logger: { warn: log, error: log, info: log, debug: log },
    })
    const told = new Promise<string>((resolve) => {
      scheduler.on('store-error', (event) => resolve(shown(event)))
    })
    scheduler.every('1m', { id: 'x' }, () => {})
    const started = scheduler.start().catch((error: unknown) => void lines.push(shown(error)))
    expect(await Promise.race([told, started.then(() => told)])).not.toContain(SECRET)
    await scheduler.stop()
    expect(lines.join('\n')).toMatch(/Store/)
    expect(lines.join('\n')).not.toContain(SECRET)
  })

  test('keeps it out of what the program prints', () => {
    for (const address of [wrong(), unreachable(), `${wrong()}#'; DROP TABLE x`]) {
      const { status, stdout, stderr } = cronfence(['tasks', 'list', '--store', address])
      expect([0, 2]).toContain(status)
      expect(stdout + stderr).not.toContain(SECRET)
    }
  })
})

test('an address of no known kind is not repeated with its password', () => {
  const { status, stderr } = cronfence(['tasks', 'list', '--store', `ftp://me:${SECRET}@host/x`])
  expect(status).toBe(2)
  expect(stderr).toMatch(/^cronfence: --store takes/)
  expect(stderr).not.toContain(SECRET)
})

function withSecret(address: string, host = new URL(address).host): string {
  const { protocol, pathname } = new URL(address)
  return `${protocol}//me:${SECRET}@${host}${pathname === '/' ? '' : pathname}`
}

/** All that a console, a debugger or a reporter of errors would print of it. */
function shown(value: unknown): string {
  const text = inspect(value, { depth: 12, showHidden: true, getters: true })
  const json =
    value instanceof Error ? JSON.stringify(value, Object.getOwnPropertyNames(value)) : ''
  return `${text}\n${value instanceof Error ? value.stack : ''}\n${json}`
}
