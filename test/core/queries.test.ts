// What an expression answers besides next and prev, and what it says of itself.
import { describe, expect, test } from 'vitest'
import { CronExpression, parseCron } from '../../bindings/index.ts'

const start = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const hourly = parseCron('0 * * * *', { timeZone: 'UTC' })

function hours(...offsets: number[]): Date[] {
  return offsets.map((offset) => new Date(start + offset * HOUR_MS))
}

describe('between and count', () => {
  test.each<[fromHour: number, untilHour: number, runs: Date[]]>([
    [0, 3, hours(0, 1, 2)],
    [0, 0, []],
    [0.5, 0.9, []],
    [0.5, 1, []],
    [0.5, 1.1, hours(1)],
    [1, 1.1, hours(1)],
    [-1, 1, hours(-1, 0)],
    [3, 0, []],
  ])('hours %d to %d, half-open', (fromHour, untilHour, runs) => {
    const [from, until] = [start + fromHour * HOUR_MS, start + untilHour * HOUR_MS]
    expect(hourly.between(from, until)).toEqual(runs)
    expect(hourly.count(from, until)).toBe(runs.length)
    expect([...hourly.occurrences({ from, until })]).toEqual(runs)
  })

  test.each(['UTC', 'Europe/Madrid', 'Australia/Lord_Howe'])(
    'every minute of a year, in %s',
    (timeZone) => {
      const cron = parseCron('* * * * *', { timeZone })
      const until = Date.UTC(2027, 0, 1)
      expect(cron.count(start, until)).toBe((until - start) / 60_000)
      const runs = cron.between(start, until)
      expect(runs.every((run, i) => run.getTime() === start + i * 60_000)).toBe(true)
      expect(runs.length).toBe((until - start) / 60_000)
    },
  )
})

describe('occurrences', () => {
  test('begin with a run at `from` itself', () => {
    expect([...hourly.occurrences({ from: start, limit: 2 })]).toEqual(hours(0, 1))
    expect([...hourly.occurrences({ from: start + 0.5, limit: 2 })]).toEqual(hours(1, 2))
  })

  test.each([0, 1, 2, 511, 512, 513, 1025])('%d are given when that is the limit', (limit) => {
    const until = start + 2000 * HOUR_MS
    const runs = hours(...Array.from({ length: limit }, (_, i) => i))
    expect([...hourly.occurrences({ from: start, until, limit })]).toEqual(runs)
    expect([...hourly.occurrences({ from: start, limit })]).toEqual(runs)
  })

  test('go on without end when nothing ends them, one at a time', () => {
    const runs = hourly.occurrences({ from: start })
    expect(runs.next()).toEqual({ value: hours(0)[0], done: false })
    expect(hourly.next(start + 10 * HOUR_MS)).toEqual(hours(11)[0])
    expect(runs.next()).toEqual({ value: hours(1)[0], done: false })
  })

  test('two lists of one expression do not disturb each other', () => {
    const [a, b] = [hourly.occurrences({ from: start }), hourly.occurrences({ from: start })]
    const pairs = Array.from({ length: 600 }, () => [a.next().value, b.next().value])
    expect(pairs.every(([left, right]) => left?.getTime() === right?.getTime())).toBe(true)
  })

  test.each([-1, 1.5, Number.NaN, Number.NEGATIVE_INFINITY])(
    'a limit of %d is a RangeError',
    (n) => {
      expect(() => hourly.occurrences({ from: start, limit: n })).toThrow(RangeError)
    },
  )

  test.each(['3', null, 3n])('a limit of the type of %o is a TypeError', (n) => {
    expect(() => hourly.occurrences({ limit: n as never })).toThrow(/^limit: expected a number/)
  })

  test('misuse is told by the call, before the first run is asked for', () => {
    expect(() => hourly.occurrences({ from: Number.NaN })).toThrow(RangeError)
    expect(() => hourly.occurrences({ from: start, until: Number.NaN })).toThrow(RangeError)
  })
})

describe('an expression', () => {
  test('keeps its text as it was given', () => {
    expect(parseCron(' 00\t1 * * 7 ').expression).toBe(' 00\t1 * * 7 ')
  })

  test('is a CronExpression', () => {
    expect(hourly).toBeInstanceOf(CronExpression)
  })

  test('answers the same after any other question', () => {
    const cron = parseCron('15 3 * * 1,4', { timeZone: 'Europe/Madrid' })
    const answers = () => [cron.next(start), cron.prev(start), cron.fields, cron.matches(start)]
    const once = answers()
    cron.count(0, start)
    cron.next(-8.64e15)
    parseCron('* * * * *').next(0)
    expect(answers()).toEqual(once)
  })
})

describe('options', () => {
  test.each([{ timezone: 'UTC' }, { timeZone: 'UTC', Gap: 'skip' }, { limit: 4 }, { 0: 'UTC' }])(
    '%o has an unknown name: TypeError',
    (options) => {
      expect(() => parseCron('* * * * *', options as never)).toThrow(TypeError)
    },
  )

  test.each([null, 5, 'UTC', true])('%o instead of options is a TypeError', (options) => {
    expect(() => parseCron('* * * * *', options as never)).toThrow(TypeError)
  })

  test.each([
    { gap: 'first' },
    { gap: '' },
    { gap: null },
    { gap: 1 },
    { fold: 'shift' },
    { fold: 'Both' },
    { fold: null },
    { fold: ['both'] },
    { dialect: 'quartz' },
    { dialect: '' },
    { dialect: null },
    { seed: 5 },
  ])('%o is a TypeError', (options) => {
    expect(() => parseCron('* * * * *', options as never)).toThrow(TypeError)
  })

  test('undefined leaves an option to its default', () => {
    const options = { timeZone: 'UTC', gap: undefined, fold: undefined, horizonYears: undefined }
    expect(parseCron('0 * * * *', options).next(start)).toEqual(hours(1)[0])
  })

  test('changing the object later changes nothing', () => {
    const options = { timeZone: 'Asia/Tokyo' }
    const cron = parseCron('0 12 * * *', options)
    options.timeZone = 'UTC'
    expect(cron.next(start)).toEqual(hours(3)[0])
  })
})
