// Law: after any sequence of calls a store answered as the model did. CRONFENCE_MODEL_RUNS raises
// the number of sequences; a failure prints its seed and the shortest sequence that fails.

import fc from 'fast-check'
import { expect } from 'vitest'
import type {
  Completion,
  NewSchedule,
  Renewal,
  ScheduleStore,
  TaskKind,
} from '../../src/store/store.ts'
import { ModelStore } from './model.ts'

const RUNS = Number(process.env.CRONFENCE_MODEL_RUNS ?? 0)

/** One call, or one batch of calls; `prefix` keeps the sequences of one file apart. */
interface Step {
  readonly name: string
  on(store: ScheduleStore, prefix: string): Promise<unknown>
}

// Small ranges, so that ids, instants and tokens meet.
const id = fc.constantFrom('a', 'A', 'b ')
const instant = fc.integer({ min: -3, max: 20 })
const slot = fc.option(instant)
const token = fc.integer({ min: 0, max: 6 })
const plan = fc.record({
  kind: fc.constantFrom<TaskKind>('cron', 'every', 'delay'),
  spec: fc.constantFrom('1', '2'),
})
const patch = fc
  .record({ nextRunAt: slot, lastRunAt: instant, plan }, { requiredKeys: ['nextRunAt'] })
  .map((value) => value)
const schedule = fc
  .tuple(id, plan, slot)
  .map(([taskId, { kind, spec }, nextRunAt]) => ({ id: taskId, kind, spec, nextRunAt }))
const completion = fc.record({ id, fencingToken: token, patch })
const renewal = fc.record({ id, fencingToken: token, leaseUntil: instant })
const owner = fc.constantFrom('first', 'second')
const leaseMs = fc.integer({ min: 1, max: 8 })

const within = <T extends { readonly id: string }>(prefix: string, value: T): T => ({
  ...value,
  id: prefix + value.id,
})
const few = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 5 })

/** A batch method of the store, or for the model the single calls one after the other. */
async function batch<Item, Result>(
  items: readonly Item[],
  many: ((items: Item[]) => Promise<Result[]>) | undefined,
  one: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  if (many) return many([...items])
  const results: Result[] = []
  for (const item of items) results.push(await one(item))
  return results
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(schedule, instant).map(registerStep) },
  { weight: 6, arbitrary: fc.tuple(id, owner, instant, leaseMs).map(claimStep) },
  { weight: 4, arbitrary: renewal.map(renewStep) },
  { weight: 5, arbitrary: fc.tuple(completion, instant).map(completeStep) },
  { weight: 2, arbitrary: fc.tuple(id, fc.option(token, { nil: undefined })).map(deleteStep) },
  { weight: 1, arbitrary: fc.tuple(few(schedule), instant).map(registerManyStep) },
  { weight: 2, arbitrary: fc.tuple(few(id), owner, instant, leaseMs).map(claimManyStep) },
  { weight: 1, arbitrary: few(renewal).map(renewManyStep) },
  { weight: 2, arbitrary: fc.tuple(few(completion), instant).map(completeManyStep) },
)

function registerStep([value, now]: [NewSchedule, number]): Step {
  return {
    name: `register ${JSON.stringify(value)} at ${now}`,
    on: (store, prefix) => store.register(within(prefix, value), now),
  }
}

function claimStep([taskId, who, now, ms]: [string, string, number, number]): Step {
  return {
    name: `claim ${taskId} by ${who} at ${now} for ${ms}`,
    on: (store, prefix) => store.claimDue(prefix + taskId, who, now, ms),
  }
}
function renewStep(value: Renewal): Step {
  return {
    name: `renew ${JSON.stringify(value)}`,
    on: (store, prefix) => store.renew(prefix + value.id, value.fencingToken, value.leaseUntil),
  }
}
function completeStep([value, now]: [Completion, number]): Step {
  return {
    name: `complete ${JSON.stringify(value)} at ${now}`,
    on: (store, prefix) => store.complete(prefix + value.id, value.fencingToken, value.patch, now),
  }
}
function deleteStep([taskId, fencingToken]: [string, number | undefined]): Step {
  return {
    name: `delete ${taskId} ${fencingToken}`,
    on: (store, prefix) => store.delete(prefix + taskId, fencingToken),
  }
}
function registerManyStep([values, now]: [NewSchedule[], number]): Step {
  return {
    name: `registerMany ${JSON.stringify(values)} at ${now}`,
    on: (store, prefix) =>
      batch(
        values.map((value) => within(prefix, value)),
        store.registerMany && ((items) => store.registerMany!(items, now)),
        (item) => store.register(item, now),
      ),
  }
}
function claimManyStep([ids, who, now, ms]: [string[], string, number, number]): Step {
  return {
    name: `claimDueMany ${ids} by ${who} at ${now} for ${ms}`,
    on: (store, prefix) =>
      batch(
        ids.map((each) => prefix + each),
        store.claimDueMany && ((items) => store.claimDueMany!(items, who, now, ms)),
        (item) => store.claimDue(item, who, now, ms),
      ),
  }
}
function renewManyStep(values: Renewal[]): Step {
  return {
    name: `renewMany ${JSON.stringify(values)}`,
    on: (store, prefix) =>
      batch(
        values.map((value) => within(prefix, value)),
        store.renewMany && ((items) => store.renewMany!(items)),
        (item) => store.renew(item.id, item.fencingToken, item.leaseUntil),
      ),
  }
}
function completeManyStep([values, now]: [Completion[], number]): Step {
  return {
    name: `completeMany ${JSON.stringify(values)} at ${now}`,
    on: (store, prefix) =>
      batch(
        values.map((value) => within(prefix, value)),
        store.completeMany && ((items) => store.completeMany!(items, now)),
        (item) => store.complete(item.id, item.fencingToken, item.patch, now),
      ),
  }
}

let sequences = 0

/** Runs the steps on both and compares every answer, and the rows after each. */
async function agrees(store: ScheduleStore, steps: readonly Step[]): Promise<void> {
  const model = new ModelStore()
  const prefix = `${sequences++}:`
  for (const { name, on } of steps) {
    expect(await on(store, prefix), name).toEqual(await on(model, prefix))
    for (const key of ['a', 'A', 'b ']) {
      expect(await store.get(prefix + key), `${key} after ${name}`).toEqual(
        await model.get(prefix + key),
      )
    }
  }
  const listed = (await store.list()).filter((record) => record.id.startsWith(prefix))
  expect(new Set(listed)).toEqual(new Set(await model.list()))
}

const steps = fc.array(
  step.map((value) => Object.assign(value, { [fc.toStringMethod]: () => value.name })),
  { maxLength: 60, size: 'max' },
)

/** Asserts the law for a store, with `runs` sequences unless the environment names a number. */
export async function assertAgrees(open: () => ScheduleStore, runs: number): Promise<void> {
  const property = fc.asyncProperty(steps, (each) => agrees(open(), each))
  await fc.assert(property, { numRuns: RUNS || runs })
}

/** A store whose calls go to each of the connections in turn. */
export function alternating(connections: readonly { schedules(): ScheduleStore }[]): ScheduleStore {
  let calls = 0
  return new Proxy({} as ScheduleStore, {
    get(_, method: keyof ScheduleStore) {
      const store = connections[calls++ % connections.length]?.schedules() as ScheduleStore
      const call = store[method] as (...values: unknown[]) => unknown
      return (...values: unknown[]) => call.apply(store, values)
    },
  })
}
