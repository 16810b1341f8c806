// What the extended dialect refuses, where, and what the errors of both dialects suggest.
import { describe, expect, test } from 'vitest'
import { CronSyntaxError, parseCron } from '../../bindings/index.ts'

function refusal(text: string, dialect: 'standard' | 'extended'): CronSyntaxError {
  try {
    parseCron(text, { dialect, timeZone: 'UTC' })
  } catch (error) {
    if (error instanceof CronSyntaxError) return error
    throw error
  }
  throw new Error(`${text} was accepted`)
}

describe('the extended dialect refuses', () => {
  test.each<[text: string, field: string, column: number, part: string]>([
    ['L * * * *', 'minute', 1, '"L" has no place'],
    ['0 0 32W * *', 'day of month', 5, '"32" is out of range'],
    ['0 0 0W * *', 'day of month', 5, '"0" is out of range'],
    ['0 0 1-15W * *', 'day of month', 5, 'alone'],
    ['0 0 1,15W * *', 'day of month', 7, 'alone'],
    ['0 0 15W,1 * *', 'day of month', 5, 'alone'],
    ['0 0 LW,1 * *', 'day of month', 5, 'alone'],
    ['0 0 W * *', 'day of month', 5, 'alone'],
    ['0 0 * * MON#6', 'day of week', 13, '1 to 5'],
    ['0 0 * * 2#0', 'day of week', 11, '1 to 5'],
    ['0 0 * * 8#1', 'day of week', 9, '"8" is out of range'],
    ['0 0 * * #2', 'day of week', 9, '"#" has no place'],
    ['0 0 * * 1#', 'day of week', 11, 'missing'],
    ['0 0 * * MON-FRI#2', 'day of week', 16, '"#" has no place'],
    ['0 0 L-31 * *', 'day of month', 7, '0 to 30'],
    ['0 0 L- * *', 'day of month', 7, 'missing'],
    ['0 0 1-L * *', 'day of month', 7, '"L" has no place'],
    ['0 0 * * L', 'day of week', 9, 'lacks its weekday'],
    ['0 0 l * *', 'day of month', 5, 'capitals'],
    ['0 0 15w * *', 'day of month', 7, 'capitals'],
    ['0 0 * * 5l', 'day of week', 10, 'capitals'],
    ['h * * * *', 'minute', 1, 'capitals'],
    ['H * * * *', 'minute', 1, 'seed'],
    ['0 0 +1 * *', 'day of month', 5, 'open the day of week'],
    ['0 0 * * MON,+TUE', 'day of week', 13, 'open the day of week'],
    ['0 0 * * ++MON', 'day of week', 10, 'open the day of week'],
    ['0 0 * * +', 'day of week', 10, 'missing'],
    ['? 0 * * *', 'minute', 1, '"?" has no place'],
    ['0 0 1 ? *', 'month', 7, '"?" has no place'],
    ['0 0 0 1 1 * 1969', 'year', 13, '1970-2199'],
    ['0 0 0 1 1 * 2200', 'year', 13, '1970-2199'],
    ['0 0 0 1 1 * 2030-2026', 'year', 13, 'ends before it starts'],
    ['0 0 0 1 1 * H', 'year', 13, '"H" has no place'],
    ['60 0 0 * * *', 'second', 1, '0-59'],
    ['@dayly', 'expression', 1, '@daily'],
    ['@Daily', 'expression', 1, 'small letters'],
    ['@dailyyyyyyyyyyyyyyyy', 'expression', 1, '@daily'],
    ['@daily 0', 'expression', 8, 'alone'],
    ['0 0 1 JANUARY *', 'month', 7, '"JANUARY" is no name'],
    ['0 0 1 MON *', 'month', 7, 'JAN to DEC'],
    ['0 0 * * FRIDAY', 'day of week', 9, 'SUN to SAT'],
    ['0 0 MON * *', 'day of month', 5, '"M" has no place'],
    ['0 0 1٢ * *', 'day of month', 6, 'has no place'],
    ['0 0 ١ * *', 'day of month', 5, 'has no place'],
    ['0x1 0 * * *', 'minute', 2, '"x" has no place'],
    ['5/0 * * * *', 'minute', 3, 'zero'],
    ['H(1-70) * * * *', 'minute', 5, '0-59'],
    ['0 0 0 * * * * *', 'expression', 15, 'follows the last field'],
    ['0 0 * *', 'expression', 8, 'ends before its last field'],
  ])('%s', (text, field, column, part) => {
    const error = refusal(text, 'extended')
    expect([error.field, error.index + 1]).toEqual([field, column])
    expect(error.message).toContain(part)
    expect(error.message).toContain(`column ${column}`)
    expect(error.message).not.toContain('the dialect "extended"')
  })
})

describe('an error of the standard dialect', () => {
  test.each([
    '@daily',
    '0 0 L * *',
    '0 0 1 JAN *',
    '0 22-2 * * *',
    '5/15 * * * *',
    '0 0 1 * +MON',
    '0 0 ? * *',
  ])('says of %s that the extended dialect takes it', (text) => {
    expect(refusal(text, 'standard').message).toMatch(/; the dialect "extended" takes it$/)
  })

  test.each<[text: string, hint: string]>([
    ['H * * * *', 'takes it when it is given a seed'],
    ['0 0 30 2 *', 'takes it, and it has no run there'],
    ['*/5 * * * * *', 'with the first of six fields as seconds'],
    ['0 0 0 1 1 * 2030', 'with the first of seven fields as seconds and the last as years'],
    ['0 0 12 ? * 2-4', 'day of week "2-4" is Tuesday, Wednesday, Thursday: 1 is Monday here'],
    ['0 0 12 ? * 6L', 'day of week "6L" is Saturday: 1 is Monday here'],
    ['0 0 12 ? * 1#2', 'day of week "1#2" is Monday: 1 is Monday here'],
  ])('says of %s what it would mean', (text, hint) => {
    expect(refusal(text, 'standard').message).toContain(hint)
  })

  test.each(['61 * * * *', '0 0 L-31 * *', '0 0 0 * * * * *', '0 0 * *', ''])(
    'says nothing of the kind for %s',
    (text) => {
      expect(refusal(text, 'standard').message).not.toContain('extended')
    },
  )

  test.each(['0 0 12 ? * MON-FRI', '0 0 12 * * MON#2', '0 0 12 ? * *'])(
    'leaves Quartz aside where %s has no number for a weekday',
    (text) => {
      expect(refusal(text, 'standard').message).not.toContain('Quartz')
    },
  )
})
