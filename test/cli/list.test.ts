// `cronfence list`: the table that `npm start` shows.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cronfence, file, folder, shell } from './program.ts'

const LIST = `CRON_TZ=Europe/Madrid
30 2 * * *  backup
CRON_TZ=America/New_York
*/15 * * * *  poll
0 0 1 * 5  both days
`

test('an expression stands beside its runs and the clock changes that touch it', () => {
  const { status, stdout, stderr } = cronfence(['list', '-', '--from', '2026-02-01'], LIST)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe(`\
EXPRESSION, ZONE                             NEXT RUNS IN ZONE     IN UTC            CLOCK CHANGES

30 2 * * *                                   Sun 2026-02-01 02:30  2026-02-01 01:30  03-29 moved 1
Europe/Madrid                                Mon 2026-02-02 02:30  2026-02-02 01:30
At 02:30                                     Tue 2026-02-03 02:30  2026-02-03 01:30

*/15 * * * *                                 Sat 2026-01-31 19:15  2026-02-01 00:15  03-08 skipped 4
America/New_York                             Sat 2026-01-31 19:30  2026-02-01 00:30  11-01 doubled 4
Every 15 minutes                             Sat 2026-01-31 19:45  2026-02-01 00:45

0 0 1 * 5                                    Sun 2026-02-01 00:00  2026-02-01 05:00
America/New_York                             Fri 2026-02-06 00:00  2026-02-06 05:00
At 00:00, on day 1 of the month or only on   Fri 2026-02-13 00:00  2026-02-13 05:00
Friday

Clock changes of the coming year that touch a run: the day, and how many slots
  moved     the wall time does not exist on that day: the run is later by the gap's length
  skipped   the wall time does not exist on that day: no run
  doubled   the wall time happens twice on that day: a run in both passes
`)
})

test('a bad line is reported on stderr and the others are shown', () => {
  const path = file('* * * *\n5 4 * * * x\n')
  const { status, stdout, stderr } = cronfence(['list', path])
  expect(status).toBe(1)
  expect(stderr).toMatch(/^.*list\.txt:1:8: [^\n]*five[^\n]*\n$/)
  expect(stdout).toContain('At 04:05')
})

test.each([
  ['is missing', 'missing.txt', 'no such file'],
  ['is a folder', '.', 'is a directory'],
])('a list that %s is one line on stderr, and no table', (_what, name, problem) => {
  const path = join(folder(), name)
  expect(cronfence(['list', path])).toEqual({
    ...{ status: 2, stdout: '', stderr: `cronfence: ${path}: ${problem}\n` },
  })
})

test('an empty list is a table of no rows', () => {
  const { status, stdout } = cronfence(['list', '-'], '')
  expect(status).toBe(0)
  expect(stdout).toMatch(/^EXPRESSION, ZONE .*\n\nClock changes of the coming year/)
})

test('an expression without a run in four years says so', () => {
  const { stdout } = cronfence(['list', '-', '--from', '2097-01-01'], '0 0 29 2 * x\n')
  expect(stdout).toContain('no run in four years')
})

test.each([60, 80, 200])('lines of the bundled list fit %s columns where they can', (width) => {
  const path = new URL('../../examples/crontab.txt', import.meta.url).pathname
  const { status, stdout } = shell(`COLUMNS=${width} $CRONFENCE list ${path}`)
  expect(status).toBe(0)
  const [table = ''] = stdout.split('Clock changes of')
  const longest = Math.max(...table.split('\n').map((line) => line.length))
  expect(longest).toBeLessThanOrEqual(Math.max(width, 80))
})
