// Single expressions share a fixed number of compiled records and compile again when another took
// theirs; nobody may notice, neither by an answer nor by memory.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import { CronBatch, type CronExpression, CronSyntaxError, parseCron } from '../../bindings/index.ts'
import { Core, sharedCore } from '../../bindings/module.ts'

const start = Date.UTC(2026, 0, 1)

interface Live {
  readonly cron: CronExpression
  readonly minuteOfDay: number
  readonly day: number
}

function live(count: number): Live[] {
  return Array.from({ length: count }, (_, i) => {
    const minuteOfDay = (i * 7) % 1440
    const day = 1 + (i % 28)
    const text = `${minuteOfDay % 60} ${Math.floor(minuteOfDay / 60)} ${day} * *`
    return { cron: parseCron(text, { timeZone: 'UTC' }), minuteOfDay, day }
  })
}

function runOf({ minuteOfDay, day }: Live, month: number): number {
  return Date.UTC(2026, month, day, 0, minuteOfDay)
}

describe('ten thousand live expressions', () => {
  const all = live(10_000)

  test('give the right answers one after the other', () => {
    const wrong = all.filter((one) => one.cron.next(start - 1)?.getTime() !== runOf(one, 0))
    expect(wrong).toEqual([])
  })

  test('give the right answers in any order, whatever is asked', () => {
    for (let i = 0; i < 40_000; i++) {
      const one = all[(i * 7919) % all.length]!
      const january = runOf(one, 0)
      const kind = i % 5
      if (kind === 0) expect(one.cron.next(january)?.getTime()).toBe(runOf(one, 1))
      else if (kind === 1) expect(one.cron.prev(runOf(one, 1))?.getTime()).toBe(january)
      else if (kind === 2) expect(one.cron.matches(january + 59_999)).toBe(true)
      else if (kind === 3) expect(one.cron.count(january, runOf(one, 2))).toBe(2)
      else expect(one.cron.fields.dayOfMonth).toEqual([one.day])
    }
  })

  test('can all be listed at once, a run of each in turn', () => {
    const lists = all.map((one) => one.cron.occurrences({ from: start }))
    for (let month = 0; month < 6; month++) {
      lists.forEach((list, i) => {
        const run: Date = list.next().value
        if (run.getTime() !== runOf(all[i]!, month)) expect(run).toBe(runOf(all[i]!, month))
      })
    }
  })

  test('are not disturbed by texts that are refused', () => {
    for (let i = 0; i < 5_000; i++) {
      const one = all[i]!
      expect(() => parseCron(`${i % 60} 24 * * *`)).toThrow(CronSyntaxError)
      expect(one.cron.next(start - 1)?.getTime()).toBe(runOf(one, 0))
    }
  })
})

describe('memory of the core', () => {
  test('stays as it is over a million throw-away expressions', () => {
    const bytes = () => sharedCore().exports.memory.buffer.byteLength
    const throwAway = (count: number) => {
      let runs = 0
      for (let i = 0; i < count; i++) {
        const text = `${i % 60} ${i % 24} ${1 + (i % 28)} ${1 + (i % 12)} ${i % 7},${i % 5}`
        const timeZone = i % 2 ? 'UTC' : 'Europe/Madrid'
        runs += parseCron(text, { timeZone }).next(start) === null ? 0 : 1
      }
      return runs
    }
    throwAway(2_000)
    const before = bytes()
    expect(throwAway(1_000_000)).toBe(1_000_000)
    expect(bytes()).toBe(before)
  })

  test('is not needed to tell the fields of the text that was parsed last', () => {
    const cron = parseCron('*/5 2 L * *', { dialect: 'extended' })
    const other = parseCron('1 3 * * *', { dialect: 'extended' })
    expect([cron.fields.hour, other.fields.hour]).toEqual([[2], [3]])
    const compile = vi.spyOn(Core.prototype, 'compile')
    expect(other.isReboot).toBe(false)
    expect(other.fields.hour).toEqual([3])
    expect(compile).not.toHaveBeenCalled()
    compile.mockRestore()
  })

  test('holds no expression that was thrown away', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const gone = new WeakRef(parseCron('0 0 1 1 *'))
    await vi.waitFor(() => {
      collect()
      // A boolean, since a failed assertion would hold the expression.
      expect(gone.deref() === undefined).toBe(true)
    })
  })

  test('stays as it is over refused texts and huge ones of the same size', () => {
    const huge = `${' '.repeat(1_000_000)}* * * * *`
    const ask = () => {
      parseCron(huge)
      for (let i = 0; i < 1_000; i++) expect(() => parseCron(`60 ${i}`)).toThrow(CronSyntaxError)
    }
    ask()
    const before = sharedCore().exports.memory.buffer.byteLength
    ask()
    expect(sharedCore().exports.memory.buffer.byteLength).toBe(before)
  })

  test('is at most 160 bytes an expression of a batch', () => {
    const intern = vi.spyOn(Core.prototype, 'intern')
    const batch = new CronBatch()
    batch.add('0 0 1 1 *', { timeZone: 'UTC' })
    const core = intern.mock.contexts[0] as Core
    intern.mockRestore()

    const count = 200_000
    let last = 0
    for (let i = 0; i < count; i++) {
      const day = 1 + (Math.floor(i / 1440) % 28)
      const month = 1 + Math.floor(i / (1440 * 28))
      const text = `${i % 60} ${Math.floor(i / 60) % 24} ${day} ${month} *`
      last = batch.add(text, { timeZone: 'UTC' })
    }
    expect(last).toBe(count - 1)
    expect(core.exports.memory.buffer.byteLength / count).toBeLessThanOrEqual(160)
  })
})
