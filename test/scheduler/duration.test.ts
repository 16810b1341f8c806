// SPEC §2.1: what is a duration, and what is not.

import { describe, expect, test } from 'vitest'
import { nonNegativeMs, positiveMs } from '../../src/duration.ts'

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000]

describe('a duration', () => {
  test.each<[number | string, number]>([
    [250, 250],
    ['250', 250],
    ['250ms', 250],
    ['30s', 30 * SECOND],
    ['30 seconds', 30 * SECOND],
    ['1 second', SECOND],
    ['45 SECS', 45 * SECOND],
    ['5m', 5 * MINUTE],
    ['5 min', 5 * MINUTE],
    ['5 Minutes', 5 * MINUTE],
    ['2h', 2 * HOUR],
    ['2 hours', 2 * HOUR],
    ['2 hrs', 2 * HOUR],
    ['1d', DAY],
    ['1 day', DAY],
    ['1 DAY', DAY],
    ['2 weeks', 14 * DAY],
    ['1.5h', 1.5 * HOUR],
    ['.5m', 30 * SECOND],
    ['1h30m', 1.5 * HOUR],
    ['1h 30m', 1.5 * HOUR],
    ['1 hour 30 minutes', 1.5 * HOUR],
    ['1D2H3M4S5MS', DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 5],
    [' 1h ', HOUR],
  ])('%j is %d ms', (text, ms) => {
    expect(positiveMs(text, 'every')).toBe(ms)
    expect(nonNegativeMs(text, 'delay')).toBe(ms)
  })

  test.each<unknown>([
    '',
    ' ',
    'soon',
    's',
    '5 parsecs',
    '5x',
    '1h30',
    '1h-30m',
    '--5m',
    '1e3s',
    '0x10s',
    '1,5h',
    '1h and 30m',
    '1h, 30m',
    'five minutes',
    'Infinity',
    'NaN',
    '٣s',
    '5m\u0000',
    null,
    undefined,
    {},
    [],
    true,
    10n,
    `${'1h'.repeat(200)}`,
    '1 month',
  ])('%s is none: a TypeError', (text) => {
    expect(() => positiveMs(text as string, 'every')).toThrow(TypeError)
    expect(() => nonNegativeMs(text as string, 'delay')).toThrow(TypeError)
  })

  test.each([Number.NaN, Infinity, -Infinity, 1e16, -1, '-5m', '300000 years'])(
    '%j is out of range for both: a RangeError',
    (duration) => {
      expect(() => positiveMs(duration, 'every')).toThrow(RangeError)
      expect(() => nonNegativeMs(duration, 'delay')).toThrow(RangeError)
    },
  )

  test.each([0, '0s', '0 minutes', -0])('%j is nothing: good for a delay only', (duration) => {
    expect(() => positiveMs(duration, 'every')).toThrow(RangeError)
    expect(nonNegativeMs(duration, 'delay')).toBe(0)
  })

  test('an error names the option, the text and what is allowed', () => {
    expect(() => positiveMs('5 parsecs', 'leaseMs')).toThrow(
      'leaseMs: "5 parsecs" is no duration; give ms as a number, or text like \'30s\'',
    )
  })

  test('a hostile text is refused in linear time', () => {
    const text = `${'1.'.repeat(100_000)}x`
    expect(() => positiveMs(text, 'every')).toThrow(TypeError)
  })

  test('parts of a ms are rounded, to one at least', () => {
    expect([
      positiveMs(0.2, 'every'),
      positiveMs('1.6ms', 'every'),
      nonNegativeMs(0.2, 'd'),
    ]).toEqual([1, 2, 0])
  })
})
