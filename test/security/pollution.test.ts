// Names that mean something to JavaScript itself, as ids, options and fields; and the library with
// all prototypes frozen, where an assignment to one throws.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CronBatch, MemoryScheduleStore, parseCron, Scheduler } from '../../src/index.ts'
import { World } from '../scheduler/harness.ts'

const NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'then'],
  ...['__defineGetter__', 'isPrototypeOf', 'toJSON', 'length', 'name'],
]
const clean = () => Object.getOwnPropertyNames(Object.prototype).sort()
const untouched = clean()

describe('a name of JavaScript', () => {
  test.each(NAMES)('is an id as any other: %s', async (id) => {
    const world = new World()
    const replica = world.replica({ namespace: id })
    replica.every('1m', { id }, world.handler())
    await replica.start()
    await world.clock.advance(61_000)
    await world.within(20_000, replica.stop())
    expect(world.runs).toMatchObject([{ taskId: id, token: 1 }])
    expect(clean()).toEqual(untouched)
  })

  const polluting = (name: string) => JSON.parse(`{"${name}": {"polluted": true}}`) as object
  test.each(NAMES)('is no option, not even from JSON: %s', (name) => {
    const options = polluting(name)
    const unknown = name === '__proto__' ? /__proto__/ : new RegExp(name)
    const scheduler = new Scheduler()
    expect(() => parseCron('* * * * *', options)).toThrow(unknown)
    expect(() => new CronBatch().add('* * * * *', options)).toThrow(unknown)
    expect(() => new Scheduler(options)).toThrow(unknown)
    expect(() => scheduler.every('1m', options, () => {})).toThrow(unknown)
    expect(() => scheduler.schedule('* * * * *', options, () => {})).toThrow(unknown)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test.each(NAMES)('in a row is no field of it: %s', async (name) => {
    const row = Object.assign(polluting(name), {
      ...{ id: 'a', kind: 'every' as const, spec: '60000', nextRunAt: 0 },
      ...{ fencingToken: 0, updatedAt: 0 },
    })
    const store = new MemoryScheduleStore([row])
    const [record] = await store.list()
    expect(record).toMatchObject({ id: 'a', nextRunAt: 0 })
    expect((record as { polluted?: unknown }).polluted).toBeUndefined()
    expect(clean()).toEqual(untouched)
  })
})

test('all of it works where every prototype is frozen', () => {
  const hook = join(import.meta.dirname, '../support/wasm-as-hex.mjs')
  const script = join(import.meta.dirname, 'frozen.ts')
  const out = execFileSync(process.execPath, ['--import', 'tsx', '--import', hook, script], {
    encoding: 'utf8',
  })
  expect(out).toBe('12 names ran\n')
})
