// Which texts are refused, and where exactly each of them goes wrong: the field, and the index of
// the first character at fault.
import { describe, expect, test } from 'vitest'
import { type CronFieldName, CronSyntaxError, parseCron } from '../../bindings/index.ts'

type Refusal = [text: string, field: CronFieldName, index: number]

function refusals(name: string, table: Refusal[]): void {
  describe(name, () => {
    test.each(table)('%j: %s at %d', (text, field, index) => {
      const error = refusalOf(text)
      expect(error).toBeInstanceOf(TypeError)
      expect({ field: error.field, index: error.index }).toEqual({ field, index })
      expect({ name: error.name, expression: error.expression }).toEqual({
        name: 'CronSyntaxError',
        expression: text,
      })
      expect(error.message).toContain(field)
      expect(error.message).toContain(`column ${index + 1}`)
    })
  })
}

function refusalOf(text: string): CronSyntaxError {
  try {
    parseCron(text)
  } catch (error) {
    if (error instanceof CronSyntaxError) return error
    throw error
  }
  throw new Error(`${JSON.stringify(text)} was accepted`)
}

refusals('wrong number of fields', [
  ['', 'expression', 0],
  ['   ', 'expression', 3],
  ['*', 'expression', 1],
  ['* * * *', 'expression', 7],
  ['* * * * ', 'expression', 8],
  ['* * * * * *', 'expression', 10],
  ['* * * * *  0', 'expression', 11],
  ['0 0 1 1 0 2030 x', 'expression', 10],
])

//  0         1
//  0123456789012345
refusals('a value out of range', [
  ['60 0 * * *', 'minute', 0],
  ['0,60 0 * * *', 'minute', 2],
  ['*,60 0 * * *', 'minute', 2],
  ['0-60 0 * * *', 'minute', 2],
  ['60-61 0 * * *', 'minute', 0],
  ['0060 0 * * *', 'minute', 0],
  ['256 0 * * *', 'minute', 0],
  ['65536 0 * * *', 'minute', 0],
  ['4294967296 0 * * *', 'minute', 0],
  ['4294967301 0 * * *', 'minute', 0],
  ['18446744073709551616 0 * * *', 'minute', 0],
  ['18446744073709551621 0 * * *', 'minute', 0],
  ['0 24 * * *', 'hour', 2],
  ['0 1-24 * * *', 'hour', 4],
  ['0 0 0 * *', 'day of month', 4],
  ['0 0 32 * *', 'day of month', 4],
  ['0 0 1,0 * *', 'day of month', 6],
  ['0 0 0-5 * *', 'day of month', 4],
  ['0 0 * 0 *', 'month', 6],
  ['0 0 * 13 *', 'month', 6],
  ['0 0 * 1-4294967297 *', 'month', 8],
  ['0 0 * * 8', 'day of week', 8],
  ['0 0 * * 7-8', 'day of week', 10],
])

refusals('a step', [
  ['*/0 0 * * *', 'minute', 2],
  ['*/00 0 * * *', 'minute', 2],
  ['0-59/0 0 * * *', 'minute', 5],
  ['0 */0,0 * * *', 'hour', 4],
  ['*/ 0 * * *', 'minute', 2],
  ['*/-1 0 * * *', 'minute', 2],
  ['*/* 0 * * *', 'minute', 2],
  ['*/1.5 0 * * *', 'minute', 3],
  ['*/2/2 0 * * *', 'minute', 3],
  ['*//2 0 * * *', 'minute', 2],
  ['/5 0 * * *', 'minute', 0],
  ['5/15 0 * * *', 'minute', 0],
  ['0 1,5/15 * * *', 'hour', 4],
  ['0 0 * * 3/1', 'day of week', 8],
])

refusals('a range', [
  ['3-2 0 * * *', 'minute', 0],
  ['1,3-2/1 0 * * *', 'minute', 2],
  ['0 22-2 * * *', 'hour', 2],
  ['0 0 * * 6-0', 'day of week', 8],
  ['1- 0 * * *', 'minute', 2],
  ['1-,2 0 * * *', 'minute', 2],
  ['-1 0 * * *', 'minute', 0],
  ['1--2 0 * * *', 'minute', 2],
  ['1-2-3 0 * * *', 'minute', 3],
  ['*-5 0 * * *', 'minute', 1],
  ['1-* 0 * * *', 'minute', 2],
  ['*/2-5 0 * * *', 'minute', 3],
])

refusals('a missing item', [
  [', 0 * * *', 'minute', 0],
  [',1 0 * * *', 'minute', 0],
  ['1,, 0 * * *', 'minute', 2],
  ['1, 0 * * *', 'minute', 2],
  ['0 0 1,,2 * *', 'day of month', 6],
  ['0 0 * * *,', 'day of week', 10],
])

refusals('a character that has no place', [
  ['x 0 * * *', 'minute', 0],
  ['5x 0 * * *', 'minute', 1],
  ['+5 0 * * *', 'minute', 0],
  ['1.0 0 * * *', 'minute', 1],
  ['0x5 0 * * *', 'minute', 1],
  ['1e1 0 * * *', 'minute', 1],
  ['** 0 * * *', 'minute', 1],
  ['5* 0 * * *', 'minute', 1],
  ['*5 0 * * *', 'minute', 1],
  ['0 0 * JAN *', 'month', 6],
  ['0 0 * * MON-FRI', 'day of week', 8],
  ['0 0 L * *', 'day of month', 4],
  ['0 0 15W * *', 'day of month', 6],
  ['0 0 ? * *', 'day of month', 4],
  ['0 0 * * 1#2', 'day of week', 9],
  ['H 0 * * *', 'minute', 0],
  ['@daily', 'minute', 0],
  ['# 0 0 * *', 'minute', 0],
  ['0 0 * * *\n', 'day of week', 9],
  ['0 0 * * *\r\n', 'day of week', 9],
  ['\n0 0 * * *', 'minute', 0],
  ['0\n0 * * *', 'minute', 1],
  ['0\u00a00 * * *', 'minute', 1],
  ['0\v0 * * *', 'minute', 1],
  ['0\f0 * * *', 'minute', 1],
  ['\ufeff0 0 * * *', 'minute', 0],
  ['0 0 * * *\u2028', 'day of week', 9],
  ['0 0 * * *\0', 'day of week', 9],
  ['\0', 'minute', 0],
  ['\uff15 0 * * *', 'minute', 0],
  ['٣ 0 * * *', 'minute', 0],
  ['0 0 * * 1\u20135', 'day of week', 9],
  ['😀 0 * * *', 'minute', 0],
  ['0 \ud800 * * *', 'hour', 2],
  // Characters whose lowest byte is that of a star, a digit, a blank.
  ['\u012a 0 * * *', 'minute', 0],
  ['\u0130 0 * * *', 'minute', 0],
  ['0\u01200 * * *', 'minute', 1],
])

refusals('a day that no selected month has', [
  ['0 0 30 2 *', 'day of month', 4],
  ['0 0  31 4,6 *', 'day of month', 5],
  ['0 0 30-31/5 2 *', 'day of month', 4],
  ['0 0 31 2,4,6,9,11 *', 'day of month', 4],
  ['0 0 30,31 2 */2', 'day of month', 4],
  ['0 0 30 2 *,1', 'day of month', 4],
])

describe('the message', () => {
  test('says what, where and what is allowed', () => {
    expect(refusalOf('0 24 * * *').message).toMatch(/"24".*0-23/)
    expect(refusalOf('*/0 * * * *').message).toMatch(/"0"/)
    expect(refusalOf('0 0 * *').message).toMatch(/five/)
  })

  test('is one short line, whatever the text', () => {
    const text = `0 0 \n\u2028\u0000${'9'.repeat(1000)} * *`
    const { message } = refusalOf(text)
    expect(message.length).toBeLessThan(400)
    expect(message).not.toMatch(/[\n\u2028\u0000]/)
  })
})

describe('a text of a million characters', () => {
  const size = 1_000_000
  const huge: [name: string, text: string, field: CronFieldName | 'accepted'][] = [
    ['blanks', ' '.repeat(size), 'expression'],
    ['blanks around an expression', `${' '.repeat(size)}* * * * *${'\t'.repeat(size)}`, 'accepted'],
    ['digits', '1'.repeat(size), 'minute'],
    ['leading zeros', `${'0'.repeat(size)}5 * * * *`, 'accepted'],
    ['a step of digits', `*/${'9'.repeat(size)} * * * *`, 'accepted'],
    ['a list', `${'1,'.repeat(size / 2)}1 * * * *`, 'accepted'],
    ['a list of stars', `${'*/7,'.repeat(size / 4)}1 * * * *`, 'accepted'],
    ['a list of ranges', `* * * * ${'1-5/2,'.repeat(size / 6)}8`, 'day of week'],
    ['commas', ','.repeat(size), 'minute'],
    ['stars', '*'.repeat(size), 'minute'],
    ['dashes', `1${'-'.repeat(size)}2 * * * *`, 'minute'],
    ['slashes', `*${'/'.repeat(size)}2 * * * *`, 'minute'],
    ['fields', '* '.repeat(size / 2), 'expression'],
    ['letters', 'L'.repeat(size), 'minute'],
    ['surrogates', '😀'.repeat(size / 2), 'minute'],
    ['nulls', '\0'.repeat(size), 'minute'],
    ['a wrong end', `* * * * *${' '.repeat(size)}\n`, 'expression'],
  ]

  test.each(huge)('of %s gets its answer', (_name, text, field) => {
    if (field === 'accepted') expect(parseCron(text).next(0)).toBeInstanceOf(Date)
    else expect(refusalOf(text).field).toBe(field)
    expect(parseCron('30 2 * * *', { timeZone: 'UTC' }).next(0)).toEqual(new Date(9_000_000))
  })
})
