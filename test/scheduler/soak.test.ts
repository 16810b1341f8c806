// Nothing is left of tasks that were cancelled, however many there were.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { MemoryScheduleStore, Scheduler } from '../../src/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function heapBytes(): number {
  collectGarbage()
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const MB = 1_000_000

test('a hundred thousand plain tasks take less than 60 MB', () => {
  const scheduler = new Scheduler({ clock: new VirtualClock() })
  const before = heapBytes()
  const tasks = Array.from({ length: 100_000 }, () => scheduler.every('1d', () => {}))
  expect(heapBytes() - before).toBeLessThan(60 * MB)
  for (const task of tasks) void task.cancel()
})

test('a million pairs of schedule and cancel leave the heap as it was', () => {
  const scheduler = new Scheduler({ clock: new VirtualClock() })
  const others = Array.from({ length: 1000 }, () => scheduler.every('1d', () => {}))
  const round = () => {
    for (let pair = 0; pair < 200_000; pair++) void scheduler.delay('1d', () => {}).cancel()
    return heapBytes()
  }
  const first = round()
  for (let rounds = 1; rounds < 5; rounds++) expect(round() - first).toBeLessThan(2 * MB)
  expect(others).toHaveLength(1000)
})

test('what a store answers to registrations is not kept', async () => {
  const store = new MemoryScheduleStore()
  const answers: WeakRef<object>[] = []
  const registerMany = store.registerMany.bind(store)
  store.registerMany = async (schedules, now) => {
    const rows = (await registerMany(schedules, now)).map((row) => ({ ...row }))
    answers.push(...rows.map((row) => new WeakRef(row)))
    return rows
  }
  const scheduler = new Scheduler({ clock: new VirtualClock(), store })
  for (let task = 0; task < 10; task++) scheduler.every('1h', { id: `${task}` }, () => {})
  for (let life = 0; life < 20; life++) {
    await scheduler.start()
    await scheduler.stop()
  }
  // What a WeakRef was asked for in this turn stays until the next.
  await new Promise(setImmediate)
  collectGarbage()
  expect(answers).toHaveLength(200)
  expect(answers.filter((answer) => answer.deref()).length).toBeLessThanOrEqual(10)
})

test('durable tasks that were cancelled leave nothing but their tokens', async () => {
  const clock = new VirtualClock()
  const store = new MemoryScheduleStore()
  const scheduler = new Scheduler({ clock, store })
  await scheduler.start()
  const round = async () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `task-${index}`)
    const tasks = ids.map((id) => scheduler.every('10s', { id }, () => {}))
    await clock.advance(10_000)
    await Promise.all(tasks.map((task) => task.cancel()))
    return heapBytes()
  }
  await round()
  const second = await round()
  for (let rounds = 2; rounds < 5; rounds++) expect((await round()) - second).toBeLessThan(2 * MB)
  expect(clock.pendingTimers).toBe(0)
})
