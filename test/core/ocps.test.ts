// Conformance with the Open Cron Pattern Specification, 1.0 to 1.4, of the extended dialect: a row
// for each requirement, in our words, with the number of its section. Where we differ on purpose is
// below, with the reason.
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'

const options = { dialect: 'extended', timeZone: 'UTC' } as const

/** Whether the text has a run at a UTC time, `YYYY-MM-DD HH:MM` with `:SS` where it matters. */
function runsAt(text: string, time: string): boolean {
  const instant = Date.parse(`${time.replace(' ', 'T')}Z`)
  return parseCron(text, options).between(instant, instant + 1).length === 1
}

function isAccepted(text: string): boolean {
  try {
    parseCron(text, options)
    return true
  } catch (error) {
    expect(error).toMatchObject({ name: 'CronSyntaxError' })
    return false
  }
}

type Row = [section: string, requirement: string, text: string, hits: string[], misses: string[]]

function matching(rows: Row[]): void {
  test.each(rows)('%s %s: %s', (_section, _requirement, text, hits, misses) => {
    expect(hits.filter((time) => !runsAt(text, time))).toEqual([])
    expect(misses.filter((time) => runsAt(text, time))).toEqual([])
  })
}

function parsing(rows: [section: string, requirement: string, text: string, is: boolean][]): void {
  test.each(rows)('%s %s: %j', (_section, _requirement, text, accepted) => {
    expect(isAccepted(text)).toBe(accepted)
  })
}

describe('OCPS 1.0, the five fields', () => {
  parsing([
    ['4.1', 'five fields, apart by one blank or many', '0\t0  1 1 *', true],
    ['4.1', 'blanks around the text are ignored', '  0 0 1 1 * \t', true],
    ['4.1', 'fewer fields are refused', '0 0 1 1', false],
    ['4.1', 'any other character is refused', '0 0 1 1 $', false],
    ['4.3', 'other white space is refused', '0\u00a00 1 1 *', false],
    ['6.2', 'a value out of range is refused', '60 0 * * *', false],
    ['6.2', 'a day out of range is refused', '0 0 32 * *', false],
    ['6.2', 'a step of zero is refused', '*/0 * * * *', false],
    ['5.1', 'a step needs something before it', '0 0 /30 * *', false],
    ['6.2', 'an impossible date is valid', '* * 31 2 *', true],
  ])
  matching([
    ['4.2', 'each field limits', '15 10 * * *', ['2025-03-10 10:15'], ['2025-03-10 10:14']],
    ['4.2', 'names, any case', '30 8 * jan mOn', ['2025-01-06 08:30'], ['2025-02-03 08:30']],
    ['4.2', '0 and 7 are Sunday', '0 0 * * 7', ['2025-10-05 00:00'], ['2025-10-06 00:00']],
    ['4.2', '0 and 7 are Sunday', '0 0 * * 0', ['2025-10-05 00:00'], ['2025-10-06 00:00']],
    ['5', 'a list', '0,30 1 * * *', ['2025-03-10 01:30'], ['2025-03-10 01:15']],
    ['5', 'a range with both ends', '0 9-17 * * *', ['2025-03-10 17:00'], ['2025-03-10 18:00']],
    [
      '5.1',
      'a step from a range’s start',
      '5-59/15 9 * * *',
      ['2025-03-10 09:50'],
      ['2025-03-10 09:15'],
    ],
    ['5.1', 'lists of anything', '1,5-7,*/50 0 * * *', ['2025-03-10 00:50'], ['2025-03-10 00:02']],
    [
      '6.1',
      'both days given: either',
      '0 12 1 * MON',
      ['2025-10-01 12:00', '2025-10-06 12:00'],
      ['2025-10-07 12:00'],
    ],
    ['6.1', 'a star leaves the other', '0 12 * * MON', ['2025-10-06 12:00'], ['2025-10-07 12:00']],
    [
      '6.1',
      'a full range is no star',
      '0 12 1-31 * MON',
      ['2025-10-07 12:00'],
      ['2025-10-08 11:00'],
    ],
  ])

  test('6.2 an impossible date says that it never runs', () => {
    expect(parseCron('0 0 31 2 *', options).next()).toBeNull()
  })

  test('6.4 the time zone comes from outside the text', () => {
    const cron = parseCron('0 9 * * *', { ...options, timeZone: 'Asia/Tokyo' })
    expect(cron.next(new Date('2025-03-10'))).toEqual(new Date('2025-03-11T00:00Z'))
  })
})

describe('OCPS 1.1, nicknames', () => {
  matching([
    ['3.1', '@yearly', '@yearly', ['2026-01-01 00:00'], ['2026-01-02 00:00']],
    ['3.1', '@annually', '@annually', ['2026-01-01 00:00'], ['2026-02-01 00:00']],
    ['3.1', '@monthly', '@monthly', ['2026-02-01 00:00'], ['2026-02-02 00:00']],
    ['3.1', '@weekly', '@weekly', ['2025-10-05 00:00'], ['2025-10-06 00:00']],
    ['3.1', '@daily', '@daily', ['2025-10-07 00:00'], ['2025-10-07 00:01']],
    ['3.1', '@midnight', '@midnight', ['2025-10-07 00:00'], ['2025-10-07 01:00']],
    ['3.1', '@hourly', '@hourly', ['2025-10-07 10:00'], ['2025-10-07 10:01']],
  ])
  parsing([
    ['3.1', 'nicknames have their own case', '@Daily', false],
    ['3.1', 'a nickname stands alone', '@daily 0 0 * * *', false],
    ['3.2', '@reboot is no error of syntax', '@reboot', true],
  ])

  test('3.2 @reboot is marked, so that whoever runs tasks can refuse it', () => {
    expect(parseCron('@reboot', options).isReboot).toBe(true)
  })
})

describe('OCPS 1.2, seconds and years', () => {
  matching([
    [
      '3.1',
      'five fields mean second 0',
      '15 10 * * *',
      ['2025-03-10 10:15:00'],
      ['2025-03-10 10:15:30'],
    ],
    [
      '3.1',
      'six: the second first',
      '30 15 10 * * *',
      ['2025-03-10 10:15:30'],
      ['2025-03-10 10:15:29'],
    ],
    ['3.1', 'nicknames mean second 0', '@hourly', ['2025-03-10 10:00:00'], ['2025-03-10 10:00:01']],
    [
      '3.2',
      'seven: the year last',
      '0 15 10 * * * 2025',
      ['2025-03-10 10:15:00'],
      ['2026-03-10 10:15:00'],
    ],
    [
      '3.2',
      'a step of years counts from 1970',
      '0 0 0 1 1 * */3',
      ['2027-01-01 00:00:00'],
      ['2026-01-01 00:00:00'],
    ],
    [
      '3.2',
      'ranges and steps of years',
      '0 0 0 1 1 * 1970-2199/2',
      ['2026-01-01 00:00:00'],
      ['2025-01-01 00:00:00'],
    ],
  ])
  parsing([
    ['3.1', 'seconds are 0 to 59', '60 0 0 * * *', false],
    ['3.2', 'years start at 1970', '0 0 0 1 1 * 1969', false],
    ['3.2', 'years end at 2199', '0 0 0 1 1 * 2200', false],
    ['3.2', 'eight fields are refused', '0 0 0 1 1 * 2025 0', false],
  ])
})

describe('OCPS 1.3, L, # and W', () => {
  matching([
    [
      '3.1',
      'L in days',
      '0 0 L * *',
      ['2025-02-28 00:00', '2024-02-29 00:00'],
      ['2024-02-28 00:00'],
    ],
    ['3.1', 'L behind a weekday', '0 0 * * 5L', ['2025-02-28 00:00'], ['2025-02-21 00:00']],
    ['3.1', '#L behind a name', '0 0 * * FRI#L', ['2025-02-28 00:00'], ['2025-02-21 00:00']],
    ['3.2', '# in weekdays', '0 0 * * 2#3', ['2025-06-17 00:00'], ['2025-06-10 00:00']],
    ['3.2', '# behind a name', '0 0 * * MON#1', ['2025-06-02 00:00'], ['2025-06-09 00:00']],
    ['3.3', 'W on a weekday', '0 12 15W * *', ['2025-10-15 12:00'], ['2025-10-16 12:00']],
    [
      '3.3',
      'W on a Saturday goes back',
      '0 12 15W * *',
      ['2025-11-14 12:00'],
      ['2025-11-17 12:00'],
    ],
    ['3.3', 'W on a Sunday goes on', '0 12 15W * *', ['2025-06-16 12:00'], ['2025-06-15 12:00']],
    [
      '3.3',
      'W stays in the month',
      '0 12 1W * *',
      ['2025-02-03 12:00'],
      ['2025-01-31 12:00', '2025-02-01 12:00'],
    ],
  ])
  parsing([
    ['3.2', 'n is 1 to 5', '0 0 * * 2#6', false],
    ['3.3', 'W takes no range', '0 12 1-15W * *', false],
    ['3.3', 'W takes no list', '0 12 1W,15W * *', false],
  ])
})

describe('OCPS 1.4, how days combine', () => {
  matching([
    [
      '4.1.1',
      'either by default',
      '0 12 1 * MON',
      ['2025-09-08 12:00', '2025-10-01 12:00'],
      ['2025-10-07 12:00'],
    ],
    [
      '4.1.2',
      'both with +',
      '0 12 1 * +MON',
      ['2025-09-01 12:00'],
      ['2025-09-08 12:00', '2025-10-01 12:00'],
    ],
    ['4.2', '? is a star', '0 12 ? * MON', ['2025-10-06 12:00'], ['2025-10-07 12:00']],
    ['4.2', '? is a star', '0 12 1 * ?', ['2025-10-01 12:00'], ['2025-10-07 12:00']],
  ])
  parsing([
    ['4.1.2', '+ only opens the weekdays', '0 12 +1 * MON', false],
    ['4.1.2', '+ only opens the weekdays', '0 12 1 * MON,+TUE', false],
    ['4.2', '? only in the day fields', '? 12 * * *', false],
  ])

  test('4.3.1 a time in a fold runs once, the first time', () => {
    const cron = parseCron('30 2 * * *', { ...options, timeZone: 'Europe/Madrid' })
    const [from, until] = [new Date('2025-10-25T22:00Z'), new Date('2025-10-26T22:00Z')]
    expect(cron.between(from, until)).toEqual([new Date('2025-10-26T00:30Z')])
  })

  test('4.3.2 the calendar is the proleptic Gregorian one', () => {
    const from = new Date('1582-10-05')
    expect(parseCron('0 0 * * *', options).next(from)).toEqual(new Date('1582-10-06'))
  })
})

describe('where cronfence differs', () => {
  test('1.0 6.2: a descending range wraps, as people write it; standard refuses it', () => {
    expect(isAccepted('0 22-2 * * *')).toBe(true)
    expect(() => parseCron('0 22-2 * * *')).toThrow('ends before it starts')
  })

  test('1.0 6.1: a star with a step leaves the other day field too', () => {
    expect(runsAt('0 0 */2 * MON', '2025-10-13 00:00')).toBe(true)
    expect(runsAt('0 0 */2 * MON', '2025-10-15 00:00')).toBe(false)
  })

  test('1.0 6.2: a step on one value goes on to the field’s end; standard refuses it', () => {
    expect(runsAt('10/20 * * * *', '2025-10-13 00:50')).toBe(true)
    expect(() => parseCron('10/20 * * * *')).toThrow('has a step but is no range')
  })

  test('1.4 4.3.1: a time in a gap runs moved, and is skipped on request', () => {
    const runs = (gap?: 'skip') =>
      parseCron('30 2 * * *', { ...options, timeZone: 'Europe/Madrid', gap }).between(
        new Date('2025-03-29T22:00Z'),
        new Date('2025-03-30T22:00Z'),
      )
    expect(runs()).toEqual([new Date('2025-03-30T01:30Z')])
    expect(runs('skip')).toEqual([])
  })

  test('1.4 4.3.2: what no Date holds is an error; the years 1 to 9999 are no bound', () => {
    const cron = parseCron('0 0 1 1 *', options)
    expect(() => cron.next(8.64e15 + 1)).toThrow(RangeError)
    expect(cron.next(Date.UTC(10_000, 5))).toEqual(new Date(Date.UTC(10_001, 0)))
  })
})
