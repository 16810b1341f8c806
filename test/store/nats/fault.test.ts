// What a network does to a NatsStore in the middle of its work, and what it may and may not say
// then. Nothing is timed: each test waits for what it is about.

import { describe, expect, it } from 'vitest'
import type { ScheduleStore } from '../../../src/store/store.ts'
import type { Direction } from '../../support/proxy.ts'
import { proxiedStage } from './proxied-stage.ts'
import { EVERY } from './stage.ts'

const LEASE_MS = 60_000

const way = proxiedStage()
const { throughProxy } = way

const isWrite = (direction: Direction, bytes: Buffer) =>
  direction === 'request' && bytes.includes('HPUB $KV.')

/** Does `verdict` to the next write, or to the reply to it; `then` to all that comes after. */
function interfere(where: Direction, verdict: 'cut' | 'hold', then: 'pass' | 'cut' = 'pass') {
  let wasSent = false
  let isOver = false
  return new Promise<void>((done) => {
    way.proxy.rule = (direction, bytes) => {
      if (isOver) return then
      const isHit = where === 'request' ? isWrite(direction, bytes) : wasSent
      wasSent ||= isWrite(direction, bytes)
      if (!isHit || direction !== where) return 'pass'
      isOver = true
      done()
      return verdict
    }
  })
}

const unknown = { code: 'STORE_OUTCOME_UNKNOWN' }
const unavailable = { code: 'STORE_UNAVAILABLE' }

describe('a reply that is lost', () => {
  it('is looked up by its write: all was done, once', async () => {
    const schedules = (await throughProxy()).schedules()
    const patch = { nextRunAt: 7, lastRunAt: 0 }
    const steps: [what: string, call: () => Promise<unknown>, answer: unknown][] = [
      ['claimDue', () => schedules.claimDue('a', 'me', 0, 9), { fencingToken: 1 }],
      ['renew', () => schedules.renew('a', 1, 99), true],
      ['complete', () => schedules.complete('a', 1, patch, 5), true],
      ['register', () => schedules.register({ id: 'c', ...EVERY }, 0), { id: 'c' }],
      ['delete', () => schedules.delete('c'), undefined],
    ]
    for (const [what, call, answer] of steps) {
      const lost = interfere('reply', 'cut')
      const outcome = await call()
      await lost
      if (typeof answer === 'object') expect(outcome, what).toMatchObject(answer as object)
      else expect(outcome, what).toBe(answer)
    }
    expect(await way.direct.schedules().get('a')).toEqual({
      ...{ id: 'a', ...EVERY, ...patch },
      ...{ fencingToken: 1, updatedAt: 5 },
    })
    expect(await way.direct.schedules().get('c')).toBeNull()
  })

  it('to a lease is looked up as well', async () => {
    const leases = (await throughProxy()).leases()
    const lost = interfere('reply', 'cut')
    expect(await leases.acquire('leader', 'me', LEASE_MS)).toMatchObject({ fencingToken: 1 })
    await lost
    expect(await way.direct.leases().acquire('leader', 'other', LEASE_MS)).toBeNull()
  })

  it('leaves the outcome open when the way stays closed', async () => {
    const schedules = (await throughProxy(600)).schedules()
    void interfere('reply', 'cut', 'cut')
    await expect(schedules.claimDue('a', 'me', 0, LEASE_MS)).rejects.toMatchObject({
      ...unknown,
      message: expect.stringMatching(/ at 127.*; the change may or may not have been made$/),
    })
    expect(await way.direct.schedules().get('a')).toMatchObject({
      leaseOwner: 'me',
      fencingToken: 1,
    })
  })

  it('leaves the outcome open when the connection only goes silent', async () => {
    const schedules = (await throughProxy(600)).schedules()
    void interfere('reply', 'hold')
    await expect(schedules.claimDue('a', 'me', 0, LEASE_MS)).rejects.toMatchObject(unknown)
    expect(await way.direct.schedules().get('a')).toMatchObject({
      leaseOwner: 'me',
      fencingToken: 1,
    })
    way.proxy.release()
    expect(await schedules.get('a')).toMatchObject({ leaseOwner: 'me', fencingToken: 1 })
  })

  /** Loses the reply to the next write, and lets `meanwhile` happen before it is looked up. */
  async function lostAndThen(meanwhile: () => Promise<unknown>): Promise<void> {
    await interfere('reply', 'cut', 'cut')
    await meanwhile()
    way.proxy.rule = () => 'pass'
  }

  it('of a claim is found by its owner, when the plan was changed since', async () => {
    const schedules = (await throughProxy()).schedules()
    const changed = { id: 'a', kind: 'every', spec: '2', nextRunAt: 9 } as const
    const lost = lostAndThen(() => way.direct.schedules().register(changed, 1))
    const claim = await schedules.claimDue('a', 'me', 0, LEASE_MS)
    await lost
    expect(claim).toMatchObject({ fencingToken: 1, takenOver: false, record: changed })
    expect(await schedules.renew('a', 1, 99)).toBe(true)
  })

  it('of a claim that was taken over since is a claim that is lost', async () => {
    const schedules = (await throughProxy()).schedules()
    const lost = lostAndThen(() => way.direct.schedules().claimDue('a', 'other', 20, LEASE_MS))
    expect(await schedules.claimDue('a', 'me', 0, 10)).toBeNull()
    await lost
    expect(await way.direct.schedules().get('a')).toMatchObject({ fencingToken: 2 })
  })

  it('of a commit leaves its outcome open, when another claim followed', async () => {
    const schedules = (await throughProxy()).schedules()
    await schedules.claimDue('a', 'me', 0, 10)
    const lost = lostAndThen(() => way.direct.schedules().claimDue('a', 'other', 20, LEASE_MS))
    await expect(schedules.complete('a', 1, { nextRunAt: 0 }, 5)).rejects.toMatchObject(unknown)
    await lost
  })

  it('of one in a batch leaves the outcome of the batch open, if it is not found', async () => {
    const schedules = (await throughProxy(600)).schedules()
    await schedules.getMany(['a', 'b'])
    void interfere('reply', 'cut', 'cut')
    const claims = schedules.claimDueMany(['a', 'b'], 'me', 0, LEASE_MS)
    await expect(claims).rejects.toMatchObject(unknown)
  })
})

describe('a write that is lost', () => {
  it('is repeated, and happens once', async () => {
    const schedules = (await throughProxy()).schedules()
    const lost = interfere('request', 'cut')
    expect((await schedules.claimDue('a', 'me', 0, LEASE_MS))?.fencingToken).toBe(1)
    await lost
    expect((await way.direct.schedules().get('a'))?.fencingToken).toBe(1)
  })

  it('and arrives late changes no newer claim', async () => {
    await way.direct.schedules().claimDue('a', 'first', 0, 10)
    const schedules = (await throughProxy(600)).schedules()
    await schedules.get('a')
    void interfere('request', 'hold')
    await expect(schedules.renew('a', 1, 99)).rejects.toMatchObject(unknown)
    expect((await way.direct.schedules().claimDue('a', 'second', 20, 10))?.fencingToken).toBe(2)
    const row = await way.direct.schedules().get('a')
    way.proxy.release()
    // Another request over the same way: the late one is behind it by now.
    expect(await schedules.get('a')).toEqual(row)
  })
})

describe('a connection that is gone', () => {
  it('takes nothing on: what was asked meanwhile does not happen later', async () => {
    const schedules = (await throughProxy()).schedules()
    await schedules.get('a')
    way.proxy.rule = () => 'cut'
    way.proxy.cut()
    await expect(schedules.get('a')).rejects.toMatchObject(unavailable)
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(schedules.claimDue('a', 'me', 0, LEASE_MS)).rejects.toMatchObject({
        ...unavailable,
        message: expect.stringMatching(/not connected at the moment; nothing was sent/),
      })
    }
    way.proxy.rule = () => 'pass'
    expect(await whenBack(schedules)).toMatchObject({ fencingToken: 0 })
    expect((await schedules.claimDue('a', 'me', 0, LEASE_MS))?.fencingToken).toBe(1)
  })

  it('while it reads is no riddle', async () => {
    const schedules = (await throughProxy()).schedules()
    way.proxy.rule = (direction) => (direction === 'reply' ? 'cut' : 'pass')
    await expect(schedules.get('a')).rejects.toMatchObject(unavailable)
  })

  it('while it lists is no shorter list', async () => {
    const schedules = (await throughProxy()).schedules()
    let replies = 0
    way.proxy.rule = (direction) => (direction === 'reply' && ++replies > 1 ? 'cut' : 'pass')
    await expect(schedules.list()).rejects.toMatchObject(unavailable)
  })

  it('at any message of a life leaves a life that goes on, with tokens that rise', async () => {
    const schedules = (await throughProxy()).schedules()
    let last = 0
    for (let cutAt = 1; cutAt <= 30; cutAt++) {
      await whenBack(schedules)
      let messages = 0
      way.proxy.rule = () => (++messages === cutAt ? 'cut' : 'pass')
      const now = cutAt * 10
      try {
        const claim = await schedules.claimDue('a', `owner ${cutAt}`, now, 5)
        if (claim) await schedules.complete('a', claim.fencingToken, { nextRunAt: 0 }, now)
      } catch (error) {
        expect((error as { code?: string }).code).toMatch(/^STORE_(UNAVAILABLE|OUTCOME_UNKNOWN)$/)
      }
      const { fencingToken = 0 } = (await way.direct.schedules().get('a')) ?? {}
      expect(fencingToken).toBeGreaterThanOrEqual(last)
      expect(fencingToken).toBeLessThanOrEqual(last + 1)
      last = fencingToken
    }
    expect(last).toBeGreaterThan(10)
  })
})

/** The row of `a`, once the connection is there again. */
async function whenBack(schedules: ScheduleStore): Promise<unknown> {
  for (;;) {
    try {
      return await schedules.get('a')
    } catch (error) {
      expect(error).toMatchObject(unavailable)
      await new Promise(setImmediate)
    }
  }
}
