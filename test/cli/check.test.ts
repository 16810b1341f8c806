// `cronfence check`: what is good, and where the rest goes wrong.

import { expect, test } from 'vitest'
import { cronfence, file } from './program.ts'

test('a list without fault is counted', () => {
  const list = [
    '# nightly',
    '',
    '  \t',
    'MAILTO = ops@example.com',
    'CRON_TZ=Europe/Madrid',
    "TZ = 'America/New_York'",
    '30 2 * * * backup --full',
    '\t*/15\t*  * * 1-5\tpoll % x',
    '0 0 1 1 *',
  ]
  for (const end of ['\n', '\r\n']) {
    const path = file(`\ufeff${list.join(end)}`)
    expect(cronfence(['check', path])).toEqual({
      status: 0,
      stdout: `${path}: 3 good, 0 bad\n`,
      stderr: '',
    })
  }
})

test.each([
  ['61 * * * * x', '1:1', ['minute', '0-59']],
  ['  0 24 * * * x', '1:5', ['hour', '0-23']],
  ['0\t0 32 * * x', '1:5', ['day of month', '1-31']],
  ['0 0 * * MON-FRI x', '1:9', ['day of week']],
  ['0 0 30 2 * x', '1:5', ['30']],
  ['0 0 * *', '1:8', ['five']],
  ['x', '1:1', ['minute']],
  ['@daily x y z a b', '1:1', ['@daily', 'extended']],
  ['0 0 9 * * * x', '1:11', ['"*" follows the last field', 'the first of six fields as seconds']],
  ['0 0 9 * * MON-FRI x', '1:11', ['"MON-FRI" follows', 'extended']],
  ['0 0 9 ? * 2#1,5L 2030 x', '1:7', ['seven fields', '1 is Monday here']],
  ['0 0 * * *,, x', '1:11', ['missing']],
  ['0 0 \u001b[31m * * x', '1:5', ['\\u001b']],
  ['CRON_TZ=Europe/Madird', '1:9', ['Europe/Madird', 'IANA']],
  ['  TZ = "" ', '1:8', ['IANA']],
])('%j is bad at %s', (line, position, words) => {
  const { status, stdout, stderr } = cronfence(['check', '-'], `${line}\n`)
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
  const [report = '', total] = stdout.split('\n')
  expect(report.startsWith(`stdin:${position}: `), report).toBe(true)
  for (const word of words) expect(report).toContain(word)
  expect(total).toBe('stdin: 0 good, 1 bad')
})

test('with --extended, words behind five fields are fields when they can be nothing else', () => {
  const lines = [
    '@daily x',
    '@reboot x',
    'H H(0-5) * * * x',
    '0 9 * * MON x',
    '0 0 9 * * MON-FRI x',
    '0 0 9 * * +fri#L',
    '0 0 9 1W * ? x',
    '0 0 9 * * 1-5 2030-2040/2 x',
    '0 0 9 * * H 2030 x',
    '0 0 9 * * 1,FRI#2,5L * x',
    // Words that only begin like a field.
    '0 9 * * 1 7z a',
    '0 9 * * 1 mon-backup --full',
    '0 9 * * 1 30days',
    '0 9 * * 1 Hello',
  ]
  const { stdout } = cronfence(['check', '-', '--extended'], lines.join('\n'))
  expect(stdout).toBe(`stdin: ${lines.length} good, 0 bad\n`)
})

test.each([
  ['0 0 9 * * 8 x', '1:11', 'day of week'],
  ['0 0 9 * * 5#6 x', '1:13', '1 to 5 times'],
  ['0 0 9 * * 1 1969 x', '1:13', '1970-2199'],
  ['* * * * * * * * x', '1:15', 'follows the last field'],
  ['@dayly x', '1:1', '@daily'],
])('with --extended, %j is bad at %s', (line, position, word) => {
  const { status, stdout } = cronfence(['check', '-', '--extended'], line)
  expect(status).toBe(1)
  expect(stdout.startsWith(`stdin:${position}: `), stdout).toBe(true)
  expect(stdout).toContain(word)
})

test('every bad line is reported, and a bad zone leaves the one before in place', () => {
  const lines = ['CRON_TZ=UTC', 'a b c d e', '0 0 * * * ok', 'TZ=No/Where', '0 0 * * * ok', '9']
  const { status, stdout } = cronfence(['check', '-'], lines.join('\n'))
  expect(status).toBe(1)
  expect(stdout.match(/^stdin:\d+/gm)).toEqual(['stdin:2', 'stdin:4', 'stdin:6'])
  expect(stdout).toContain('stdin: 2 good, 3 bad\n')
})

test.each([
  ['a line beyond the limit', `${'1'.repeat(5_000_000)} * * * *`, 'stdin:1:1: the line is longer'],
  ['a line of blanks with a fault at its end', `${' '.repeat(1_000_000)}x`, 'stdin:1:1000001:'],
  ['a value with a million blanks', `TZ=x${' '.repeat(1_000_000)}y`, 'stdin:1:4:'],
  ['a list of half a million items', `${'1,'.repeat(500_000)} * * * *`, 'stdin:1:1000001:'],
])('%s is reported in one short line', (_, line, report) => {
  const { status, stdout } = cronfence(['check', '-'], `${line}\n* * * * * next\n`)
  expect(status).toBe(1)
  expect(stdout.startsWith(report), stdout.slice(0, 200)).toBe(true)
  expect(stdout.length).toBeLessThan(1000)
  expect(stdout).toContain('stdin: 1 good, 1 bad\n')
})

test('lines and characters split between reads are put together', () => {
  const line = '* * * * * señal ☂ 🕰\n'
  const { stdout } = cronfence(['check', '-'], line.repeat(100_000))
  expect(stdout).toBe('stdin: 100000 good, 0 bad\n')
})

test('the bundled list is good', () => {
  const path = new URL('../../examples/crontab.txt', import.meta.url).pathname
  expect(cronfence(['check', path]).stdout).toBe(`${path}: 31 good, 0 bad\n`)
})
