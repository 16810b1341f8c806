// Text for people: what cronstrue would misread reads right, and plain texts mean the same.

import fc from 'fast-check'
import { expect, describe as group, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'
import { describe } from '../../src/describe.ts'
import { plainTexts } from '../../src/plain-texts.ts'

group('text', () => {
  test.each([
    ['* * * * *', 'Every minute'],
    ['*/15 * * * *', 'Every 15 minutes'],
    ['0-59/15 * * * *', 'Every 15 minutes'],
    ['30 2 * * *', 'At 02:30'],
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday'],
    ['0 9-17 * * 1-5', 'Every hour, between 09:00 and 17:00, Monday through Friday'],
    // A step that does not divide its field starts anew with each hour.
    ['*/7 * * * *', 'Every 7 minutes, minutes 0 through 56 past the hour'],
    ['*/40 * * * *', 'At 0 and 40 minutes past the hour'],
    ['*/90 * * * *', 'Every hour'],
    ['0 */5 * * *', 'At 00:00, 05:00, 10:00, 15:00 and 20:00'],
    ['0 0 1 */3 *', 'At 00:00, on day 1 of the month, only in January, April, July, and October'],
    ['0 0 * * */2', 'At 00:00, only on Tuesday, Thursday, Saturday, and Sunday'],
    // Both day fields: or, unless one of them starts with a star.
    ['0 0 1,15 * 5', 'At 00:00, on day 1 and 15 of the month or only on Friday'],
    ['0 0 1 6 1', 'At 00:00, on day 1 of the month or only on Monday, only in June'],
    ['0 0 1 * */3', 'At 00:00, on day 1 of the month, only on Sunday, Wednesday, and Saturday'],
    ['0 0 *,3 * 1', 'At 00:00, only on Monday'],
    ['0 0 1-31 * 1', 'At 00:00'],
    ['0 0 13 * 0-7', 'At 00:00'],
    ['0 0 13 * */1', 'At 00:00, on day 13 of the month'],
    // Sunday is 0 and 7.
    ['0 9 * * 7', 'At 09:00, only on Sunday'],
    ['0 9 * * 07', 'At 09:00, only on Sunday'],
    ['0 9 * * 0,7', 'At 09:00, only on Sunday'],
    ['0 9 * * 5-7', 'At 09:00, Friday through Sunday'],
    ['0 9 * * 0-7', 'At 09:00'],
    // An hour of several runs lasts to its end.
    ['*/15 2,14 * * *', 'Every 15 minutes, at 02:00 through 02:59 and 14:00 through 14:59'],
    // Lists with a star, ranges of one value, repeated values, leading zeros.
    ['*,5 * * * *', 'Every minute'],
    ['10-10 * * * *', 'At 10 minutes past the hour'],
    ['5,5,005 5 * * *', 'At 05:05'],
    ['0 0 5-5 * *', 'At 00:00, on day 5 of the month'],
  ])('%s: %s', (expression, text) => {
    expect(describe(expression)).toBe(text)
    expect(describe(parseCron(expression, { timeZone: 'Europe/Madrid' }))).toBe(text)
  })

  test.each([
    ['de', 'Um 00:00, an Tag 1 des Monats oder nur jeden Freitag'],
    ['es', 'A las 00:00, el día 1 del mes o sólo el viernes'],
    ['pt-BR', 'Às 00:00, no dia 1 do mês ou somente de sexta-feira'],
  ])('%s has an or of its own', (locale, text) => {
    expect(describe('0 0 1 * 5', locale)).toBe(text)
  })

  test('a locale that is not known is a RangeError with those that are', () => {
    for (const locale of ['xx', '', 'constructor']) {
      expect(() => describe('* * * * *', locale)).toThrow(/unknown locale.*known: .*en/)
      expect(() => describe('* * * * *', locale)).toThrow(RangeError)
    }
  })

  test('every locale has a text', () => {
    const known = /known: (.*)$/.exec(String(caught(() => describe('* * * * *', 'xx'))))?.[1]
    for (const locale of known!.split(', ')) {
      expect(describe('0 0 1 6 1-5', locale).length, locale).toBeGreaterThan(10)
    }
  })

  test('text that is no expression is refused as the engine does', () => {
    expect(() => describe('0 0 * * MON')).toThrow(expect.objectContaining({ index: 8 }))
  })
})

function caught(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

group('law', () => {
  const item = (min: number, max: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: 1, max: 40 }).map((step) => `*/${step}`),
      fc.integer({ min, max }).map(String),
      fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }), fc.integer({ min: 1, max: 9 }))
        .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
    )
  const field = (min: number, max: number) =>
    fc.array(item(min, max), { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
  // Days to 28 only, so that each alternative is valid alone.
  const expressions = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7))
    .map((fields) => fields.join(' '))

  test('the plain texts together run when the expression runs', () => {
    fc.assert(
      fc.property(expressions, fc.integer({ min: 0, max: 120 }), (expression, month) => {
        const from = Date.UTC(2020, month, 1)
        const until = Date.UTC(2020, month, 15)
        const cron = parseCron(expression, { timeZone: 'UTC' })
        const { texts, bothDays } = plainTexts(cron)
        const runs = texts.flatMap((text) => (bothDays ? bothDaysRuns : runsOf)(text, from, until))
        const expected = cron.between(from, until).map(Number)
        expect([...new Set(runs)].sort((a, b) => a - b)).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  function runsOf(text: string, from: number, until: number): number[] {
    return parseCron(text, { timeZone: 'UTC' }).between(from, until).map(Number)
  }

  function bothDaysRuns(text: string, from: number, until: number): number[] {
    const [minute, hour, days, month, weekdays] = text.split(' ')
    const onWeekdays = new Set(runsOf(`${minute} ${hour} * ${month} ${weekdays}`, from, until))
    const onDays = runsOf(`${minute} ${hour} ${days} ${month} *`, from, until)
    return onDays.filter((run) => onWeekdays.has(run))
  }
})

group('arguments', () => {
  test('a country that makes no difference is left aside', () => {
    for (const [locale, language] of [
      ['de-AT', 'de'],
      ['en_US', 'en'],
      ['pt-BR', 'pt-BR'],
    ]) {
      expect(describe('0 9 * * *', locale)).toBe(describe('0 9 * * *', language))
    }
  })

  test.each([null, undefined, 5, {}, () => '* * * * *'])('%s is a TypeError', (cron) => {
    expect(() => describe(cron as never)).toThrow(/^cron expression: expected a string/)
  })
})
