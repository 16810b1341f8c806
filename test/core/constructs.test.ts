// Who takes which construct, and whether it means the same: the columns of the README's table that
// can be run. Quartz, cronie and OCPS stand there from their documents.

import { readFileSync } from 'node:fs'
import { CronExpressionParser } from 'cron-parser'
import { Cron } from 'croner'
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../bindings/index.ts'

const from = new Date('2026-01-01')
const RUNS = 3

type Runs = (text: string) => (number | undefined)[]

const contestants: Readonly<Record<string, Runs>> = {
  standard: (text) => ours(text, 'standard'),
  extended: (text) => ours(text, 'extended'),
  croner: (text) =>
    new Cron(text, { timezone: 'UTC', paused: true }).nextRuns(RUNS, from).map(Number),
  'cron-parser': (text) => {
    // Without a seed it draws its hashes by chance.
    const options = { currentDate: from, tz: 'UTC', hashSeed: 'x' }
    const expression = CronExpressionParser.parse(text, options)
    return Array.from({ length: RUNS }, () => expression.next().getTime())
  },
}

function ours(text: string, dialect: 'standard' | 'extended'): number[] {
  const cron = parseCron(text, { dialect, timeZone: 'UTC', horizonYears: 50, seed: 'x' })
  return [...cron.occurrences({ from: from.getTime() + 1, limit: RUNS })].map(Number)
}

/** `yes` for the runs of the extended dialect, `no` for a refusal, `differs` for other runs. */
function cellOf(runs: Runs, text: string): string {
  let found: (number | undefined)[]
  try {
    found = runs(text)
  } catch {
    return 'no'
  }
  return String(found) === String(ours(text, 'extended')) ? 'yes' : 'differs'
}

type Cells = [standard: string, extended: string, croner: string, cronParser: string]

// The cells of a row are those of each of its texts.
const rows: [construct: string, texts: string[], ...cells: Cells][] = [
  ['lists, ranges, steps', ['*/5 9-17 * * 1-5', '1,2-6/2 0 1 1 *'], 'yes', 'yes', 'yes', 'yes'],
  ['0 and 7 for Sunday', ['0 0 * * 0', '0 0 * * 7', '0 0 * * 5-7'], 'yes', 'yes', 'yes', 'yes'],
  ['a step wider than its range', ['*/70 * * * *'], 'yes', 'yes', 'no', 'yes'],
  ['days: either', ['0 0 1 * 1'], 'yes', 'yes', 'yes', 'yes'],
  ['days: both where one has a star', ['0 0 */2 * 1'], 'yes', 'yes', 'differs', 'differs'],
  ['names', ['0 0 * JAN mon', '0 9 * * MON-FRI'], 'no', 'yes', 'yes', 'yes'],
  ['seconds', ['30 0 9 * * *'], 'no', 'yes', 'yes', 'yes'],
  ['years', ['0 0 9 1 1 * 2028'], 'no', 'yes', 'yes', 'no'],
  [
    '`@daily` and the like',
    ['@yearly', '@monthly', '@weekly', '@daily', '@hourly'],
    'no',
    'yes',
    'yes',
    'yes',
  ],
  ['`@midnight`', ['@midnight'], 'no', 'yes', 'yes', 'no'],
  ['`L`', ['0 0 L * *', '0 0 1,L * *'], 'no', 'yes', 'yes', 'yes'],
  ['`L-n`', ['0 0 L-3 * *'], 'no', 'yes', 'no', 'no'],
  ['`nW`', ['0 0 15W * *', '0 0 31W * *'], 'no', 'yes', 'yes', 'no'],
  ['`LW`', ['0 0 LW * *'], 'no', 'yes', 'yes', 'no'],
  ['`d#n`', ['0 0 * * 1#2', '0 0 * * MON#2'], 'no', 'yes', 'yes', 'yes'],
  ['`dL`', ['0 0 * * 5L'], 'no', 'yes', 'yes', 'yes'],
  ['`d#L`', ['0 0 * * 5#L', '0 0 * * FRI#L'], 'no', 'yes', 'yes', 'no'],
  ['`?` as a star', ['0 0 ? * 1', '0 0 1 * ?'], 'no', 'yes', 'yes', 'yes'],
  ['`+`', ['0 0 1 * +1'], 'no', 'yes', 'yes', 'no'],
  ['`N/S`', ['5/20 * * * *', '0 0 * * 5/2'], 'no', 'yes', 'no', 'yes'],
  ['ranges that wrap', ['0 22-2 * * *', '0 0 * * FRI-MON'], 'no', 'yes', 'no', 'no'],
  ['`H`', ['H H * * *', 'H(0-29) * * * *', 'H/15 * * * *'], 'no', 'yes', 'no', 'differs'],
  ['an impossible date', ['0 0 30 2 *'], 'no', 'yes', 'yes', 'no'],
]

describe.each(rows)('%s', (_construct, texts, ...cells) => {
  test.each(Object.entries(contestants).map(([name, runs], i) => [name, cells[i], runs] as const))(
    '%s: %s',
    (_name, cell, runs) => {
      expect(texts.map((text) => cellOf(runs, text))).toEqual(texts.map(() => cell))
    },
  )
})

test('@reboot is taken by cronfence extended alone', () => {
  expect(Object.values(contestants).map((runs) => cellOf(runs, '@reboot'))).toEqual([
    'no',
    'yes',
    'no',
    'no',
  ])
})

const table = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\| .*\|$/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

test('the README says the same', () => {
  for (const [construct, , ...cells] of rows) {
    const row = table.find((one) => one[1] === construct)
    expect(row?.slice(2, 6), construct).toEqual(cells)
  }
})
