// A store on a Redis Cluster: all its keys in one slot, whatever the ids are, and at work while the
// slot moves from node to node.

import { Cluster, Redis } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RedisStore } from '../../../src/store/redis/index.ts'
import { CONFORMANCE_IDS } from '../../../src/testing/conformance-values.ts'
import { type RunningCluster, startRedisCluster } from '../../support/redis-cluster.ts'
import { dueTask } from './redis-stage.ts'

const PREFIX = 'moving'

let cluster: RunningCluster
let nodes: Redis[] = []
let url = ''
const stores: RedisStore[] = []
const store = (options: object = {}) => {
  const opened = new RedisStore({ url, prefix: PREFIX, onWarning: () => {}, ...options })
  stores.push(opened)
  return opened
}

beforeAll(async () => {
  cluster = await startRedisCluster()
  url = cluster.url
  nodes = cluster.nodes.map((node) => new Redis(node))
}, 300_000)
beforeEach(async () => {
  for (const node of nodes) await node.flushall()
})
afterAll(async () => {
  for (const each of stores) await each.stop()
  for (const node of nodes) node.disconnect()
  await cluster.stop()
})

/** Every key that there is, by node. */
const keysByNode = () => Promise.all(nodes.map((node) => node.keys('*')))

describe('the URL of any node', () => {
  it.each([0, 1, 2])('such as number %d leads to the whole cluster', async (index) => {
    const opened = store({ url: cluster.nodes[index] })
    await opened.schedules().register(dueTask('a'), 0)
    expect((await opened.schedules().claimDue('a', 'o', 0, 1))?.fencingToken).toBe(1)
  })
})

it('keys of all ids and leases are in the slot of the prefix, for one script each', async () => {
  const ids = Object.values(CONFORMANCE_IDS).flat()
  const distinct = [...new Set(ids)]
  const opened = store()
  await opened.schedules().registerMany(distinct.map(dueTask), 0)
  await opened.schedules().claimDueMany(distinct, 'o', 0, 1)
  await opened.schedules().delete('a')
  await opened.leases().acquire('{other}', 'o', 1)
  const keys = (await keysByNode()).flat()
  expect(keys.length).toBeGreaterThan(distinct.length)
  const node = nodes[0] as Redis
  const slots = await Promise.all(keys.map((key) => node.cluster('KEYSLOT', key)))
  expect([...new Set(slots)]).toEqual([await node.cluster('KEYSLOT', PREFIX)])
})

it('stores of different prefixes spread over the nodes', async () => {
  for (let index = 0; index < 12; index++) {
    await store({ prefix: `spread ${index}`.replace(' ', '-') })
      .schedules()
      .register(dueTask('a'), 0)
  }
  for (const keys of await keysByNode()) expect(keys.length).toBeGreaterThan(0)
})

/** Moves the prefix's slot to the next node; half way, until some request met keys on both. */
async function moveSlot(): Promise<void> {
  const slot = Number(await nodes[0]?.cluster('KEYSLOT', PREFIX))
  const names = await Promise.all(nodes.map((node) => node.cluster('MYID')))
  const owner = await ownerOf(slot)
  const [from, to] = [owner, (owner + 1) % nodes.length]
  const [source, target] = [nodes[from] as Redis, nodes[to] as Redis]
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(names[from]))
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(names[to]))
  const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 1000)) as string[]
  const { port } = new URL(cluster.nodes[to] as string)
  const move = (some: string[]) =>
    source.call('MIGRATE', '127.0.0.1', port, '', 0, 5000, 'KEYS', ...some)
  await move(keys.slice(0, keys.length / 2))
  const met = await metHalfWay(source)
  while ((await metHalfWay(source)) === met) {}
  await move((await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 1000)) as string[])
  for (const node of [target, source]) {
    await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(names[to]))
  }
}

/** How many requests a node has asked to try again, since it had only some of their keys. */
async function metHalfWay(node: Redis): Promise<number> {
  const stats = await node.info('errorstats')
  return Number(/errorstat_TRYAGAIN:count=(\d+)/.exec(stats)?.[1] ?? 0)
}

/** The node that serves the slot by its own word. */
async function ownerOf(slot: number): Promise<number> {
  for (const [index, node] of nodes.entries()) {
    const ranges = (await node.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
    const port = Number(new URL(cluster.nodes[index] as string).port)
    const own = ranges.filter(([, , [, at]]) => at === port)
    if (own.some(([first, last]) => first <= slot && slot <= last)) return index
  }
  throw new Error(`nobody has slot ${slot}`)
}

const clients = {
  'our own client': async () => ({ options: {}, close: () => {} }),
  'a cluster client of ioredis': async () => {
    const client = new Cluster([url])
    return { options: { url: undefined, client }, close: () => client.disconnect() }
  },
  'a cluster client of node-redis': async () => {
    const client = createCluster({ rootNodes: [{ url }] })
    client.on('error', () => {})
    await client.connect()
    return { options: { url: undefined, client }, close: () => client.destroy() }
  },
}

describe.each(Object.entries(clients))('a slot that moves under %s', (_name, connect) => {
  it('holds claims up while it moves, and no token is lost or given out twice', async () => {
    const { options, close } = await connect()
    const opened = store({ ...options, timeoutMs: 20_000 })
    const schedules = opened.schedules()
    const ids = Array.from({ length: 20 }, (_, index) => `task ${index}`)
    await schedules.registerMany(ids.map(dueTask), 0)
    const granted: string[] = []
    let rounds = 0
    let isOver = false
    let wake = () => {}
    const work = (async () => {
      for (let now = 10; !isOver; now += 10) {
        const claims = await schedules.claimDueMany(ids, `owner ${now}`, now, 1)
        for (const claim of claims)
          if (claim) granted.push(`${claim.record.id}@${claim.fencingToken}`)
        rounds++
        wake()
      }
    })()
    const moreRounds = async (count: number) => {
      for (const goal = rounds + count; rounds < goal; ) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    for (let move = 0; move < 3; move++) {
      await moreRounds(5)
      await moveSlot()
      await moreRounds(5)
    }
    isOver = true
    await work
    expect(new Set(granted).size).toBe(granted.length)
    expect(granted).toHaveLength(rounds * ids.length)
    const rows = await schedules.getMany(ids)
    expect(new Set(rows.map((row) => row?.fencingToken))).toEqual(new Set([rounds]))
    close()
  })
})
