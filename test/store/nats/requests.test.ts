// Which requests a NatsStore sends, and how many: what it takes from what it has seen, what it asks
// the leader, and how a batch goes out.

import { Kvm } from '@nats-io/kv'
import { describe, expect, it } from 'vitest'
import type { Direction } from '../../support/proxy.ts'
import { proxiedStage } from './proxied-stage.ts'
import { EVERY } from './stage.ts'

const LEASE_MS = 60_000

const way = proxiedStage()
const { stage, throughProxy } = way

describe('what was seen of a key', () => {
  it('refuses nothing: the leader is asked first', async () => {
    const [mine, theirs] = [(await throughProxy()).schedules(), way.direct.schedules()]
    expect((await mine.claimDue('a', 'me', 0, LEASE_MS))?.fencingToken).toBe(1)
    // Here the lease is live; there it has ended, and the next slot is due.
    await theirs.complete('a', 1, { nextRunAt: 1 }, 1)
    expect((await mine.claimDue('a', 'me', 1, LEASE_MS))?.fencingToken).toBe(2)
    // Here the row is there; there it is gone and new.
    await theirs.delete('b')
    expect(await mine.renew('b', 0, 5)).toBe(false)
    await theirs.register({ id: 'b', ...EVERY }, 0)
    expect(await mine.claimDue('b', 'me', 1, LEASE_MS)).toMatchObject({ takenOver: false })
  })

  it('grants nothing: another write makes it worthless', async () => {
    const [mine, theirs] = [(await throughProxy()).schedules(), way.direct.schedules()]
    await mine.get('a')
    await theirs.claimDue('a', 'other', 0, LEASE_MS)
    expect(await mine.claimDue('a', 'me', 0, LEASE_MS)).toBeNull()
    await mine.get('b')
    await theirs.delete('b')
    expect(await mine.claimDue('b', 'me', 0, LEASE_MS)).toBeNull()
  })

  it('is never read from a replica, even where the bucket allows it', async () => {
    const bucket = stage.bucket
    await (await stage.kv()).destroy()
    await new Kvm(stage.admin).create(bucket, { allow_direct: true })
    let sent = ''
    way.proxy.rule = (direction, bytes) => {
      if (direction === 'request') sent += bytes.toString('latin1')
      return 'pass'
    }
    const schedules = (await throughProxy()).schedules()
    await schedules.register({ id: 'a', ...EVERY }, 0)
    await schedules.get('a')
    await schedules.claimDueMany(['a', 'nobody'], 'me', 0, LEASE_MS)
    await schedules.list()
    expect(sent).toContain('$JS.API.STREAM.MSG.GET.')
    expect(sent).not.toContain('DIRECT.GET')
  })
})

describe('a batch', () => {
  it('of a thousand goes out together, not a round trip each', async () => {
    const schedules = (await throughProxy()).schedules()
    const ids = Array.from({ length: 1000 }, (_, index) => `id ${index}`)
    const roundTrips = countRoundTrips()
    await schedules.registerMany(
      ids.map((id) => ({ id, ...EVERY })),
      0,
    )
    const claims = await schedules.claimDueMany(ids, 'me', 0, LEASE_MS)
    expect(claims.every((claim) => claim?.fencingToken === 1)).toBe(true)
    const patch = { nextRunAt: 0 }
    const commits = ids.map((id) => ({ id, fencingToken: 1, patch }))
    expect((await schedules.completeMany(commits, 0)).every(Boolean)).toBe(true)
    // Five thousand requests, three of which a registration takes.
    expect(roundTrips()).toBeLessThan(1000)
  })

  it('claims and commits what it has seen with one request each', async () => {
    const schedules = (await throughProxy()).schedules()
    await schedules.getMany(['a', 'b'])
    let requests = 0
    way.proxy.rule = (direction, bytes) => {
      if (direction === 'request') requests += bytes.toString('latin1').split('PUB $').length - 1
      return 'pass'
    }
    await schedules.claimDueMany(['a', 'b'], 'me', 0, LEASE_MS)
    const commits = ['a', 'b'].map((id) => ({ id, fencingToken: 1, patch: { nextRunAt: 0 } }))
    await schedules.completeMany(commits, 0)
    expect(requests).toBe(4)
  })
})

/** Counts how often a request follows a reply. */
function countRoundTrips(): () => number {
  let count = 0
  let last: Direction = 'reply'
  way.proxy.rule = (direction) => {
    if (direction === 'request' && last === 'reply') count++
    last = direction
    return 'pass'
  }
  return () => count
}
