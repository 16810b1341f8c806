// The extended dialect construct by construct: which dates and times each means, in UTC. A row is a
// text and its runs after an instant.
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'
import { expectedRuns, readCases } from './cases.ts'

const dialect = 'extended'

function parse(text: string, horizonYears = 4) {
  return parseCron(text, { dialect, timeZone: 'UTC', horizonYears })
}

/** The first runs of a text, walked forth by next and back by prev. */
function runsOf(text: string, from: string, count: number, horizonYears?: number): string[] {
  const cron = parse(text, horizonYears)
  const runs: string[] = []
  let at = new Date(from)
  for (let i = 0; i < count; i++) {
    const run = cron.next(at)
    if (run === null) return [...runs, 'none']
    expect(cron.prev(run.getTime() + 1)).toEqual(run)
    runs.push(run.toISOString().slice(0, 19).replace('T00:00:00', ''))
    at = run
  }
  return runs
}

function rows(from: string, table: [text: string, runs: string][], horizonYears?: number): void {
  test.each(table)('%s', (text, runs) => {
    const wanted = runs.split(' ')
    expect(runsOf(text, from, wanted.length, horizonYears)).toEqual(wanted)
  })
}

describe.each([...readCases()])('%s, the lines of dialect E', (_file, cases) => {
  test('give every run, and a refusal where one is due', () => {
    for (const one of cases.filter((line) => line.dialect === 'E')) {
      const cronOf = () => parseCron(one.expr, { dialect, timeZone: one.zone ?? 'UTC' })
      if (one.error) {
        expect(cronOf, one.id).toThrow(expect.objectContaining({ name: 'CronSyntaxError' }))
        continue
      }
      let at = Date.parse(one.from!)
      for (const run of expectedRuns(one)) {
        const next = cronOf().next(at)
        expect(next?.getTime() ?? null, one.id).toBe(run)
        at = run ?? at
      }
    }
  })
})

// 2026-01-01 is a Thursday; months from there on: 31 days, 28, 31, 30, 31, 30.
describe('days told from the end of the month', () => {
  rows('2026-01-01', [
    ['0 0 L * *', '2026-01-31 2026-02-28 2026-03-31 2026-04-30'],
    ['0 0 L-0 * *', '2026-01-31 2026-02-28'],
    ['0 0 L-3 * *', '2026-01-28 2026-02-25 2026-03-28'],
    ['0 0 L-30 * *', '2026-03-01 2026-05-01 2026-07-01'],
    ['0 0 L,L-1,15 * *', '2026-01-15 2026-01-30 2026-01-31 2026-02-15'],
    ['0 0 L 2 *', '2026-02-28 2027-02-28 2028-02-29'],
    ['0 0 L * MON', '2026-01-05 2026-01-12 2026-01-19 2026-01-26 2026-01-31'],
    ['0 0 L * +SAT', '2026-01-31 2026-02-28 2026-10-31'],
  ])
})

describe('the weekday nearest to a day', () => {
  rows('2026-01-01', [
    ['0 0 15W * *', '2026-01-15 2026-02-16 2026-03-16 2026-04-15'],
    ['0 0 1W * *', '2026-02-02 2026-03-02 2026-04-01 2026-05-01 2026-06-01 2026-07-01 2026-08-03'],
    ['0 0 31W * *', '2026-01-30 2026-03-31 2026-05-29'],
    ['0 0 30W 8 *', '2026-08-31'],
    ['0 0 28W 2 *', '2026-02-27'],
    ['0 0 LW * *', '2026-01-30 2026-02-27 2026-03-31 2026-04-30 2026-05-29'],
    ['0 0 31W 2 *', 'none'],
  ])
})

describe('weekdays counted in the month', () => {
  rows('2026-01-01', [
    ['0 0 * * MON#1', '2026-01-05 2026-02-02'],
    ['0 0 * * 5#5', '2026-01-30 2026-05-29 2026-07-31'],
    ['0 0 * * 0#1,7#2', '2026-01-04 2026-01-11 2026-02-01'],
    ['0 0 * * FRI#L', '2026-01-30 2026-02-27'],
    ['0 0 * * 5L', '2026-01-30 2026-02-27'],
    ['0 0 * * friL', '2026-01-30 2026-02-27'],
    ['0 0 * * 7L', '2026-01-25 2026-02-22'],
    ['0 0 * * MON#1,WED', '2026-01-05 2026-01-07 2026-01-14'],
    ['0 0 13 * +FRI', '2026-02-13 2026-03-13 2026-11-13'],
    ['0 0 13 * FRI#2', '2026-01-09 2026-01-13 2026-02-13 2026-03-13 2026-04-10'],
  ])
})

describe('ranges that wrap, and a step on one value', () => {
  rows('2026-01-01T00:30', [
    ['0 22-2/2 * * *', '2026-01-01T02:00:00 2026-01-01T22:00:00 2026-01-02'],
    ['50-10/15 3 * * *', '2026-01-01T03:05:00 2026-01-01T03:50:00 2026-01-02T03:05:00'],
    ['0 0 * * FRI-MON', '2026-01-02 2026-01-03 2026-01-04 2026-01-05 2026-01-09'],
    ['0 0 * * 7-1', '2026-01-04 2026-01-05 2026-01-11'],
    ['0 0 * * 5-1/2', '2026-01-02 2026-01-04 2026-01-09'],
    ['0 0 1 NOV-FEB *', '2026-02-01 2026-11-01 2026-12-01 2027-01-01'],
    ['0 0 30-2 * *', '2026-01-02 2026-01-30 2026-01-31 2026-02-01 2026-02-02 2026-03-01'],
    ['40/10 7 * * *', '2026-01-01T07:40:00 2026-01-01T07:50:00 2026-01-02T07:40:00'],
    ['0 0 1 OCT/2 *', '2026-10-01 2026-12-01 2027-10-01'],
    ['0 0 * * 5/2', '2026-01-02 2026-01-04 2026-01-09'],
  ])
})

describe('seconds and years', () => {
  rows('2026-01-01', [
    ['*/25 * * * * *', '2026-01-01T00:00:25 2026-01-01T00:00:50 2026-01-01T00:01:00'],
    ['58-2/2 59 23 * * *', '2026-01-01T23:59:00 2026-01-01T23:59:02 2026-01-01T23:59:58'],
    ['0 0 0 1 1 * */2', '2028-01-01'],
    ['0 0 0 1 1 * 2026/2', '2028-01-01'],
    ['0 0 0 1 7 * 2020-2027', '2026-07-01 2027-07-01 none'],
    ['0 0 0 L 2 ? 2027,2028', '2027-02-28 2028-02-29 none'],
    ['0 0 0 1 1 * 2025', 'none'],
    ['0 0 0 1 1 * 2040', 'none'],
  ])
  rows(
    '2026-01-01',
    [
      ['0 0 0 29 2 * 2096', '2096-02-29 none'],
      ['0 0 0 31 12 * 2199', '2199-12-31 none'],
      ['0 0 0 29 2 * 2097', 'none'],
      ['0 0 29 2 +MON#5', '2044-02-29 2072-02-29'],
      ['0 0 30 2 *', 'none'],
      ['0 0 31 2,4,6,9,11 ?', 'none'],
    ],
    400,
  )

  test('years are absolute, however far away the question is asked', () => {
    const cron = parse('0 0 0 1 6 * 1970,2199', 400)
    const [first, last] = [new Date('1970-06-01'), new Date('2199-06-01')]
    expect(cron.next(new Date('1575-01-01'))).toEqual(first)
    expect(cron.next(new Date('1560-01-01'))).toBeNull()
    expect(cron.prev(new Date('2590-01-01'))).toEqual(last)
    expect(cron.prev(new Date('2620-01-01'))).toBeNull()
    expect(cron.next(last)).toBeNull()
    expect(cron.prev(first)).toBeNull()
    const [from, until] = [new Date('-200000-01-01'), new Date('+200000-01-01')]
    expect(cron.between(from, until)).toEqual([first, last])
    expect(cron.count(from, until)).toBe(2)
  })

  test('a run matches for a second when the text has seconds, for a minute otherwise', () => {
    const run = Date.parse('2026-01-01T09:00')
    const bySecond = parse('0 0 9 * * *')
    const byMinute = parse('0 9 * * *')
    const spans = [-1, 0, 999, 1000, 59_999, 60_000]
    expect(spans.map((ms) => bySecond.matches(run + ms))).toEqual([0, 1, 1, 0, 0, 0].map(Boolean))
    expect(spans.map((ms) => byMinute.matches(run + ms))).toEqual([0, 1, 1, 1, 1, 0].map(Boolean))
  })
})

//   Sunday 2026-03-29                                Sunday 2026-10-25
//   UTC   00:59:59   01:00:00                        UTC   00:59:59   01:00:00
//         |----------|-----                                |----------|-----
//   wall  01:59:59   03:00:00                        wall  02:59:59   02:00:00
describe('gap and fold, to the second, in Europe/Madrid', () => {
  test.each<[text: string, gap: string[], fold: string[]]>([
    ['15 30 2 * * *', ['01:30:15'], ['00:30:15']],
    ['15 30 */2 * * *', [], ['00:30:15', '01:30:15']],
    ['59 59 2 L 3,10 * 2020-2030', [], []],
    ['0 30 2 ? * SUN#L', ['01:30:00'], ['00:30:00']],
  ])('%s', (text, gap, fold) => {
    const cron = parseCron(text, { dialect, timeZone: 'Europe/Madrid' })
    const runs = (day: string) =>
      cron
        .between(new Date(`${day}T00:30Z`), new Date(`${day}T01:45Z`))
        .map((run) => run.toISOString().slice(11, 19))
    expect([runs('2026-03-29'), runs('2026-10-25')]).toEqual([gap, fold])
  })
})

describe('macros', () => {
  test.each([
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * 0'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    [' @hourly\t', '0 * * * *'],
  ])('%s is %s', (macro, text) => {
    expect(parse(macro).fields).toEqual(parse(text).fields)
    // Santiago skips the midnight of 2026-09-06: what a wildcard hour is counts too.
    const inSantiago = (expression: string) =>
      parseCron(expression, { dialect, timeZone: 'America/Santiago' }).between(
        new Date('2026-09-01'),
        new Date('2026-10-02'),
      )
    expect(inSantiago(macro)).toEqual(inSantiago(text))
  })

  test('@reboot is valid, marked, and has no run', () => {
    const cron = parse('@reboot')
    expect([cron.isReboot, parse('@daily').isReboot, parse('0 0 30 2 *').isReboot]).toEqual([
      true,
      false,
      false,
    ])
    expect([cron.next(), cron.prev(), cron.matches(0), cron.count(0, 1e13)]).toEqual([
      null,
      null,
      false,
      0,
    ])
    expect(cron.fields.minute).toEqual([])
  })
})

describe('what a text says', () => {
  test('its fields name seconds, years and special days where it has them', () => {
    expect(parse('5,10 0 0 L-3,15,L 1 MON#2,5L,3 2026,2199').fields).toEqual({
      second: [5, 10],
      minute: [0],
      hour: [0],
      dayOfMonth: [15],
      month: [1],
      dayOfWeek: [3],
      year: [2026, 2199],
      lastDays: [0, 3],
      nthDaysOfWeek: [
        { dayOfWeek: 1, nth: 2 },
        { dayOfWeek: 5, nth: 'last' },
      ],
    })
    expect(parse('0 0 15W * *').fields.nearestWeekday).toBe(15)
    expect(parse('0 0 LW * *').fields.nearestWeekday).toBe('last')
    expect(Object.keys(parse('0 0 1 * *').fields)).toEqual([
      'minute',
      'hour',
      'dayOfMonth',
      'month',
      'dayOfWeek',
    ])
  })

  test('the dialect is told, and standard is the default', () => {
    expect(parse('0 0 1 * *').dialect).toBe('extended')
    expect(parseCron('0 0 1 * *').dialect).toBe('standard')
  })

  test('more expressions than slots keep their own days and years', () => {
    const all = Array.from({ length: 3000 }, (_, i) =>
      parse(`0 0 0 L * * ${2030 + (i % 100)}`, 400),
    )
    const from = new Date('2026-01-01')
    for (const [i, cron] of all.entries()) {
      expect(cron.next(from)?.getUTCFullYear()).toBe(2030 + (i % 100))
    }
  })
})
