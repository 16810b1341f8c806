// Several processes on one SQLite file: no busy error gets out, tokens are exact, and a process
// that is killed or stands still in the middle of its work leaves the others going.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SQLiteStore } from '../../src/store/sqlite/index.ts'
import { scratch } from './subjects.ts'

const CLAIMER = join(import.meta.dirname, 'processes/claimer.ts')

let place: ReturnType<typeof scratch>
const children: ChildProcess[] = []

beforeEach(() => {
  place = scratch()
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  place.remove()
})

/** Starts a claimer; its lines come one by one, what it says on stderr at its end. */
function claimer({ leaseMs, wins = Infinity }: { leaseMs: number; wins?: number }) {
  const values = [place.file, leaseMs, wins].map(String)
  const child = spawn(process.execPath, ['--import', 'tsx', CLAIMER, ...values])
  children.push(child)
  const ended = once(child, 'exit')
  let complaints = ''
  child.stderr.on('data', (text) => {
    complaints += text
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    ended,
    next: async (): Promise<string> => (await lines.next()).value,
    async all(): Promise<string[]> {
      const rest: string[] = []
      for await (const line of { [Symbol.asyncIterator]: () => lines }) rest.push(line)
      const [code] = await ended
      expect([code, complaints]).toEqual([0, ''])
      return rest.filter((line) => line !== 'ready')
    },
  }
}

describe('several processes on one file', () => {
  it('win each claim once, under tokens without a gap, and see no busy error', async () => {
    const wins = 500
    const results = await Promise.all(
      [1, 2, 3, 4].map(() => claimer({ leaseMs: 600_000, wins }).all()),
    )
    const tokens = results.flat().map(Number)
    tokens.sort((left, right) => left - right)
    expect(tokens).toEqual(Array.from({ length: 4 * wins }, (_, index) => index + 1))
    for (const own of results) expect(own.map(Number)).toEqual([...own.map(Number)].sort(byValue))
  })

  it('go on when one is killed in the middle of its work', async () => {
    const survivor = claimer({ leaseMs: 200 })
    await survivor.next()
    let last = 0
    for (let round = 0; round < 5; round++) {
      const victim = claimer({ leaseMs: 200 })
      for (let lines = 0; lines < 5; lines++) await victim.next()
      victim.child.kill('SIGKILL')
      await victim.ended
      for (let lines = 0; lines < 50; lines++) {
        const token = Number(await survivor.next())
        expect(token).toBeGreaterThan(last)
        last = token
      }
    }
    survivor.child.kill('SIGKILL')
    await survivor.ended
    const store = new SQLiteStore({ file: place.file })
    expect((await store.schedules().get('task'))?.fencingToken).toBeGreaterThanOrEqual(last)
    await store.stop()
  })

  it('go on when one stands still in the middle of its work, and then goes on, too', async () => {
    const [survivor, victim] = [claimer({ leaseMs: 5 }), claimer({ leaseMs: 5 })]
    await Promise.all([survivor.next(), victim.next()])
    const tokens: [number[], number[]] = [[], []]
    for (let round = 0; round < 40; round++) {
      tokens[0].push(Number(await victim.next()))
      victim.child.kill('SIGSTOP')
      // Nobody can write while it stands still inside a transaction.
      const wake = setTimeout(() => victim.child.kill('SIGCONT'), 50)
      for (let lines = 0; lines < 5; lines++) tokens[1].push(Number(await survivor.next()))
      clearTimeout(wake)
      victim.child.kill('SIGCONT')
    }
    for (const { child } of [survivor, victim]) child.kill('SIGKILL')
    await Promise.all([survivor.ended, victim.ended])
    for (const own of tokens) expect(own).toEqual([...own].sort(byValue))
    const all = tokens.flat()
    expect(new Set(all).size).toBe(all.length)
  })
})

const byValue = (left: number, right: number): number => left - right
