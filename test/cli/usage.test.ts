// What every command has in common: bad input of every kind, help, and readers that leave.

import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { caretLines } from '../../src/cli/caret.ts'
import { cronfence, file, folder, shell } from './program.ts'

const ROOT = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

describe('what is asked for wrongly gets one line on stderr and exit code 2', () => {
  test.each([
    [['nxt'], 'unknown command "nxt"; the commands are next, explain'],
    [['constructor'], 'unknown command "constructor"'],
    [['--vrsion'], 'unknown option "--vrsion"'],
    [['next'], 'no expression given'],
    [['next', '*', '*', '*', '*', '*'], 'not 5 arguments; quote it'],
    [['next', ''], 'five'],
    [['next', '61 * * * *'], 'minute, column 1'],
    [['next', '* * * * MON'], 'day of week'],
    [['next', '* * * * *\n* * * * *'], 'column 10'],
    [['next', '* * * * *', '--tz', 'Mars/Olympus'], 'Mars/Olympus'],
    [['next', '* * * * *', '--tz', '\u001b[31m'], 'timeZone'],
    [['next', '* * * * *', '--tz'], "'--tz <value>' argument missing"],
    [['next', '* * * * *', '--tz='], 'timeZone'],
    [['next', '* * * * *', '-n', '0'], '-n is a whole number from 1'],
    [['next', '* * * * *', '-n', '1.5'], '-n is a whole number from 1'],
    [['next', '* * * * *', '-n', '1e3'], '-n is a whole number from 1'],
    [['next', '* * * * *', '-n', '9999999999'], '-n is a whole number from 1'],
    [['next', '* * * * *', '-n', '-5'], "'-n'"],
    [['next', '* * * * *', '--from', '-1'], "'--from' argument is ambiguous; a dash may begin"],
    [['next', 'H 0 * * *', '--extended'], 'needs the option seed'],
    [['next', '* * * * *', '--from', 'yesterday'], '--from takes an ISO date-time'],
    [['next', '* * * * *', '--from', '2026-02-29T00:00Z'], '--from takes'],
    [['next', '* * * * *', '--from', '2026-02-28T00:00'], '--from takes'],
    [['next', '* * * * *', '--from', '2026-02-28T00:00+25:00'], '--from takes'],
    [['next', '* * * * *', '--gap', 'move'], '--gap is one of shift, skip'],
    [['next', '* * * * *', '--fold', ''], '--fold is one of first, second, both'],
    [['next', '* * * * *', '--json=yes'], "'--json' does not take an argument"],
    [['explain', '* * * * *', '--verbose'], "Unknown option '--verbose'"],
    [['check'], 'no input given'],
    [['check', 'a', 'b'], 'one input expected, not 2'],
    [['check', '/no/such/file'], '/no/such/file: no such file'],
    [['check', ROOT], `${ROOT}: is a directory`],
    [['check', ''], 'no such file'],
    [['list', '-', '--from', 'x'], '--from takes'],
    [['batch', '/no/such/file'], 'no such file'],
    [['batch', 'a', 'b'], 'one input expected, not 2'],
    [['tasks'], 'tasks needs one of list, forget, purge'],
    [['tasks', 'toString'], 'tasks needs one of list, forget, purge'],
    [['tasks', 'list'], '--store is missing: sqlite:FILE'],
    [['tasks', 'list', 'x', '--store', 'sqlite:x'], 'tasks list takes no arguments'],
    [['tasks', 'forget', '--store', 'sqlite:x'], 'tasks forget takes ID'],
    [['tasks', 'list', '--store', 'redis+x://y'], '--store takes sqlite:FILE'],
    [['tasks', 'list', '--store', `sqlite:${ROOT}`], 'SQLite'],
    [['tasks', 'purge', '--store', `sqlite:${ROOT}`, '--older-than', 'x'], 'SQLite'],
  ])('%j', (args, text) => {
    const { status, stdout, stderr } = cronfence(args)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(text)
    expect(stderr).toMatch(/^cronfence: \P{Cc}{1,500}\n$/u)
  })

  test('an expression of 100,000 digits', () => {
    const { status, stderr } = cronfence(['next', `${'9'.repeat(100_000)} * * * *`])
    expect(status).toBe(2)
    expect(stderr).toMatch(/^cronfence: [^\n]{1,500}0-59\n$/)
  })

  test('a file that is no text', () => {
    const path = file(Uint8Array.from([0x41, 0x0a, 0x7f, 0x45, 0x00, 0x01]), 'program')
    for (const command of ['check', 'list', 'batch']) {
      const { status, stderr } = cronfence([command, path])
      expect(status).toBe(2)
      expect(stderr).toContain(`${path}: line 2: not text, it holds a NUL byte\n`)
    }
  })

  test('a file that may not be read', ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may read every file')
    const path = file('')
    chmodSync(path, 0)
    expect(cronfence(['check', path]).stderr).toBe(`cronfence: ${path}: permission denied\n`)
  })

  test('a file that is no database', () => {
    const path = file('hello', 'tasks.db')
    const { status, stderr } = cronfence(['tasks', 'list', '--store', `sqlite:${path}`])
    expect(status).toBe(2)
    expect(stderr).toMatch(/^cronfence: .*not a database.*\n$/)
  })

  test('an output that is full', ({ skip }) => {
    skip(process.platform !== 'linux', 'only Linux has a device that is always full')
    const { status, stderr } = shell("$CRONFENCE next '* * * * *' > /dev/full")
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: 'cronfence: ENOSPC: no space left on device, write\n',
    })
  })
})

describe('help and version', () => {
  test.each([['--help'], ['-h'], ['help']])('%s shows the commands', (arg) => {
    const { status, stdout, stderr } = cronfence([arg])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    for (const name of ['next', 'explain', 'check', 'list', 'batch', 'tasks']) {
      expect(stdout).toContain(`  cronfence ${name} `)
    }
  })

  test.each([['next'], ['explain'], ['check'], ['list'], ['batch'], ['tasks']])(
    '%s has a help of its own, in 100 columns',
    (name) => {
      const { status, stdout } = cronfence([name, '--help'])
      expect(status).toBe(0)
      expect(stdout.startsWith(`cronfence ${name} `)).toBe(true)
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
      expect(cronfence([name, '-h']).stdout).toBe(stdout)
    },
  )

  test('no command at all shows the help on stderr, with exit code 2', () => {
    const { status, stdout, stderr } = cronfence([])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toBe(cronfence(['--help']).stdout)
  })

  test.each(['--version', '-v'])('%s shows the version of the package', (arg) => {
    expect(cronfence([arg])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  })
})

describe('a reader that leaves', () => {
  test.each([
    "next '* * * * *' -n 100000 | head -n 1",
    "next '* * * * *' >&-",
    '--help | true',
    `list ${join(ROOT, 'examples/crontab.txt')} | head -n 1`,
  ])('%s is no failure', (command) => {
    const { status, stderr } = shell(`$CRONFENCE ${command}`)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})

describe('the mark below a fault', () => {
  test.each([
    ['* 61 * * *', 2, 80, '  * 61 * * *\n    ^\n'],
    ['*', 1, 80, '  *\n   ^\n'],
    ['*\t\u001b', 2, 80, '  *\\u{9}\\u{1b}\n        ^\n'],
    ['*'.repeat(79), 3, 80, ''],
  ])('%j at %i in %i columns', (expression, index, width, lines) => {
    expect(caretLines({ expression, index }, width)).toBe(lines)
  })
})

test('a folder of its own is no matter to the program', () => {
  const { status, stdout } = shell(`cd ${folder()} && $CRONFENCE --version`)
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${version}\n` })
})
