// `cronfence next`: the runs, as text and as JSON.

import { expect, test } from 'vitest'
import { cronfence } from './program.ts'

const from = (instant: string, ...rest: string[]) => ['--from', instant, ...rest]

//   Madrid, 2026-03-29   01:59:59 +01:00 | gap 02:00-03:00 | 03:00 +02:00
//   Madrid, 2026-10-25   02:59:59 +02:00 | fold back to 02:00 +01:00
test.each([
  {
    name: 'a line per run: UTC, a tab, the wall time with its offset',
    args: ['30 2 * * *', '--tz', 'Europe/Madrid', ...from('2026-03-28T00:00Z'), '-n', '3'],
    lines: [
      '2026-03-28T01:30:00Z\t2026-03-28T02:30:00+01:00',
      '2026-03-29T01:30:00Z\t2026-03-29T03:30:00+02:00',
      '2026-03-30T00:30:00Z\t2026-03-30T02:30:00+02:00',
    ],
  },
  {
    name: 'the gap policy is taken',
    args: ['30 2 * * *', '--tz', 'Europe/Madrid', '--gap', 'skip', ...from('2026-03-29'), '-n1'],
    lines: ['2026-03-30T00:30:00Z\t2026-03-30T02:30:00+02:00'],
  },
  {
    name: 'the fold policy is taken',
    args: ['30 2 * * *', '--tz', 'Europe/Madrid', '--fold', 'both', ...from('2026-10-25'), '-n2'],
    lines: [
      '2026-10-25T00:30:00Z\t2026-10-25T02:30:00+02:00',
      '2026-10-25T01:30:00Z\t2026-10-25T02:30:00+01:00',
    ],
  },
  {
    name: 'the zone is the process zone by default',
    args: ['0 9 * * *', ...from('2026-01-01T00:00Z'), '-n1'],
    lines: ['2026-01-01T03:30:00Z\t2026-01-01T09:00:00+05:30'],
  },
  {
    name: 'a run at the start is not after it, and epoch ms are an instant',
    args: ['* * * * *', '--tz', 'UTC', ...from('60000'), '-n1'],
    lines: ['1970-01-01T00:02:00Z\t1970-01-01T00:02:00+00:00'],
  },
  {
    name: 'a moved run need not fall on second 0',
    args: ['0 0 * * *', '--tz', 'Africa/Monrovia', ...from('1972-01-06T12:00Z'), '-n1'],
    lines: ['1972-01-07T00:44:30Z\t1972-01-07T00:44:30+00:00'],
  },
])('$name', ({ args, lines }) => {
  const { status, stdout, stderr } = cronfence(['next', ...args])
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: lines.map((line) => `${line}\n`).join(''),
    stderr: '',
  })
})

test('five runs are shown by default', () => {
  expect(cronfence(['next', '* * * * *']).stdout.trim().split('\n')).toHaveLength(5)
})

test('many runs are written in full', () => {
  const { stdout } = cronfence(['next', '* * * * *', '--tz', 'UTC', '--from', '0', '-n', '12345'])
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(12345)
  expect(lines.at(-1)).toMatch(/^1970-01-09T13:45:00Z/)
})

test('JSON is one object', () => {
  const { stdout } = cronfence([
    'next',
    '0 0 29 2 *',
    '--tz',
    'UTC',
    '--from',
    '2026-01-01',
    '-n1',
    '--json',
  ])
  expect(JSON.parse(stdout)).toEqual({
    expression: '0 0 29 2 *',
    timeZone: 'UTC',
    from: '2026-01-01T00:00:00.000Z',
    runs: [{ utc: '2028-02-29T00:00:00Z', wall: '2028-02-29T00:00:00+00:00' }],
  })
})

test('no run within the horizon is said on stderr, with exit code 1', () => {
  const { status, stdout, stderr } = cronfence(['next', '0 0 29 2 *', '--from', '2097-01-01'])
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'cronfence: no run within the horizon of four years\n',
  })
})

test('@reboot is said to be no time', () => {
  expect(cronfence(['next', '@reboot', '--extended'])).toEqual({
    status: 1,
    stdout: '',
    stderr: 'cronfence: no run: @reboot means the start of a machine, and no time\n',
  })
})

test('H is chosen by --seed in next, list and batch alike', () => {
  const options = ['--extended', '--seed', 'invoices']
  const from = ['--from', '2026-01-01']
  const { stdout } = cronfence(['next', 'H H * * *', '--tz', 'UTC', '-n1', ...from, ...options])
  const [run = ''] = stdout.split('\t')
  expect(run).toMatch(/^2026-01-01T\d\d:\d\d:00Z$/)

  const list = cronfence(['list', '-', ...from, ...options], 'TZ=UTC\nH H * * * x\n')
  expect(list.stdout).toContain(run.replace('T', ' ').slice(0, 16))
  const line = 'H H * * *\tUTC\t2026-01-01'
  expect(cronfence(['batch', ...options], line).stdout).toBe(`${line}\t${run}\n`)

  const unseeded = cronfence(['next', 'H H * * *', '--extended'])
  expect(unseeded).toMatchObject({ status: 2, stdout: '' })
  expect(unseeded.stderr).toContain('needs the option seed')
})
