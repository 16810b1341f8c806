// `cronfence explain`: words, values, runs, and what each kind of transition does to them.

import { expect, test } from 'vitest'
import { cronfence } from './program.ts'

const explain = (expression: string, timeZone: string, ...rest: string[]) =>
  cronfence(['explain', expression, '--tz', timeZone, '--from', '2026-01-01', ...rest])

test('words, values, runs and clock changes stand below each other', () => {
  const { status, stdout, stderr } = explain('30 2 * * 0', 'Europe/Madrid', '-n1')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(`30 2 * * 0   Europe/Madrid
At 02:30, only on Sunday

  minute        30
  hour          2
  day of month  1-31
  month         1-12
  day of week   0

Next runs
  Sun 2026-01-04 02:30      2026-01-04T01:30:00Z

Clock changes in Europe/Madrid in the year from 2026-01-01
  2026-03-29 02:00 -> 2026-03-29 03:00 (+02:00)  moved: 02:30 to 03:30
  2026-10-25 03:00 -> 2026-10-25 02:00 (+01:00)  once, in the first pass: 02:30
`)
})

const NEW_YORK_GAP = '2026-03-08 02:00 -> 2026-03-08 03:00 (-04:00)'
const NEW_YORK_FOLD = '2026-11-01 02:00 -> 2026-11-01 01:00 (-05:00)'

test.each([
  ['30 2 * * *', 'America/New_York', [], `${NEW_YORK_GAP}  moved: 02:30 to 03:30`],
  ['30 2,3 * * *', 'America/New_York', [], `${NEW_YORK_GAP}  moved: 02:30 to 03:30`],
  ['30 2 * * *', 'America/New_York', ['--gap', 'skip'], `${NEW_YORK_GAP}  skipped: 02:30`],
  ['*/15 * * * *', 'America/New_York', [], `${NEW_YORK_GAP}  skipped: 02:00, 02:15, 02:30, 02:45`],
  ['*/30 * * * *', 'America/New_York', ['--gap', 'shift'], 'moved: 02:00, 02:30 to 03:00, 03:30'],
  ['30 1 * * *', 'America/New_York', [], `${NEW_YORK_FOLD}  once, in the first pass: 01:30`],
  ['30 1 * * *', 'America/New_York', ['--fold', 'second'], 'once, in the second pass: 01:30'],
  ['30 1 * * *', 'America/New_York', ['--fold', 'both'], `${NEW_YORK_FOLD}  doubled: 01:30`],
  ['30 */1 * * *', 'America/New_York', [], `${NEW_YORK_FOLD}  doubled: 01:30`],
  ['30 12 * * *', 'America/New_York', [], `${NEW_YORK_GAP}  no run is touched`],
  ['* * * * *', 'Australia/Lord_Howe', [], 'doubled: 01:30 to 01:59 (30 slots)'],
  ['0 0 * * *', 'America/Santiago', [], 'moved: 00:00 to 01:00'],
  ['30 2 * * *', 'Antarctica/Troll', [], 'moved: 02:30 to 04:30'],
  ['0 0 * * *', 'Asia/Kolkata', [], 'from 2026-01-01\n  none\n'],
])('%s in %s %j', (expression, timeZone, options, text) => {
  expect(explain(expression, timeZone, ...options).stdout).toContain(text)
})

test('a whole day that is left out shows the dates', () => {
  const args = ['explain', '0 6 * * *', '--tz', 'Pacific/Apia', '--from', '2011-12-01']
  expect(cronfence(args).stdout).toContain(
    '2011-12-30 00:00 -> 2011-12-31 00:00 (+14:00)  moved: 2011-12-30 06:00 to 2011-12-31 06:00',
  )
})

test('JSON has each affected slot with its runs', () => {
  const { stdout } = explain('30 1,2 * * *', 'Europe/Madrid', '-n1', '--json')
  expect(JSON.parse(stdout)).toEqual({
    expression: '30 1,2 * * *',
    timeZone: 'Europe/Madrid',
    text: 'At 01:30 and 02:30',
    fields: {
      minute: [30],
      hour: [1, 2],
      dayOfMonth: Array.from({ length: 31 }, (_, i) => i + 1),
      month: Array.from({ length: 12 }, (_, i) => i + 1),
      dayOfWeek: [0, 1, 2, 3, 4, 5, 6],
    },
    from: '2026-01-01T00:00:00.000Z',
    runs: [{ utc: '2026-01-01T00:30:00Z', wall: '2026-01-01T01:30:00+01:00' }],
    effects: [
      {
        kind: 'moved',
        transition: '2026-03-29T01:00:00Z',
        wall: '2026-03-29T02:30',
        runs: [{ utc: '2026-03-29T01:30:00Z', wall: '2026-03-29T03:30:00+02:00' }],
      },
      {
        kind: 'once',
        transition: '2026-10-25T01:00:00Z',
        wall: '2026-10-25T02:30',
        runs: [{ utc: '2026-10-25T00:30:00Z', wall: '2026-10-25T02:30:00+02:00' }],
      },
    ],
  })
})

test('an expression without a run is explained all the same', () => {
  const { status, stdout } = cronfence(['explain', '0 0 29 2 *', '--from', '2097-01-01'])
  expect(status).toBe(0)
  expect(stdout).toContain('\nNo run within the horizon of four years.\n')
})

test('the days of the extended dialect stand as items of their fields', () => {
  const { stdout } = explain('0 0 9 1,L,L-2 JAN 1-3,5#2,SUNL 2026', 'UTC', '--extended', '-n1')
  expect(stdout).toContain(`
  second        0
  minute        0
  hour          9
  day of month  1,L,L-2
  month         1
  day of week   1-3,5#2,0L
  year          2026

`)
  expect(explain('0 9 LW * *', 'UTC', '--extended').stdout).toContain('\n  day of month  LW\n')
  expect(explain('0 9 15W * *', 'UTC', '--extended').stdout).toContain('\n  day of month  15W\n')
})

test('@reboot has no values and no run', () => {
  const { status, stdout } = explain('@reboot', 'UTC', '--extended')
  expect(status).toBe(0)
  expect(stdout).toContain(`
No run: @reboot means the start of a machine, and no time.
`)
  expect(stdout).not.toContain('minute')
})
