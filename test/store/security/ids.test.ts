// Ids as attempts at an injection: every store takes them for what they are, in one place and not
// in another.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE } from './hostile.ts'
import { type AnyStore, freshPlace, KINDS } from './places.ts'

const NOW = 1_772_445_600_000
const LEASE_MS = 60_000
/** Requests at once. */
const AT_ONCE = 16

test('the corpus has 300 texts and more, all of them legal ids', () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(300)
  for (const text of HOSTILE) {
    expect(Buffer.from(text).toString()).toBe(text)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024)
    expect(text).not.toContain('\0')
  }
})

describe.each(KINDS)('$name', ({ url, open, option }) => {
  let server: Awaited<ReturnType<typeof url>>
  let [store, neighbour] = [] as unknown as [AnyStore, AnyStore]
  const place = freshPlace()

  beforeAll(async () => {
    server = await url()
    // A neighbour whose name begins with ours.
    store = open(server.url, place)
    neighbour = open(server.url, `${place}2`)
    await store.start()
    await neighbour.start()
    await neighbour.schedules().register({ ...everyMinute, id: "'" }, NOW)
  }, 300_000)
  afterAll(async () => {
    await store.stop()
    await neighbour.stop()
    await server.stop()
  })

  test('gives each hostile id, spec and owner back as it came', async () => {
    const schedules = store.schedules()
    await forEach(HOSTILE, async (id) => {
      await schedules.register({ ...everyMinute, id, spec: id }, NOW)
    })
    await forEach(HOSTILE, async (id) => {
      const claim = await schedules.claimDue(id, id, NOW, LEASE_MS)
      expect(claim, JSON.stringify(id)).toMatchObject({ fencingToken: 1, takenOver: false })
    })
    const listed = await schedules.list()
    expect(listed.map(({ id }) => id).sort()).toEqual([...HOSTILE].sort())
    for (const { id, spec, leaseOwner } of listed) {
      expect([spec, leaseOwner], JSON.stringify(id)).toEqual([id, id])
    }
    const rows = await schedules.getMany?.(HOSTILE)
    if (rows) expect(rows.map((row) => row?.id)).toEqual(HOSTILE)
  })

  test('changes one row at a time, whatever its id says', async () => {
    const schedules = store.schedules()
    const nextRunAt = NOW + 1
    await forEach(HOSTILE, async (id) => {
      expect(await schedules.complete(id, 1, { nextRunAt }, NOW), JSON.stringify(id)).toBe(true)
    })
    const [first, ...others] = HOSTILE as [string, ...string[]]
    await schedules.delete(first)
    const left = await schedules.list()
    expect(left.map(({ id }) => id).sort()).toEqual([...others].sort())
    for (const row of left) expect(row, row.id).toMatchObject({ nextRunAt, fencingToken: 1 })
  })

  test('keeps leases of hostile names apart', async () => {
    const leases = store.leases()
    await forEach(HOSTILE, async (name) => {
      const lease = await leases.acquire(name, name, LEASE_MS)
      expect(lease, JSON.stringify(name)).not.toBeNull()
    })
    await forEach(HOSTILE, async (name) => {
      expect(await leases.acquire(name, 'another', LEASE_MS), JSON.stringify(name)).toBeNull()
      const lease = await neighbour.leases().acquire(name, 'another', LEASE_MS)
      expect(lease, JSON.stringify(name)).not.toBeNull()
    })
  })

  test('has shown none of it to its neighbour, nor taken from it', async () => {
    const rows = await neighbour.schedules().list()
    expect(rows.map(({ id, fencingToken }) => [id, fencingToken])).toEqual([["'", 0]])
    await forEach(HOSTILE.slice(1), (id) => store.schedules().delete(id))
    expect(await store.schedules().list()).toEqual([])
    expect(await neighbour.schedules().list()).toEqual(rows)
  })

  if (option === undefined) return
  test('refuses each hostile name of a place, at once and in words', () => {
    const allowed = option === 'prefix' ? /^[\w.:/-]{1,100}$/ : /^[A-Za-z_]\w{0,39}$/
    const legal = option === 'bucket' ? /^[-\w]+$/ : allowed
    const refused = [...HOSTILE, 'x\n', '\nx'].filter((text) => !legal.test(text))
    expect(refused.length).toBeGreaterThan(250)
    for (const text of refused) {
      expect(() => open(server.url, text), JSON.stringify(text)).toThrow(TypeError)
      expect(() => open(server.url, text)).toThrow(new RegExp(`^${option}: must be `))
    }
  })
})

const everyMinute = { kind: 'every', spec: '60000', nextRunAt: NOW } as const

async function forEach(texts: readonly string[], call: (text: string) => Promise<unknown>) {
  const left = [...texts]
  const worker = async () => {
    for (let text = left.pop(); text !== undefined; text = left.pop()) await call(text)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
