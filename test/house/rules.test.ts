// The checker can fail: each rule on an invented file that breaks it, and on the nearest one that
// does not.

import { describe, expect, test } from 'vitest'
import { complaints, type Ratchet } from './rules.ts'

const NO_EXCEPTIONS: Ratchet = { fileLines: {}, functionLines: {} }

/** Complaints about one file; a configuration starts it, so that it counts as used. */
function about(path: string, text: string, ratchet = NO_EXCEPTIONS): string[] {
  const starter = { path: 'package.json', text: `{ "scripts": { "start": "tsx ${path}" } }` }
  return complaints([{ path, text }, starter], ratchet).map((complaint) => complaint.text)
}

const opened = (code: string) => `// What this is for.\n${code}\n`
const lines = (count: number) => Array(count).fill('let x = 1').join('\n')
const longFunction = (count: number) => `function long() {\n${lines(count - 2)}\n}`

describe('a file', () => {
  test.each([
    { rule: 'columns', text: opened(`// ${'x'.repeat(98)}`), says: 'has 101 columns' },
    { rule: 'columns', text: opened(`// ${'x'.repeat(97)}`), says: undefined },
    { rule: 'opening', text: 'let x = 1\n', says: 'does not open with a comment' },
    { rule: 'opening', text: '#!/usr/bin/env node\n// What this is for.\n', says: undefined },
    { rule: 'length', text: opened(lines(300)), says: 'has 301 lines' },
    { rule: 'length', text: opened(lines(299)), says: undefined },
    { rule: 'function', text: opened(longFunction(71)), says: 'long has 71 lines' },
    { rule: 'function', text: opened(longFunction(70)), says: undefined },
    {
      rule: 'function',
      text: opened(`describe('x', () => {\n${lines(80)}\n})`),
      says: undefined,
    },
    { rule: 'TODO', text: opened('// TODO: later'), says: 'TODO without the number' },
    { rule: 'TODO', text: opened('// TODO(#12): later'), says: undefined },
    { rule: 'word', text: opened('let runTimestamp = 1'), says: 'say "instant"' },
    { rule: 'word', text: opened('let job_id = 1'), says: 'say "task"' },
    { rule: 'word', text: opened('let dstTime = 1'), says: 'say "wall time"' },
    { rule: 'word', text: opened('let instant = jobless'), says: undefined },
    { rule: 'word', text: opened("register('job')"), says: undefined },
    { rule: 'word', text: opened("register('the job')"), says: 'say "task"' },
    { rule: 'machine', text: opened("let x = '/home/someone/x'"), says: 'a path of one machine' },
    { rule: 'machine', text: opened("let x = '../home/someone'"), says: undefined },
    { rule: 'host', text: opened('// https://registry.npmjs.org/x'), says: "a registry's host" },
  ])('is held to the rule of $rule: $says', ({ text, says }) => {
    const found = about('src/task.ts', text)
    if (says === undefined) expect(found).toEqual([])
    else expect(found).toEqual([expect.stringContaining(says)])
  })

  test("of a peer in a benchmark may use the peer's words", () => {
    expect(about('bench/engine/peers/bullmq.ts', opened('queue.addJob()'))).toEqual([])
    expect(about('bench/engine/peers.ts', opened('queue.addJob()'))).toHaveLength(1)
  })

  test.each([
    { path: 'src/utils.ts', says: 'named after no idea' },
    { path: 'src/utils/task.ts', says: 'named after no idea' },
    { path: 'src/dueQueue.ts', says: 'kebab-case' },
  ])('called $path has a better name', ({ path, says }) => {
    expect(about(path, opened('let x = 1'))).toEqual([expect.stringContaining(says)])
  })

  test('that is imported by nobody is found, one that is named or imported is not', () => {
    const files = [
      { path: 'src/one.ts', text: opened("import './two.ts'\nnew URL('./three.ts', base)") },
      { path: 'src/two.ts', text: opened('let x = 1') },
      { path: 'src/three.ts', text: opened('let x = 1') },
    ]
    const found = complaints(files, NO_EXCEPTIONS)
    expect(found).toEqual([{ path: 'src/one.ts', text: 'is imported by nobody' }])
  })

  test('that loads another one in a circle is found, in types it may', () => {
    const one = { path: 'assembly/one.ts', text: opened("import './two'") }
    const back = { path: 'assembly/two.ts', text: opened("import { x } from './one'") }
    const type = { path: 'assembly/two.ts', text: opened("import type { x } from './one'") }
    expect(complaints([one, back], NO_EXCEPTIONS)).toEqual([
      { path: 'assembly/two.ts', text: expect.stringContaining('leads back here') },
    ])
    expect(complaints([one, type], NO_EXCEPTIONS)).toEqual([])
  })

  test('of another kind may not name a registry either', () => {
    const lock = '{ "resolved": "https://registry.npmjs.org/x/-/x-1.0.0.tgz" }'
    expect(complaints([{ path: 'package-lock.json', text: lock }], NO_EXCEPTIONS)).toHaveLength(1)
  })
})

describe('the ratchet', () => {
  test('lets a long file and a long function be, up to their length', () => {
    const text = opened(longFunction(310))
    const fileLines = { 'src/task.ts': 311 }
    const functionLines = { 'src/task.ts#long': 310 }
    expect(about('src/task.ts', text, { fileLines, functionLines })).toEqual([])
    expect(about('src/task.ts', text, { fileLines, functionLines: {} })).toHaveLength(1)
  })

  test('never lets a file pass 500 lines', () => {
    const fileLines = { 'src/task.ts': 600 }
    const found = about('src/task.ts', opened(lines(500)), { fileLines, functionLines: {} })
    expect(found).toEqual([expect.stringContaining('has 501 lines')])
  })

  test('complains of an entry that is no longer needed', () => {
    const fileLines = { 'src/task.ts': 320, 'src/gone.ts': 400 }
    const functionLines = { 'src/task.ts#short': 80 }
    const found = about('src/task.ts', opened('let x = 1'), { fileLines, functionLines })
    expect(found).toHaveLength(3)
  })
})

describe('a boundary', () => {
  test.each([
    { path: 'assembly/zone.ts', from: './search', allowed: false },
    { path: 'assembly/search.ts', from: './zone', allowed: true },
    { path: 'assembly/bits.ts', from: '../src/clock.ts', allowed: false },
    { path: 'bindings/module.ts', from: 'node:fs', allowed: false },
    { path: 'bindings/module.ts', from: '../build/core.wasm', allowed: true },
    { path: 'bindings/errors.ts', from: '../src/errors.ts', allowed: false },
    { path: 'src/clock.ts', from: './errors.ts', allowed: false },
    { path: 'src/lease/keeper.ts', from: '../store/store.ts', allowed: false },
    { path: 'src/lease/keeper.ts', from: '../scheduler/run.ts', allowed: false },
    { path: 'src/store/redis/redis-store.ts', from: '../store.ts', allowed: true },
    { path: 'src/store/redis/redis-store.ts', from: '../sqlite/sqlite-store.ts', allowed: false },
    { path: 'src/store/redis/redis-store.ts', from: 'ioredis', allowed: false },
    { path: 'src/scheduler/scheduler.ts', from: '../store/redis/redis-store.ts', allowed: false },
    { path: 'src/backend/durable.ts', from: '../store/nats/nats-store.ts', allowed: false },
    { path: 'src/cli/main.ts', from: '../store/sqlite/sqlite-store.ts', allowed: false },
    { path: 'src/index.ts', from: './cli/main.ts', allowed: false },
    { path: 'src/describe.ts', from: '../test/support/command.ts', allowed: false },
    { path: 'bench/next.ts', from: '../src/index.ts', allowed: false },
    { path: 'bench/next.ts', from: 'cronfence', allowed: true },
  ])('lets $path import $from: $allowed', ({ path, from, allowed }) => {
    const found = about(path, opened(`import { x } from '${from}'`))
    expect(found).toHaveLength(allowed ? 0 : 1)
  })

  test.each([
    { path: 'src/lease/keeper.ts', code: "import type { S } from '../store/store.ts'", count: 0 },
    { path: 'src/lease/keeper.ts', code: "import { type S } from '../store/store.ts'", count: 0 },
    { path: 'src/store/redis/x.ts', code: "import type { Redis } from 'ioredis'", count: 0 },
    { path: 'src/store/redis/x.ts', code: "await import('ioredis')", count: 0 },
    { path: 'src/cli/tasks.ts', code: "await import('../store/redis/redis-store.ts')", count: 0 },
    { path: 'src/store/redis/x.ts', code: "await import('../nats/nats-store.ts')", count: 1 },
  ])('tells types and dynamic imports apart: $code in $path', ({ path, code, count }) => {
    expect(about(path, opened(code))).toHaveLength(count)
  })
})
