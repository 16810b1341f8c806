// `cronfence tasks` on a real SQLite file.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'
import { cronfence, folder } from './program.ts'

const NASTY = 'bell\u0007\u001b[2J\u202e\nnext'

let file: string
let url: string

beforeEach(async () => {
  file = join(folder(), 'tasks.db')
  url = `sqlite:${file}`
  await withStore(async (store) => {
    const schedules = store.schedules()
    const cron = { kind: 'cron', spec: 'TZ=Europe/Madrid 30 2 * * *' } as const
    await schedules.register({ id: 'backup', ...cron, nextRunAt: 1_774_747_800_000 }, 1000)
    await schedules.register({ id: NASTY, kind: 'every', spec: '60000', nextRunAt: 60_000 }, 1000)
    await schedules.register({ id: 'done', kind: 'delay', spec: '5', nextRunAt: null }, 1000)
    await schedules.claimDue(NASTY, 'me', 60_000, 30_000)
  })
})

async function withStore<T>(work: (store: SQLiteStore) => Promise<T>): Promise<T> {
  const store = new SQLiteStore({ file })
  await store.start()
  try {
    return await work(store)
  } finally {
    await store.stop()
  }
}

test('tasks are listed by their next run, ids with nothing that could disturb a terminal', () => {
  expect(cronfence(['tasks', 'list', '--store', url])).toEqual({
    status: 0,
    stderr: '',
    stdout: `\
ID                                   KIND   SPEC                         NEXT RUN              \
LEASED UNTIL          TOKEN
bell\\u{7}\\u{1b}[2J\\u{202e}\\u{a}next  every  60000                        1970-01-01T00:01:00Z  \
1970-01-01T00:01:30Z  1
backup                               cron   TZ=Europe/Madrid 30 2 * * *  2026-03-29T01:30:00Z  \
-                     0
done                                 delay  5                            -                     \
-                     0
`,
  })
})

test('a slot that was handed back is shown without a lease', async () => {
  await withStore(async (store) => {
    const record = await store.schedules().get(NASTY)
    await store.schedules().renew(NASTY, record?.fencingToken ?? -1, 1)
  })
  const { stdout } = cronfence(['tasks', 'list', '--store', url])
  expect(stdout).toMatch(/1970-01-01T00:01:00Z {2}- +1\n/)
})

test('JSON has a line per task with its id as it is', () => {
  const { stdout } = cronfence(['tasks', 'list', '--store', url, '--json'])
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records.map(({ id }) => id)).toEqual([NASTY, 'backup', 'done'])
  expect(records[0]).toMatchObject({ kind: 'every', leaseOwner: 'me', fencingToken: 1 })
})

test('a forgotten task is gone, but not its token', async () => {
  expect(cronfence(['tasks', 'forget', NASTY, '--store', url])).toEqual({
    status: 0,
    stdout: 'forgot bell\\u{7}\\u{1b}[2J\\u{202e}\\u{a}next\n',
    stderr: '',
  })
  const again = { id: NASTY, kind: 'every', spec: '1', nextRunAt: 1 } as const
  await withStore(async (store) => {
    expect(await store.schedules().get(NASTY)).toBeNull()
    expect(await store.schedules().register(again, 1)).toMatchObject({ fencingToken: 1 })
  })
})

test('a task that is not there cannot be forgotten', () => {
  expect(cronfence(['tasks', 'forget', 'nobody\u001b', '--store', url])).toEqual({
    status: 1,
    stdout: '',
    stderr: 'cronfence: no task has the id "nobody\\u001b"\n',
  })
})

test('tombstones are purged only when they are old enough', async () => {
  await withStore((store) => store.schedules().delete(NASTY))
  const purge = (...age: string[]) => cronfence(['tasks', 'purge', '--store', url, ...age]).stdout
  expect(purge()).toBe('purged 0 tombstones\n')
  expect(purge('--older-than', '1ms')).toBe('purged 1 tombstones\n')
})

test('a row that cannot be read is one clear line, and the others are listed', () => {
  new Database(file)
    .exec('PRAGMA ignore_check_constraints = ON')
    .exec("UPDATE schedules SET kind = 'x' WHERE id = CAST('done' AS BLOB)")
    .close()
  const { status, stdout, stderr } = cronfence(['tasks', 'list', '--store', url])
  expect(status).toBe(0)
  expect(stdout.trimEnd().split('\n')).toHaveLength(3)
  expect(stderr).toMatch(/^cronfence: Table schedules, id "done": kind must be one of [^\n]*\n$/)
})

test('a store that is not there is not created', () => {
  const missing = join(folder(), 'missing.db')
  const { status, stderr } = cronfence(['tasks', 'list', '--store', `sqlite:${missing}`])
  expect(status).toBe(2)
  expect(stderr).toBe(`cronfence: --store sqlite:${missing}: no such file\n`)
  expect(existsSync(missing)).toBe(false)
})
