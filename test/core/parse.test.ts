// Which texts are expressions and what they select, and that nothing but a text is read.
import { describe, expect, test } from 'vitest'
import { CronSyntaxError, parseCron } from '../../bindings/index.ts'

function numbers(from: number, to: number, step = 1): number[] {
  const all: number[] = []
  for (let n = from; n <= to; n += step) all.push(n)
  return all
}

describe('what a text selects', () => {
  test.each<[text: string, minute: number[]]>([
    ['*          ', numbers(0, 59)],
    ['*/1        ', numbers(0, 59)],
    ['*/15       ', [0, 15, 30, 45]],
    ['*/7        ', [0, 7, 14, 21, 28, 35, 42, 49, 56]],
    ['*/59       ', [0, 59]],
    ['*/60       ', [0]],
    ['*/4294967296', [0]],
    ['*/99999999999999999999999999', [0]],
    ['0          ', [0]],
    ['59         ', [59]],
    ['00         ', [0]],
    ['0000000000000000000000000000059', [59]],
    ['5,3,4      ', [3, 4, 5]],
    ['5,5,5      ', [5]],
    ['1-3        ', [1, 2, 3]],
    ['5-5        ', [5]],
    ['0-59       ', numbers(0, 59)],
    ['5-5/1      ', [5]],
    ['10-20/5    ', [10, 15, 20]],
    ['10-19/5    ', [10, 15]],
    ['50-59/20   ', [50]],
    ['50-59/18446744073709551616', [50]],
    ['1-10/3,*/20', [0, 1, 4, 7, 10, 20, 40]],
    ['58-59,0-1  ', [0, 1, 58, 59]],
    ['*,5        ', numbers(0, 59)],
    ['5,*        ', numbers(0, 59)],
    ['*/30,*/20  ', [0, 20, 30, 40]],
  ])('minute %s', (text, minute) => {
    expect(parseCron(`${text} * * * *`).fields.minute).toEqual(minute)
  })

  test.each<[text: string, fields: [hour: number[], days: number[], months: number[]]]>([
    ['*     *     *    ', [numbers(0, 23), numbers(1, 31), numbers(1, 12)]],
    [
      '*/5   */10  */3  ',
      [
        [0, 5, 10, 15, 20],
        [1, 11, 21, 31],
        [1, 4, 7, 10],
      ],
    ],
    ['*/24  */31  */12 ', [[0], [1], [1]]],
    ['23    31    12   ', [[23], [31], [12]]],
    ['0-23  1-31  1-12 ', [numbers(0, 23), numbers(1, 31), numbers(1, 12)]],
    [
      '1-9/4 2-9/3 2-9/5',
      [
        [1, 5, 9],
        [2, 5, 8],
        [2, 7],
      ],
    ],
  ])('hour, day of month and month %s', (text, fields) => {
    const { hour, dayOfMonth, month } = parseCron(`0 ${text} *`).fields
    expect([hour, dayOfMonth, month]).toEqual(fields)
  })

  test.each<[text: string, dayOfWeek: number[]]>([
    ['*    ', numbers(0, 6)],
    ['0    ', [0]],
    ['7    ', [0]],
    ['07   ', [0]],
    ['0,7  ', [0]],
    ['0-7  ', numbers(0, 6)],
    ['1-7  ', numbers(0, 6)],
    ['5-7  ', [0, 5, 6]],
    ['7-7  ', [0]],
    ['6,7  ', [0, 6]],
    ['5-7/2', [0, 5]],
    ['6-7/2', [6]],
    ['*/2  ', [0, 2, 4, 6]],
    ['*/3  ', [0, 3, 6]],
    ['*/7  ', [0]],
    ['*/8  ', [0]],
  ])('day of week %s', (text, dayOfWeek) => {
    expect(parseCron(`0 0 * * ${text}`).fields.dayOfWeek).toEqual(dayOfWeek)
  })

  test.each([
    '1 2 3 4 5',
    ' 1 2 3 4 5',
    '1 2 3 4 5 ',
    '\t1\t2\t3\t4\t5\t',
    '1  2 \t 3   4\t\t5',
    ' \t \t1 2 3 4 5 \t ',
  ])('blanks around and between fields: %j', (text) => {
    expect(parseCron(text).fields).toEqual({
      minute: [1],
      hour: [2],
      dayOfMonth: [3],
      month: [4],
      dayOfWeek: [5],
    })
  })

  test.each(['0 0 29 2 *', '0 0 29 2 */2', '0 0 30 2 0', '0 0 31 2,4,6,9,11 1', '0 0 30,1 2 *'])(
    'a day that some year or weekday has: %s',
    (text) => {
      expect(parseCron(text).expression).toBe(text)
    },
  )

  test('fields cannot be changed', () => {
    const { fields } = parseCron('0 0 * * *')
    expect(Object.isFrozen(fields)).toBe(true)
    expect(Object.values(fields).every((values) => Object.isFrozen(values))).toBe(true)
  })
})

describe('what is no text', () => {
  test.each([
    undefined,
    null,
    5,
    5n,
    true,
    Symbol('* * * * *'),
    {},
    [],
    ['* * * * *'],
    new String('* * * * *'),
    { toString: () => '* * * * *' },
    () => '* * * * *',
    new Date(),
  ])('%o is a TypeError, but no syntax error', (value) => {
    const parse = () => parseCron(value as string)
    expect(parse).toThrow(TypeError)
    expect(parse).not.toThrow(CronSyntaxError)
  })
})
