// `cronfence batch`: a line out for every line in, whatever is in it and however many there are.

import { once } from 'node:events'
import { expect, test } from 'vitest'
import { cronfence, file, start } from './program.ts'

test('each line gets its next run, in order, and keeps its columns', () => {
  const rows = [
    ['30 2 * * *\tEurope/Madrid\t2026-03-28T12:00Z', '2026-03-29T01:30:00Z'],
    ['30 2 * * *\tEurope/Madrid\t2026-03-28T12:00:00.000+01:00\ta\tb', '2026-03-29T01:30:00Z'],
    ['* * * * *\tUTC\t-60000', '1970-01-01T00:00:00Z'],
    ['* * * * *\tUTC\t-60001', '1969-12-31T23:59:00Z'],
    ['0 0 29 2 *\tlocal\t2097-01-01', '-'],
    ['0 12 * * *\tlocal\t2026-01-01 00:00Z', '2026-01-01T06:30:00Z'],
  ] as const
  const input = rows.map(([line]) => line).join('\n')
  const expected = rows.map((row) => `${row.join('\t')}\n`).join('')
  expect(cronfence(['batch'], input)).toEqual({ status: 0, stdout: expected, stderr: '' })
  expect(cronfence(['batch', '-'], `${input}\n`).stdout).toBe(expected)
  expect(cronfence(['batch', file(input)]).stdout).toBe(expected)
})

test('blank lines stay, and no line is added', () => {
  expect(cronfence(['batch'], '\n\n')).toEqual({ status: 0, stdout: '\n\n', stderr: '' })
  expect(cronfence(['batch'], '').stdout).toBe('')
})

test.each([
  ['0 0 * * *', '1:1', 'three columns'],
  ['0 0 * * *\tUTC', '1:1', 'three columns'],
  ['60 0 * * *\tUTC\t0', '1:1', '0-59'],
  ['0 0 * 13 *\tUTC\t0', '1:7', '1-12'],
  ['0 0 * * *\tUTC+1:75\t0', '1:11', 'IANA'],
  ['0 0 * * *\t\t0', '1:11', 'IANA'],
  ['0 0 * * *\tUTC\t', '1:15', 'epoch ms'],
  ['0 0 * * *\tUTC\ttomorrow', '1:15', 'epoch ms'],
  ['0 0 * * *\tUTC\t2026-02-30T00:00Z', '1:15', 'epoch ms'],
  ['0 0 * * *\tUTC\t2026-02-03T25:00Z', '1:15', 'epoch ms'],
  ['0 0 * * *\tUTC\t2026-02-03T00:00', '1:15', 'epoch ms'],
  ['0 0 * * *\tUTC\t8640000000000001', '1:15', 'epoch ms'],
  ['0 0 * * *\tUTC\t1e3', '1:15', 'epoch ms'],
  ['\u001b]0;x\u0007', '1:1', 'three columns'],
])('%j is bad at %s, and the lines after it go on', (line, position, word) => {
  const good = '* * * * *\tUTC\t0'
  const { status, stdout, stderr } = cronfence(['batch'], `${line}\n${good}\n`)
  expect(status).toBe(1)
  expect(stdout).toBe(`${line}\t!\n${good}\t1970-01-01T00:01:00Z\n`)
  expect(stderr.startsWith(`stdin:${position}: `), stderr).toBe(true)
  expect(stderr).toContain(word)
  expect(stderr.trimEnd()).not.toMatch(/\p{Cc}/u)
})

test('the same text twice, once bad and once good in another zone, is kept apart', () => {
  const { stdout } = cronfence(
    ['batch'],
    ['0 0 * * *\tNo/Where\t0', '0 0 * * *\tUTC\t0', '0 0 * * *\tAsia/Tokyo\t0'].join('\n'),
  )
  expect(stdout.match(/[^\t\n]+$/gm)).toEqual(['!', '1970-01-02T00:00:00Z', '1970-01-01T15:00:00Z'])
})

test('more distinct expressions than are kept get their runs all the same', () => {
  const day = 86_400_000
  const line = (i: number) =>
    `${i % 60} ${Math.floor(i / 60) % 24} * * ${Math.floor(i / 1440) % 7}-6\t` +
    `${i < 10_080 ? 'UTC' : `Etc/GMT+${Math.floor(i / 10_080)}`}\t${3 * day}`
  const lines = Array.from({ length: 120_960 }, (_, i) => line(i))
  const { status, stdout } = cronfence(['batch'], `${[...lines, ...lines].join('\n')}\n`)
  expect(status).toBe(0)
  const answers = stdout.trimEnd().split('\n')
  expect(answers).toHaveLength(2 * lines.length)
  expect(answers.slice(0, lines.length)).toEqual(answers.slice(lines.length))
  // 1970-01-04 was a Sunday.
  expect(answers[61]).toBe(`1 1 * * 0-6\tUTC\t${3 * day}\t1970-01-04T01:01:00Z`)
  expect(answers[10_081]).toBe(`1 0 * * 0-6\tEtc/GMT+1\t${3 * day}\t1970-01-04T01:01:00Z`)
})

test('input far larger than its heap passes through', async () => {
  const child = start(['batch', '-'], ['--max-old-space-size=32'])
  const block = `*/7 3 * * *\tAmerica/New_York\t1700000000000\t${'x'.repeat(200)}\n`.repeat(1000)
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  for (let i = 0; i < 300; i++) {
    if (!child.stdin.write(block)) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  expect(await once(child, 'close')).toEqual([0, null])
  expect(bytes).toBe(300 * (block.length + 1000 * '\t2023-11-15T08:00:00Z'.length))
})

test.each([
  [
    'short texts in long lines',
    (i: number) => [`${i % 60} ${(i / 60) | 0} * * *`, 'x'.repeat(2e5)],
  ],
  ['long texts', (i: number) => [`${'0,'.repeat(1e5)}${i % 60} ${(i / 60) | 0} * * *`, '']],
])('%s, all of them different, leave nothing behind', async (_, texts) => {
  const child = start(['batch', '-'], ['--max-old-space-size=64'])
  child.stdout.resume()
  for (let i = 0; i < 700; i++) {
    const [expression, more] = texts(i)
    const line = `${expression}\tUTC\t0\t${more}\n`
    if (!child.stdin.write(line)) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  expect(await once(child, 'close')).toEqual([0, null])
})

test('a reader that leaves ends the program quietly', async () => {
  const child = start(['batch', '-'])
  child.stdin.on('error', () => {})
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk
  })
  const ended = once(child, 'close')
  child.stdin.write('0 0 * * *\tUTC\t0\n')
  await once(child.stdout, 'data')
  child.stdout.destroy()
  child.stdin.write('0 0 * * *\tUTC\t0\n'.repeat(100_000))
  expect(await ended).toEqual([0, null])
  expect(complaints).toBe('')
})
