// Several processes over one database: each claim is won once, and one that is killed in the middle
// of its work leaves the others going.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MongoStage } from './stage.ts'

const stage = new MongoStage('processes')
const CLAIMER = join(import.meta.dirname, 'claimer.ts')
const children: ChildProcess[] = []

beforeEach(() => stage.drop())
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Starts a claimer; its tokens come one by one. */
function claimer(leaseMs: number, wins = Infinity) {
  const values = [stage.url, stage.database, leaseMs, wins].map(String)
  const child = spawn(process.execPath, ['--import', 'tsx', CLAIMER, ...values], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const lines = createInterface({ input: child.stdout })
  return { child, lines: lines[Symbol.asyncIterator]() }
}

it('four processes win each claim once, under tokens without a gap', async () => {
  const wins = 25
  const tokens: number[] = []
  await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const { lines } = claimer(600_000, wins)
      for await (const line of { [Symbol.asyncIterator]: () => lines }) tokens.push(Number(line))
    }),
  )
  tokens.sort((left, right) => left - right)
  expect(tokens).toEqual(Array.from({ length: 4 * wins }, (_, index) => index + 1))
})

it('one that is killed in the middle of its work leaves the others going', async () => {
  const survivor = claimer(100)
  let last = 0
  for (let round = 0; round < 3; round++) {
    const victim = claimer(100)
    for (let lines = 0; lines < 3; lines++) await victim.lines.next()
    victim.child.kill('SIGKILL')
    for (let lines = 0; lines < 10; lines++) {
      const token = Number((await survivor.lines.next()).value)
      expect(token).toBeGreaterThan(last)
      last = token
    }
  }
})
