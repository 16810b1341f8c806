// Log lines: whatever ids, specs, errors and stored rows say, a line stays one line, steers no
// terminal, turns no text around and hides nothing.

import { describe, expect, test } from 'vitest'
import { LineFault } from '../../src/cli/line-fault.ts'
import { printable } from '../../src/cli/printable.ts'
import { CronfenceError, MemoryScheduleStore, type ScheduleRecord } from '../../src/index.ts'
import { FaultyStore } from '../scheduler/faulty-store.ts'
import { World } from '../scheduler/harness.ts'
import { HOSTILE } from '../store/security/hostile.ts'

/** What a forged line would begin with. */
const FORGED = 'cronfence: all is well'
const NASTY = `x\r\n${FORGED}\n\u001b[2J\u009b31m\u2028\u202e\u2066\u200b\ufeff\u{e0041}\u0007`
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

function expectPlain(lines: readonly string[]): void {
  expect(lines).not.toEqual([])
  for (const line of lines) {
    // The frames of a stack have lines of their own.
    const [first = '', ...frames] = line.split('\n')
    expect(first).not.toMatch(UNPRINTABLE)
    expect(first).toMatch(/^cronfence: (?!all is well)/)
    for (const frame of frames) {
      expect(frame).toMatch(/^ {4}at /)
      expect(frame).not.toMatch(UNPRINTABLE)
    }
  }
}

const throwing = (thrown: unknown) => () => {
  throw thrown
}

describe('a line of the log', () => {
  const named = Object.assign(new Error('message'), { name: NASTY })
  const thrown: Record<string, unknown> = {
    message: new Error(NASTY),
    name: named,
    cause: new Error('why', { cause: new TypeError(NASTY) }),
    'text thrown': NASTY,
    'object thrown': { toString: () => NASTY },
    'object without a text': { toString: throwing(new Error(NASTY)) },
    'several errors': new AggregateError([new Error(NASTY)], NASTY),
  }
  test.each(Object.entries(thrown))(
    'stays one with a handler that throws: %s',
    async (_, error) => {
      const world = new World()
      const replica = world.replica({ namespace: 'näme' })
      replica.every('1m', { id: NASTY.replaceAll('\0', '') }, throwing(error))
      replica.every('1m', throwing(error))
      await replica.start()
      await world.clock.advance(61_000)
      await world.within(20_000, replica.stop())
      expect(world.lines.length).toBeGreaterThanOrEqual(2)
      expectPlain(world.lines)
    },
  )

  test('stays one with a store whose errors are hostile', async () => {
    const world = new World()
    const faulty = new FaultyStore(world.store)
    faulty.fault = throwing(new CronfenceError('STORE_UNAVAILABLE', NASTY)) as () => undefined
    const replica = world.replica({ store: faulty.proxy })
    replica.every('1m', { id: NASTY }, () => {})
    const started = replica.start().catch(() => {})
    await world.clock.advance(61_000)
    await world.within(20_000, replica.stop())
    await started
    expectPlain(world.lines)
  })

  const row = { kind: 'every', spec: '1', nextRunAt: 0, fencingToken: 1, updatedAt: 0 } as const
  test('is short, however long what it tells of', async () => {
    const world = new World()
    const huge = 'x'.repeat(10_000_000)
    const rows: ScheduleRecord[] = [
      { ...row, id: huge },
      { ...row, id: 'own', spec: huge },
    ]
    const replica = world.replica({ store: new MemoryScheduleStore(rows) })
    replica.every('1m', { id: 'own' }, () => {})
    replica.every('1m', throwing(new Error(huge, { cause: huge })))
    replica.every('1m', throwing(huge))
    await replica.start()
    await world.clock.advance(61_000)
    await world.within(20_000, replica.stop())
    expect(world.lines.length).toBeGreaterThanOrEqual(3)
    for (const line of world.lines) expect(line.length).toBeLessThan(40_000)
  })

  test('stays one with orphans and specs that somebody stored', async () => {
    const world = new World()
    const rows: ScheduleRecord[] = HOSTILE.map((id) => ({ ...row, id, spec: id }))
    const replica = world.replica({
      store: new MemoryScheduleStore([...rows, { ...row, id: 'own', spec: NASTY }]),
    })
    replica.every('1m', { id: 'own' }, () => {})
    await replica.start()
    await world.clock.advance(61_000)
    await world.within(20_000, replica.stop())
    expect(world.lines.join('\n')).toContain('registered by no code')
    expectPlain(world.lines)
  })
})

describe('a line of the program', () => {
  test.each([...HOSTILE, NASTY].filter((text) => UNPRINTABLE.test(text)))('%j', (text) => {
    expect(printable(text)).not.toMatch(UNPRINTABLE)
    const report = new LineFault(text, 1).report('list', 1)
    expect(report.slice(0, -1)).not.toMatch(UNPRINTABLE)
    expect(report.endsWith('\n')).toBe(true)
  })
})
