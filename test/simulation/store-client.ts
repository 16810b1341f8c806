// The store as a replica sees it: the methods of the contract, each a request over the network. All
// that is sent, carried out and answered is told to the judge.

import type { ClaimResult, NewSchedule, ScheduleRecord, ScheduleStore } from '../../src/index.ts'
import type { Sent } from './ledger.ts'
import type { Operation } from './literal-store.ts'
import type { Replica } from './replica.ts'
import type { World } from './world.ts'

const PARTIAL = new Error('answered in part')

/** A client without methods for many, or with all of them. */
export function storeClient(world: World, replica: Replica): ScheduleStore {
  const one = <Result>(operation: Operation): Promise<Result> =>
    request<Result>(world, replica, [operation], false).then(([result]) => result!)
  const many = <Result>(operations: Operation[]) =>
    request<Result>(world, replica, operations, true)
  const single: ScheduleStore = {
    start: () => empty(world, replica),
    get: (id) => one({ do: 'get', id }),
    register: (schedule, now) => one(registration(schedule, now)),
    claimDue: (id, owner, now, leaseMs) => one({ do: 'claim', id, owner, now, leaseMs }),
    renew: (id, token, leaseUntil) => one({ do: 'renew', id, token, leaseUntil }),
    complete: (id, token, patch, now) => one({ do: 'complete', id, token, patch, now }),
    delete: (id, token) => one({ do: 'delete', id, token }),
    list: () => list(world, replica),
  }
  if (!world.scenario.hasBatches) return single
  return {
    ...single,
    getMany: (ids) => many<ScheduleRecord | null>(ids.map((id) => ({ do: 'get', id }))),
    registerMany: (schedules, now) =>
      many<ScheduleRecord>(schedules.map((schedule) => registration(schedule, now))),
    claimDueMany: (ids, owner, now, leaseMs) =>
      many<ClaimResult | null>(ids.map((id) => ({ do: 'claim', id, owner, now, leaseMs }))),
    renewMany: (renewals) =>
      many<boolean>(
        renewals.map(({ id, fencingToken: token, leaseUntil }) => {
          return { do: 'renew', id, token, leaseUntil }
        }),
      ),
    completeMany: (completions, now) =>
      many<boolean>(
        completions.map(({ id, fencingToken: token, patch }) => {
          return { do: 'complete', id, token, patch, now }
        }),
      ),
  }
}

function registration(schedule: NewSchedule, now: number): Operation {
  return { do: 'register', id: schedule.id, schedule, now }
}

function request<Result>(
  world: World,
  replica: Replica,
  operations: readonly Operation[],
  isBatch: boolean,
): Promise<Result[]> {
  const { process, definitions } = replica
  if (!replica.survivesRequest('before')) return new Promise(() => {})
  const { time: at, wall, monotonic } = process
  const all = operations.map((operation): Sent => {
    const definition = definitions.get(operation.id)
    return { replica, operation, at, wall, monotonic, definition }
  })
  for (const sent of all) world.judge.sent(sent)
  const promise = world.network.send({
    process,
    isBatch,
    arrive: () => {
      for (const { operation } of all) world.checkDamage(process, operation.id)
      return all.map((sent) => carryOut(world, sent) as Result)
    },
    delivered: (reply) => {
      // An answer to some of the items only says nothing for certain.
      const isWhole = !(reply instanceof Error) && reply.length === all.length
      const error = reply instanceof Error ? reply : PARTIAL
      for (const [index, sent] of all.entries()) {
        world.judge.delivered(sent, isWhole ? reply[index] : error)
      }
    },
  })
  replica.survivesRequest('after')
  return promise
}

function carryOut(world: World, sent: Sent): unknown {
  const { store, judge } = world
  const { id } = sent.operation
  const before = store.rows.get(id)
  const result = store.apply(sent.operation)
  judge.applied(sent, result, { before, after: store.rows.get(id) })
  return result
}

function empty(world: World, replica: Replica): Promise<void> {
  return hint(world, replica, () => undefined)
}

/** A request that moves no row. */
function hint<Reply>(world: World, replica: Replica, arrive: () => Reply): Promise<Reply> {
  const { process } = replica
  if (process.isDead) return new Promise(() => {})
  return world.network.send({ process, isBatch: false, arrive })
}

/** Sometimes the list is an old one, or lacks rows: it is a hint. */
function list(world: World, replica: Replica): Promise<ScheduleRecord[]> {
  return hint(world, replica, () => {
    const rows = [...world.store.rows.values()]
    if (world.scenario.isFaultFree || !world.random.chance(0.3)) return rows
    world.tally.count('network: stale list')
    return rows.filter(() => world.random.chance(0.5))
  })
}
