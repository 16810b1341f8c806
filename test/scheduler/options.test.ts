// Misuse is refused at once, with the option's name and what is allowed (SPEC §2, §2.3).

import { describe, expect, test } from 'vitest'
import { CronSyntaxError, MemoryScheduleStore, Scheduler } from '../../src/index.ts'
import { storedId } from '../../src/scheduler/task-id.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

const clock = new VirtualClock()
const make = (options = {}) =>
  new Scheduler({ clock, store: new MemoryScheduleStore(), ...options })
const noop = () => {}
// Misuse that TypeScript would not let through.
const misused = (options: object) => options as { id: string }

describe('a scheduler refuses', () => {
  test.each<[object, typeof TypeError | typeof RangeError, string]>([
    [{ timezone: 'UTC' }, TypeError, "did you mean 'timeZone'?"],
    [{ leaderTtl: 5 }, TypeError, "did you mean 'leaderTtlMs'?"],
    [{ timeZone: 'Mars/Olympus' }, RangeError, 'Mars/Olympus'],
    [{ tickMs: 0 }, RangeError, 'tickMs'],
    [{ tickMs: 'soon' }, TypeError, 'tickMs'],
    [{ drainMs: -1 }, RangeError, 'drainMs'],
    [{ namespace: 'a\u001fb' }, TypeError, 'namespace'],
    [{ namespace: 'a\0' }, TypeError, 'namespace'],
    [{ namespace: '\ud800' }, TypeError, 'namespace'],
    [{ namespace: 5 }, TypeError, 'namespace'],
    [{ store: { start() {}, schedules() {} } }, TypeError, 'pass store.schedules()'],
    [{ store: 'memory' }, TypeError, 'store: has no method get()'],
    [{ lease: { acquire() {} } }, TypeError, 'lease: has no method renew()'],
    [{ lease: { isLeader() {} } }, TypeError, 'lease: has no method start()'],
    [{ clock: Date }, TypeError, 'clock: has no method monotonic()'],
  ])('%j', (options, kind, text) => {
    expect(() => make(options)).toThrow(kind)
    expect(() => make(options)).toThrow(text)
  })

  test('options that are none', () => {
    expect(() => new Scheduler(null as never)).toThrow(TypeError)
  })
})

describe('a task refuses', () => {
  const durable = { id: 'job' }
  test.each<[string, object, typeof TypeError | typeof RangeError, string]>([
    ['an unknown option', { ...durable, mised: 'skip' }, TypeError, "did you mean 'missed'?"],
    ['a zone on an interval', { ...durable, timeZone: 'UTC' }, TypeError, 'timeZone'],
    ['a zone on a plain interval', { timeZone: 'UTC' }, TypeError, 'timeZone'],
    ['a gap policy on an interval', { ...durable, gap: 'skip' }, TypeError, 'gap'],
    ['a dialect on an interval', { ...durable, dialect: 'standard' }, TypeError, 'dialect'],
    ['an unknown policy', { ...durable, missed: 'later' }, TypeError, "'catch-up'"],
    ['an unknown overlap', { overlap: 'twice' }, TypeError, "'allow'"],
    ['overlap with an id', { ...durable, overlap: 'allow' }, TypeError, 'overlap'],
    ['missed without an id', { missed: 'skip' }, TypeError, 'give an id'],
    ['no catch-up at all', { ...durable, maxCatchUp: 0 }, RangeError, 'positive integer'],
    ['half a catch-up', { ...durable, maxCatchUp: 1.5 }, RangeError, 'positive integer'],
    ['a catch-up in words', { ...durable, maxCatchUp: '5' }, TypeError, 'number'],
    ['no lease', { ...durable, leaseMs: 0 }, RangeError, 'leaseMs'],
    ['a lease in no words', { ...durable, leaseMs: 'long' }, TypeError, 'leaseMs'],
    ['an empty id', { id: '' }, TypeError, 'empty'],
    ['an id with NUL', { id: 'a\0b' }, TypeError, 'NUL'],
    ['a lone surrogate', { id: 'a\udc00' }, TypeError, 'surrogate'],
    ['an id that is no string', { id: 7 }, TypeError, 'string'],
    ['a long id', { id: 'é'.repeat(513) }, TypeError, '1026 bytes'],
  ])('%s', (_, options, kind, text) => {
    for (const method of ['every', 'delay'] as const) {
      expect(() => make()[method]('1s', misused(options), noop)).toThrow(kind)
      expect(() => make()[method]('1s', misused(options), noop)).toThrow(text)
    }
  })

  test('a wrong cron text, zone or policy', () => {
    expect(() => make().schedule('61 * * * *', noop)).toThrow(CronSyntaxError)
    expect(() => make().schedule('* * * * *', { timeZone: 'Nowhere' }, noop)).toThrow(RangeError)
    expect(() => make().schedule('* * * * *', { gap: 'jump' as never }, noop)).toThrow(TypeError)
    expect(() => make().schedule('* * * * *', { timezone: 'UTC' } as never, noop)).toThrow(
      "'timeZone'",
    )
  })

  test('no handler', () => {
    expect(() => make().every('1s', undefined as never)).toThrow(TypeError)
    expect(() => make().every('1s', durable, 'handler' as never)).toThrow(/must be a function/)
  })

  test('an id twice, but not once it was cancelled', async () => {
    const scheduler = make()
    const task = scheduler.every('1s', durable, noop)
    expect(() => scheduler.delay('1s', durable, noop)).toThrow(
      /registered in this scheduler already/,
    )
    await task.cancel()
    scheduler.delay('1s', durable, noop)
  })

  test('nothing that is refused is registered', () => {
    const scheduler = make()
    expect(() => scheduler.every('1s', { id: 'job', maxCatchUp: -1 }, noop)).toThrow()
    scheduler.every('1s', { id: 'job' }, noop)
  })
})

describe('an id', () => {
  test('may have 1024 bytes with its namespace and the separator', () => {
    expect(() => make().every('1s', { id: 'x'.repeat(1024) }, noop)).not.toThrow()
    expect(() =>
      make({ namespace: 'ns' }).every('1s', { id: 'x'.repeat(1021) }, noop),
    ).not.toThrow()
    expect(() => make({ namespace: 'ns' }).every('1s', { id: 'x'.repeat(1023) }, noop)).toThrow(
      TypeError,
    )
  })

  test('is kept apart from every other one, whatever is in it', () => {
    const pairs: [string, string][] = [
      ['', 'a'],
      ['', 'A'],
      ['', 'a '],
      ['', 'a\u001fb'],
      ['a', 'b'],
      ['', '\u001fa'],
      ['', 'é'],
      ['', 'e\u0301'],
      ['a', '\u001fb'],
      ['', 'a\u001f\u001fb'],
      ['', '__proto__'],
      ['__proto__', 'a'],
    ]
    const stored = pairs.map(([namespace, id]) => storedId(namespace, id))
    expect(new Set(stored).size).toBe(pairs.length)
  })
})
