// The process zone, where `Intl` has no name for it: JavaScript's own Date then shows UTC, and so
// do we.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const script = `
  import { parseCron } from './dist/engine.js'
  const cron = parseCron('0 12 * * *')
  console.log(cron.timeZone, cron.next(0).toISOString())
`

test.each([
  ['Foo/Bar', 'UTC 1970-01-01T12:00:00.000Z'],
  ['', 'UTC 1970-01-01T12:00:00.000Z'],
  ['Asia/Tokyo', 'Asia/Tokyo 1970-01-01T03:00:00.000Z'],
])('TZ=%s is read as %s', (TZ, expected) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, TZ },
    encoding: 'utf8',
  })
  expect(stdout.trim() || stderr).toBe(expected)
})
