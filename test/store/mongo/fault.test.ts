// What networks do to a MongoStore in the middle of its work, and what it may and may not say then.
// Nothing is timed: each test waits for what it is about.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MongoStore } from '../../../src/store/mongo/index.ts'
import { type Direction, startProxy, type TcpProxy } from '../../support/proxy.ts'
import { dueTask, MongoStage } from './stage.ts'

const LEASE_MS = 60_000

const stage = new MongoStage('fault')
let proxy: TcpProxy
let direct: MongoStore

beforeAll(async () => {
  proxy = await startProxy(Number(new URL(stage.url).port))
  direct = stage.store()
  await direct.start()
}, 300_000)
afterAll(() => proxy.close())
beforeEach(async () => {
  proxy.rule = () => 'pass'
  await stage.empty()
  for (const id of ['a', 'b', 'c']) await direct.schedules().register(dueTask(id), 0)
})

/** A store whose every byte passes the proxy, and that is connected already. */
async function throughProxy(timeoutMs = 5000): Promise<MongoStore> {
  // By default the driver lets half a second pass before it looks at a lost server again.
  const url = `mongodb://127.0.0.1:${proxy.port}/?minHeartbeatFrequencyMS=10`
  const store = stage.store({ url, timeoutMs })
  await store.start()
  return store
}

/** Does `verdict` to the next command of a name, or to the reply to it. */
function interfere(command: string, where: Direction, verdict: 'cut' | 'hold'): void {
  let wasSent = false
  proxy.rule = (direction, bytes) => {
    // A command is a document whose first field is its name, with text.
    const isSent = direction === 'request' && bytes.includes(`\x02${command}\0`)
    wasSent ||= isSent
    const isHit = where === 'request' ? isSent : wasSent && direction === 'reply'
    return isHit ? verdict : 'pass'
  }
}

describe('a connection that is cut', () => {
  it('before the update arrives leaves the outcome open', async () => {
    const store = await throughProxy()
    interfere('update', 'request', 'cut')
    const claim = () => store.schedules().claimDue('a', 'owner', 0, LEASE_MS)
    await expect(claim()).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    proxy.rule = () => 'pass'
    expect((await claim())?.fencingToken).toBe(1)
  })

  const calls = {
    claimDue: {
      command: 'update',
      call: (store: MongoStore) => store.schedules().claimDue('a', 'owner', 0, LEASE_MS),
      left: { fencingToken: 1, leaseOwner: 'owner' },
    },
    register: {
      command: 'insert',
      call: (store: MongoStore) => store.schedules().register(dueTask('a'), 7),
      left: { fencingToken: 0, updatedAt: 7 },
    },
    renew: {
      command: 'update',
      call: (store: MongoStore) => store.schedules().renew('a', 1, LEASE_MS + 1),
      left: { fencingToken: 1, leaseUntil: LEASE_MS + 1 },
    },
    complete: {
      command: 'update',
      call: (store: MongoStore) => store.schedules().complete('a', 1, { nextRunAt: 5 }, 1),
      left: { fencingToken: 1, nextRunAt: 5 },
    },
    delete: {
      command: 'update',
      call: (store: MongoStore) => store.schedules().delete('a'),
      left: null,
    },
  }
  it.each(Object.entries(calls))(
    'before the reply to %s leaves it open; it was done, once',
    async (name, { command, call, left }) => {
      if (name === 'register') await stage.empty()
      if (['renew', 'complete'].includes(name)) {
        await direct.schedules().claimDue('a', 'owner', 0, LEASE_MS)
      }
      const store = await throughProxy()
      interfere(command, 'reply', 'cut')
      await expect(call(store)).rejects.toMatchObject({
        code: 'STORE_OUTCOME_UNKNOWN',
        message: expect.stringMatching(/ at 127.*; the change may or may not have been made$/),
      })
      proxy.rule = () => 'pass'
      const row = await store.schedules().get('a')
      expect(row).toEqual(left === null ? null : expect.objectContaining(left))
    },
  )

  it('in the middle of a batch leaves open what became of all of it', async () => {
    const store = await throughProxy()
    await store.schedules().claimDue('a', 'another', 0, 5)
    interfere('update', 'reply', 'cut')
    const claims = store.schedules().claimDueMany(['a', 'b', 'c'], 'owner', 0, LEASE_MS)
    await expect(claims).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    proxy.rule = () => 'pass'
    const rows = await store.schedules().getMany(['a', 'b', 'c'])
    expect(rows.map((row) => row?.leaseOwner)).toEqual(['another', 'owner', 'owner'])
    expect(rows.map((row) => row?.fencingToken)).toEqual([1, 1, 1])
  })

  it('while it reads is repaired by reading again', async () => {
    const store = await throughProxy()
    let cuts = 0
    proxy.rule = (direction) => (direction === 'reply' && cuts++ < 1 ? 'cut' : 'pass')
    expect(await store.schedules().get('a')).toMatchObject({ id: 'a' })
    expect(cuts).toBeGreaterThan(0)
  })

  it('at any message of a life leaves a life that goes on, with tokens that rise', async () => {
    const store = await throughProxy()
    const schedules = store.schedules()
    let last = 0
    for (let cutAt = 1; cutAt <= 40; cutAt++) {
      let messages = 0
      proxy.rule = () => (++messages === (cutAt % 12) + 1 ? 'cut' : 'pass')
      const now = cutAt * 10
      const claim = schedules
        .claimDue('a', `owner ${cutAt}`, now, 5)
        .then((won) => won && schedules.complete('a', won.fencingToken, { nextRunAt: 0 }, now))
      const outcome = await claim.catch((error: unknown) => error)
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({
          code: expect.stringMatching(/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/),
        })
      }
      const row = await direct.schedules().get('a')
      expect(row?.fencingToken).toBeGreaterThanOrEqual(last)
      expect(row?.fencingToken).toBeLessThanOrEqual(last + 1)
      last = row?.fencingToken ?? 0
    }
    expect(last).toBeGreaterThan(10)
  })
})

describe('a connection that goes silent', () => {
  it('is given up in time, and what arrives late changes no newer claim', async () => {
    await direct.schedules().claimDue('a', 'first', 0, 10)
    const store = await throughProxy(1000)
    interfere('update', 'request', 'hold')
    const renewal = store.schedules().renew('a', 1, 99)
    await expect(renewal).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    expect((await direct.schedules().claimDue('a', 'second', 20, 10))?.fencingToken).toBe(2)
    const row = await direct.schedules().get('a')
    proxy.rule = () => 'pass'
    proxy.release()
    // Another request behind it: the late one is done by now, or will not come.
    expect(await store.schedules().get('a')).toEqual(row)
  })

  it('is given up while it is being opened, and nothing was done', async () => {
    proxy.rule = () => 'hold'
    const url = `mongodb://127.0.0.1:${proxy.port}/`
    const store = stage.store({ url, timeoutMs: 500 })
    await expect(store.schedules().register(dueTask('d'), 0)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/^MongoStore at 127\.0\.0\.1:\d+\/\w+: .*/),
    })
    proxy.cut()
    expect(await direct.schedules().get('d')).toBeNull()
  })

  it('takes nothing along that waited for it: what was given up is never sent', async () => {
    const url = `mongodb://127.0.0.1:${proxy.port}/`
    const store = stage.store({ url, timeoutMs: 500, connectionsMax: 1 })
    await store.start()
    const updates: Buffer[] = []
    proxy.rule = (direction, bytes) => {
      if (direction === 'reply') return updates.length > 0 ? 'hold' : 'pass'
      if (bytes.includes('\x02update\0')) updates.push(bytes)
      return 'pass'
    }
    const claims = ['a', 'b'].map((id) => store.schedules().claimDue(id, 'owner', 0, LEASE_MS))
    for (const claim of claims) {
      await expect(claim).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
    }
    proxy.rule = (direction, bytes) => {
      if (direction === 'request' && bytes.includes('\x02update\0')) updates.push(bytes)
      return 'pass'
    }
    proxy.release()
    await store.schedules().get('a')
    expect(updates).toHaveLength(1)
  })
})
