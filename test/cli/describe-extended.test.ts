// Text for people in the extended dialect: what it says, and that every locale says something.

import fc from 'fast-check'
import { expect, describe as group, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'
import { describe } from '../../src/describe.ts'
import { plainTexts } from '../../src/plain-texts.ts'
import { extendedExpressions } from '../core/extended-arbitraries.ts'

const options = { dialect: 'extended', timeZone: 'UTC' } as const

function textOf(expression: string, locale?: string): string {
  return describe(parseCron(expression, options), locale)
}

const locales = /known: (.*)$/.exec(String(caught()))![1]!.split(', ')

function caught(): unknown {
  try {
    return describe('* * * * *', 'xx')
  } catch (error) {
    return error
  }
}

group('text of the extended dialect', () => {
  test.each([
    ['*/10 * * * * *', 'Every 10 seconds'],
    ['5 30 9 * * *', 'At 09:30:05'],
    ['0 30 9 * * *', 'At 09:30'],
    ['5,10 0 0 * * *', 'At 5 and 10 seconds past the minute, on the hour, at 00:00'],
    ['0 0 0 1 1 * 2026', 'At 00:00, on day 1 of the month, only in January, only in 2026'],
    ['0 0 0 1 * ? 2026-2030', 'At 00:00, on day 1 of the month, 2026 through 2030'],
    ['0 0 0 1 * ? *', 'At 00:00, on day 1 of the month'],
    ['0 9 ? * MON-FRI', 'At 09:00, Monday through Friday'],
    ['0 0 L * *', 'At 00:00, on the last day of the month'],
    ['0 0 LW * *', 'At 00:00, on the last weekday of the month'],
    ['0 0 15W * *', 'At 00:00, on the weekday nearest day 15 of the month'],
    ['0 0 * * MON#2', 'At 00:00, on the second Monday of the month'],
    ['0 0 * * 7L', 'At 00:00, on the last Sunday of the month'],
    [
      '0 0 1,L-3 * FRI#1',
      'At 00:00, on day 1 of the month, 3 days before the last day of the month, ' +
        'or on the first Friday of the month',
    ],
    ['0 0 13 * +FRI', 'At 00:00, on day 13 of the month, only on Friday'],
    ['0 0 13 * FRI', 'At 00:00, on day 13 of the month or only on Friday'],
    ['0 22-1 * * *', 'At 00:00, 01:00, 22:00 and 23:00'],
    ['@weekly', 'At 00:00, only on Sunday'],
    ['@hourly', 'Every hour'],
    ['@reboot', 'Run once, at startup'],
  ])('%s: %s', (expression, text) => {
    expect(textOf(expression)).toBe(text)
  })

  test('a hashed value is told as the one that was chosen', () => {
    const cron = parseCron('H H * * *', { ...options, seed: 'backup' })
    const [hour] = cron.fields.hour
    const [minute] = cron.fields.minute
    const digits = (value = 0) => String(value).padStart(2, '0')
    expect(describe(cron)).toBe(`At ${digits(hour)}:${digits(minute)}`)
  })

  test('where a locale’s weekday may be any day, Monday to Friday is added', () => {
    expect(textOf('0 0 LW * *', 'es')).toMatch(/, y de lunes a viernes$/)
    expect(textOf('0 0 LW * *', 'de')).toBe('Um 00:00, am letzten Werktag des Monats')
  })

  test.each(locales)('%s tells each construct from its neighbour', (locale) => {
    const pairs = [
      ['0 0 L * *', '0 0 L-1 * *'],
      ['0 0 L-3 * *', '0 0 L-4 * *'],
      ['0 0 LW * *', '0 0 L * *'],
      ['0 0 15W * *', '0 0 15 * *'],
      ['0 0 * * 5L', '0 0 * * 5'],
      ['0 0 * * 5#2', '0 0 * * 5#3'],
      ['0 0 13 * +5', '0 0 13 * 5'],
      ['5 0 0 1 * *', '6 0 0 1 * *'],
      ['0 0 0 1 1 * 2026', '0 0 0 1 1 * 2027'],
      ['@reboot', '@daily'],
    ]
    for (const [one, other] of pairs) {
      expect(textOf(one!, locale), one).not.toBe(textOf(other!, locale))
      expect(textOf(one!, locale), one).not.toMatch(/undefined|null|NaN|%s/)
    }
  })
})

group('law of the extended dialect', () => {
  test('the plain texts together run when the expression runs', () => {
    fc.assert(
      fc.property(extendedExpressions, fc.integer({ min: 0, max: 120 }), (expression, month) => {
        const [from, until] = [Date.UTC(2020, month, 1), Date.UTC(2020, month + 1, 10)]
        const cron = parseCron(expression, options)
        const { texts, bothDays } = plainTexts(cron)
        const runs = texts.flatMap((text) => {
          const fields = text.split(' ')
          if (bothDays) fields[fields.length > 5 ? 5 : 4] = `+${fields[fields.length > 5 ? 5 : 4]}`
          return parseCron(fields.join(' '), options).between(from, until).map(Number)
        })
        const expected = cron.between(from, until).map(Number)
        expect([...new Set(runs)].sort((a, b) => a - b)).toEqual(expected)
      }),
      { numRuns: 500, seed: 20_260_101 },
    )
  })
})
