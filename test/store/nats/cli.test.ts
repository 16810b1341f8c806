// `cronfence tasks` on a bucket: the program as it is built, over a server.

import { expect, it } from 'vitest'
import { cronfence } from '../../cli/program.ts'
import { EVERY, natsStage } from './stage.ts'

const stage = natsStage()

const tasks = (...args: string[]) =>
  cronfence(['tasks', ...args, '--store', `${stage.url}#${stage.bucket}`])

it('tasks are listed, forgotten and purged', async () => {
  const schedules = stage.store().schedules()
  for (const id of ['nightly', 'weekly']) await schedules.register({ id, ...EVERY }, 0)
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
  expect((await schedules.register({ id: 'nightly', ...EVERY }, 0)).fencingToken).toBe(1)
})

it('a bucket that does not exist is one clear line, and is not made', async () => {
  const { status, stdout, stderr } = tasks('list')
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^cronfence: .*create the bucket, or name another one\n$/)
  await expect((await stage.kv()).status()).rejects.toThrow(/not found/)
})
