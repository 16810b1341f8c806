// Calls to a store that are given up, and the time in which nothing is sent.

import { expect, test } from 'vitest'
import type { CompletePatch } from '../../src/index.ts'
import { StoreCalls } from '../../src/scheduler/store-calls.ts'
import { FaultyStore } from './faulty-store.ts'
import { World } from './harness.ts'

const patch: CompletePatch = { nextRunAt: 1, plan: { kind: 'every', spec: '1' } }
const lost = { code: 'STORE_OUTCOME_UNKNOWN', message: expect.stringMatching(/stopped before/) }

test('a sealed store is sent nothing, and what has no answer is given up at once', async () => {
  const world = new World()
  const faulty = new FaultyStore(world.store)
  const calls = new StoreCalls(faulty.proxy, world.clock)
  faulty.fault = () => 'silent'
  const before = calls.get(['a'])
  calls.seal()
  expect(await before).toMatchObject([lost])
  expect([await calls.get(['a']), await calls.list()]).toMatchObject([[lost], lost])
  expect([faulty.count('getMany'), faulty.count('list')]).toEqual([1, 0])
  expect(world.clock.pendingTimers).toBe(0)
  faulty.fault = () => undefined
  calls.reopen()
  expect(await calls.get(['a'])).toEqual([null])
})

test('a commit is not sent after the look at its row was given up', async () => {
  const world = new World()
  const faulty = new FaultyStore(world.store, { single: true })
  const calls = new StoreCalls(faulty.proxy, world.clock)
  faulty.fault = (method) => (method === 'get' ? 'silent' : undefined)
  const answers: unknown[] = []
  const onAnswer = (_: number, answer: unknown) => answers.push(answer)
  const commits = [{ id: 'a', fencingToken: 1, patch }]
  const done = calls.complete(commits, 0, { onAnswer, answerMs: 1000 })
  calls.seal()
  await done
  expect(answers).toMatchObject([lost])
  expect(faulty.count('complete')).toBe(0)
})
