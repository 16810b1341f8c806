// `cronfence tasks` on MongoDB: the program as it is built, over a server.

import { beforeEach, expect, it } from 'vitest'
import { cronfence } from '../../cli/program.ts'
import { dueTask, MongoStage } from './stage.ts'

const PREFIX = 'app_'
const stage = new MongoStage('cli')
beforeEach(() => stage.drop())

/** The URL names the database, and after `#` the prefix. */
function tasks(...args: string[]) {
  const url = new URL(stage.url)
  url.pathname = stage.database
  return cronfence(['tasks', ...args, '--store', `${url}#${PREFIX}`])
}

it('tasks are listed, forgotten and purged', async () => {
  const schedules = stage.store({ collectionPrefix: PREFIX }).schedules()
  for (const id of ['nightly', 'weekly']) await schedules.register(dueTask(id), 0)
  await schedules.claimDue('nightly', 'me', 0, 10)
  const { stdout } = tasks('list', '--json')
  const listed = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  expect(listed.sort()).toEqual(['nightly', 'weekly'])
  expect(tasks('forget', 'nightly')).toMatchObject({ status: 0, stdout: 'forgot nightly\n' })
  expect(await schedules.get('nightly')).toBeNull()
  expect(tasks('purge')).toMatchObject({ status: 0, stdout: 'purged 0 tombstones\n' })
  expect((await schedules.register(dueTask('nightly'), 0)).fencingToken).toBe(1)
})

it('a server that is not there is one clear line', () => {
  const url = 'mongodb://me:secret-word@127.0.0.1:1/app'
  const { status, stdout, stderr } = cronfence(['tasks', 'list', '--store', url])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^cronfence: MongoStore at 127\.0\.0\.1:1\/app: .*ECONNREFUSED.*\n$/)
  expect(stderr).not.toContain('secret-word')
})
