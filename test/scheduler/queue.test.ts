// The heap and the timer under everything: order, removal, and one host timer.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DueNode, DueQueue } from '../../src/scheduler/due-queue.ts'
import { TimerQueue } from '../../src/scheduler/timer-queue.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

test('a due queue gives what a sorted list gives, whatever is put in, moved and taken out', () => {
  const operation = fc.oneof(
    fc.record({ op: fc.constant('set'), node: fc.nat(30), dueAt: fc.nat(20) }),
    fc.record({ op: fc.constant('delete'), node: fc.nat(30), dueAt: fc.constant(0) }),
  )
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const queue = new DueQueue<DueNode>()
      const nodes = Array.from({ length: 31 }, (_, order) => ({ dueAt: 0, heapIndex: -1, order }))
      const model = new Map<DueNode, number>()
      for (const { op, node: index, dueAt } of operations) {
        const node = nodes[index]!
        if (op === 'set') {
          queue.set(node, dueAt)
          model.set(node, dueAt)
        } else {
          queue.delete(node)
          model.delete(node)
        }
        const [first] = [...model.keys()].sort((a, b) => a.dueAt - b.dueAt || a.order - b.order)
        expect(queue.size).toBe(model.size)
        expect(queue.peek()).toBe(first)
        expect(node.heapIndex >= 0).toBe(model.has(node))
      }
    }),
    { seed: 20260302, numRuns: 300 },
  )
})

describe('a timer queue', () => {
  const alarm = (timers: TimerQueue, onDue: () => void) => {
    return { dueAt: 0, heapIndex: -1, order: timers.nextOrder(), onDue }
  }

  test('keeps one host timer, and none when nothing is pending', async () => {
    const clock = new VirtualClock(0)
    const timers = new TimerQueue(clock)
    const alarms = Array.from({ length: 50 }, () => alarm(timers, () => {}))
    for (const [index, each] of alarms.entries()) timers.set(each, 5000 - index)
    const timer = timers.setTimer(() => {}, 3000)
    expect(clock.pendingTimers).toBe(1)
    for (const each of alarms) timers.clear(each)
    timer.cancel()
    expect(clock.pendingTimers).toBe(0)
  })

  test('never sleeps longer than 30 s while something is pending', async () => {
    const clock = new VirtualClock(0)
    const timers = new TimerQueue(clock)
    let firedAt = -1
    timers.set(
      alarm(timers, () => (firedAt = clock.monotonic())),
      3_600_000,
    )
    await clock.advance(10_000)
    clock.stepWall(3_600_000)
    await clock.advance(30_000)
    expect(firedAt).toBe(30_000)
  })

  test('counts timers in monotonic time, alarms in wall time', async () => {
    const clock = new VirtualClock(0)
    const timers = new TimerQueue(clock)
    const fired: string[] = []
    timers.setTimer(() => fired.push('timer'), 40_000)
    timers.set(
      alarm(timers, () => fired.push('alarm')),
      20_000,
    )
    clock.stepWall(-3_600_000)
    await clock.advance(60_000)
    expect(fired).toEqual(['timer'])
  })

  test('is not kept busy by an alarm that sets itself again at once', async () => {
    const clock = new VirtualClock(0)
    const timers = new TimerQueue(clock)
    let count = 0
    const again = alarm(timers, () => {
      if (++count < 5) timers.set(again, clock.now())
    })
    timers.set(again, 100)
    await clock.advance(100)
    expect(count).toBe(5)
  })

  test('an alarm that throws does not take the others with it', async () => {
    const clock = new VirtualClock(0)
    const timers = new TimerQueue(clock)
    let fired = 0
    timers.set(
      alarm(timers, () => fired++),
      200,
    )
    timers.set(
      alarm(timers, () => {
        throw new Error('a defect')
      }),
      100,
    )
    await expect(clock.advance(100)).rejects.toThrow('a defect')
    await clock.advance(100)
    expect(fired).toBe(1)
  })
})
