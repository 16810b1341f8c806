// What networks, servers and other sessions do to a SQL store in the middle of its work, and what
// it may and may not say then. Nothing is timed: each test waits for what it is about.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../src/clock.ts'
import { StoreCalls } from '../../../src/scheduler/store-calls.ts'
import type { ServerStore } from '../../../src/store/server-store.ts'
import { type Direction, startProxy, type TcpProxy } from '../../support/proxy.ts'
import { serverUrl } from '../../support/server-url.ts'
import { dropTables, emptyTables, mariadb, postgres, type TestDatabase } from './dialect.ts'

const PREFIX = 'fault_'
const EVERY = { kind: 'every', spec: '1', nextRunAt: 0 } as const
const LEASE_MS = 60_000

/** The statement that a dialect's write ends with: once it arrived, the write happens. */
const DECISIVE = { postgres: 'UPDATE', mariadb: '\x03COMMIT' } as const

describe.each([postgres, mariadb])('$name', (dialect) => {
  let url = ''
  let database: TestDatabase
  let direct: ServerStore
  let proxy: TcpProxy
  const decisive = DECISIVE[dialect.server]
  const open = (target: string, timeoutMs = 5000) =>
    dialect.store({ url: target, tablePrefix: PREFIX, timeoutMs, onWarning: () => {} })
  /** A store whose every byte passes the proxy, and that is connected already. */
  const throughProxy = async (timeoutMs?: number) => {
    const target = new URL(url)
    target.port = String(proxy.port)
    const store = open(target.href, timeoutMs)
    await store.start()
    return store
  }

  beforeAll(async () => {
    url = await serverUrl(dialect.server)
    database = dialect.open(url)
    await dropTables(database, PREFIX)
    direct = open(url)
    await direct.start()
    proxy = await startProxy(Number(new URL(url).port))
  }, 300_000)
  afterAll(async () => {
    await direct.stop()
    await proxy.close()
    await dropTables(database, PREFIX)
    await database.end()
  })
  beforeEach(async () => {
    proxy.rule = () => 'pass'
    await emptyTables(database, PREFIX)
    for (const id of ['a', 'b', 'c']) await direct.schedules().register({ id, ...EVERY }, 0)
  })

  /** Does `verdict` to the decisive statement of the next write, or to the reply to it. */
  const interfere = (where: Direction, verdict: 'cut' | 'hold') => {
    let wasSent = false
    proxy.rule = (direction, bytes) => {
      const isDecisive = direction === 'request' && bytes.includes(decisive)
      wasSent ||= isDecisive
      const isHit = where === 'request' ? isDecisive : wasSent && direction === 'reply'
      return isHit ? verdict : 'pass'
    }
  }

  describe('a connection that is cut', () => {
    it('before the decisive statement arrives leaves the outcome open', async () => {
      const store = await throughProxy()
      interfere('request', 'cut')
      const claim = () => store.schedules().claimDue('a', 'owner', 0, LEASE_MS)
      await expect(claim()).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
      proxy.rule = () => 'pass'
      expect((await claim())?.fencingToken).toBe(1)
      await store.stop()
    })

    it('before the reply arrives leaves the outcome open; all was done, once', async () => {
      const store = await throughProxy()
      interfere('reply', 'cut')
      const claim = () => store.schedules().claimDue('a', 'owner', 0, LEASE_MS)
      await expect(claim()).rejects.toMatchObject({
        code: 'STORE_OUTCOME_UNKNOWN',
        message: expect.stringMatching(/ at 127.*; the change may or may not have been made$/),
      })
      proxy.rule = () => 'pass'
      expect(await store.schedules().get('a')).toMatchObject({
        fencingToken: 1,
        leaseOwner: 'owner',
      })
      await store.stop()
    })

    it('while it reads is no riddle', async () => {
      const store = await throughProxy()
      proxy.rule = (direction) => (direction === 'reply' ? 'cut' : 'pass')
      await expect(store.schedules().get('a')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      proxy.rule = () => 'pass'
      expect(await store.schedules().get('a')).toMatchObject({ id: 'a' })
      await store.stop()
    })

    it('at any message of a life leaves a life that goes on, with tokens that rise', async () => {
      const store = await throughProxy()
      const schedules = store.schedules()
      let last = 0
      for (let cutAt = 1; cutAt <= 60; cutAt++) {
        let messages = 0
        proxy.rule = () => (++messages === cutAt ? 'cut' : 'pass')
        const now = cutAt * 10
        const owner = `owner ${cutAt}`
        const outcomes = await Promise.allSettled([
          schedules
            .claimDue('a', owner, now, 5)
            .then((claim) =>
              claim ? schedules.complete('a', claim.fencingToken, { nextRunAt: 0 }, now) : null,
            ),
        ])
        for (const outcome of outcomes) {
          if (outcome.status !== 'rejected') continue
          expect(outcome.reason.code).toMatch(/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/)
        }
        const row = await direct.schedules().get('a')
        expect(row?.fencingToken).toBeGreaterThanOrEqual(last)
        expect(row?.fencingToken).toBeLessThanOrEqual(last + 1)
        last = row?.fencingToken ?? 0
      }
      expect(last).toBeGreaterThan(20)
      await store.stop()
    })
  })

  describe('a connection that goes silent', () => {
    it('is given up in time, and what arrives late changes no newer claim', async () => {
      await direct.schedules().claimDue('a', 'first', 0, 10)
      const store = await throughProxy(1500)
      interfere('request', 'hold')
      const renewal = store.schedules().renew('a', 1, 99)
      await expect(renewal).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
      // The server ends what the silent client left open, and its locks with it.
      await vi.waitFor(
        async () => expect(await direct.schedules().claimDue('a', 'second', 20, 10)).not.toBeNull(),
        { timeout: 30_000, interval: 200 },
      )
      const row = await direct.schedules().get('a')
      proxy.rule = () => 'pass'
      proxy.release()
      // Another request over the same way: the late one is behind it by now, or will not come.
      expect(await store.schedules().get('a')).toEqual(row)
      await store.stop()
    })

    it('is given up while it is being opened, and nothing was done', async () => {
      proxy.rule = () => 'hold'
      const target = new URL(url)
      target.port = String(proxy.port)
      const store = open(target.href, 500)
      await expect(store.schedules().get('a')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/getting a connection took more than 500 ms.*reachable/),
      })
      proxy.cut()
      await store.stop()
    })
  })

  describe('a row that another session holds', () => {
    const holding = async (run: () => Promise<void>, ids = "'a'") => {
      const session = await database.session()
      await session.run(dialect.server === 'postgres' ? 'BEGIN' : 'START TRANSACTION')
      await session.run(`SELECT * FROM ${PREFIX}schedules WHERE id IN (${ids}) FOR UPDATE`)
      try {
        await run()
      } finally {
        await session.run('ROLLBACK')
        await session.end()
      }
    }

    it('is not waited for by a claim, which might be granted when it is worthless', async () => {
      await holding(async () => {
        expect(await direct.schedules().claimDue('a', 'owner', 0, LEASE_MS)).toBeNull()
        const claims = await direct.schedules().claimDueMany(['a', 'b'], 'owner', 0, LEASE_MS)
        expect(claims.map((claim) => claim?.fencingToken)).toEqual([undefined, 1])
      })
      expect((await direct.schedules().claimDue('a', 'owner', 0, LEASE_MS))?.fencingToken).toBe(1)
    })

    it('is waited for by a commit, which then says so, and did nothing', async () => {
      const schedules = direct.schedules()
      await schedules.claimDue('a', 'owner', 0, LEASE_MS)
      const impatient = open(url, 1500)
      await impatient.start()
      await holding(async () => {
        const commit = impatient.schedules().complete('a', 1, { nextRunAt: 5 }, 0)
        await expect(commit).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
          details: { isLocked: true },
        })
        expect(await impatient.schedules().get('a')).toMatchObject({ leaseOwner: 'owner' })
      })
      expect(await impatient.schedules().complete('a', 1, { nextRunAt: 5 }, 0)).toBe(true)
      await impatient.stop()
    })

    it('does not keep the others of a batch from being done', async () => {
      const ids = ['a', 'b', 'c']
      await direct.schedules().claimDueMany(ids, 'owner', 0, LEASE_MS)
      const completions = ids.map((id) => ({ id, fencingToken: 1, patch: { nextRunAt: 5 } }))
      const answers = new Map<string, unknown>()
      const onAnswer = (index: number, answer: unknown) => answers.set(ids[index] ?? '', answer)
      await holding(async () => {
        const calls = new StoreCalls(direct.schedules(), systemClock)
        await calls.complete(completions, 0, { onAnswer, answerMs: LEASE_MS })
      })
      expect(answers.get('a')).toMatchObject({ details: { isLocked: true } })
      expect([answers.get('b'), answers.get('c')]).toEqual([true, true])
      expect(await direct.schedules().get('a')).toMatchObject({ leaseOwner: 'owner' })
    })

    it('and gives back in time delays a commit, and no more', async () => {
      const schedules = direct.schedules()
      await schedules.claimDue('a', 'owner', 0, LEASE_MS)
      let commit: Promise<boolean> | undefined
      await holding(async () => {
        commit = schedules.complete('a', 1, { nextRunAt: 5 }, 0)
      })
      expect(await commit).toBe(true)
    })

    it('is read, listed and registered again all the same', async () => {
      await holding(async () => {
        expect(await direct.schedules().get('a')).toMatchObject({ id: 'a' })
        expect(await direct.schedules().list()).toHaveLength(3)
      })
    })
  })
})
