// H in the extended dialect: stable for a seed, spread over seeds, and inside its bounds.
import { describe, expect, test } from 'vitest'
import { CronBatch, type CronFields, parseCron } from '../../bindings/index.ts'

const dialect = 'extended'

function fieldsOf(text: string, seed: string): CronFields {
  return parseCron(text, { dialect, seed, timeZone: 'UTC' }).fields
}

const seeds = Array.from({ length: 3000 }, (_, i) => `task-${i}`)

describe('H', () => {
  test('is what it was in the first release, for these seeds', () => {
    const chosen = ['', 'a', 'backup', 'наприклад', '\ud800'].map((seed) => {
      const { second, minute, hour, dayOfMonth, month, dayOfWeek } = fieldsOf('H H H H H H', seed)
      return [second, minute, hour, dayOfMonth, month, dayOfWeek].map(String).join(' ')
    })
    expect(chosen).toMatchInlineSnapshot(`
      [
        "23 23 5 14 10 3",
        "35 1 19 5 6 5",
        "33 27 1 8 2 2",
        "35 37 14 13 3 0",
        "8 2 14 4 1 6",
      ]
    `)
  })

  test('does not depend on how many fields the text has, nor on its other fields', () => {
    for (const seed of seeds.slice(0, 50)) {
      const { minute, hour } = fieldsOf('H H * * *', seed)
      expect(fieldsOf('0 H H 1 JAN ?', seed)).toMatchObject({ minute, hour })
    }
  })

  test.each<[text: string, low: number, high: number, field: keyof CronFields]>([
    ['H 0 * * *', 0, 59, 'minute'],
    ['0 H * * *', 0, 23, 'hour'],
    ['0 0 H * *', 1, 28, 'dayOfMonth'],
    ['0 0 1 H *', 1, 12, 'month'],
    ['0 0 * * H', 0, 6, 'dayOfWeek'],
    ['H 0 0 * * *', 0, 59, 'second'],
    ['H(10-19) 0 * * *', 10, 19, 'minute'],
    ['0 0 H(5-31) * *', 5, 31, 'dayOfMonth'],
    ['0 0 * * H(MON-FRI)', 1, 5, 'dayOfWeek'],
    ['H(7-7) 0 * * *', 7, 7, 'minute'],
  ])('%s spreads evenly over %d to %d', (text, low, high, field) => {
    const counts = new Map<number, number>()
    for (const seed of seeds) {
      const values = fieldsOf(text, seed)[field] as readonly number[]
      expect(values).toHaveLength(1)
      counts.set(values[0]!, (counts.get(values[0]!) ?? 0) + 1)
    }
    const expected = seeds.length / (high - low + 1)
    const values = Array.from({ length: high - low + 1 }, (_, i) => low + i)
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual(values)
    // Chi-squared; a fair spread exceeds twice its degrees of freedom, plus 20, almost never.
    const chi = values.reduce((sum, v) => sum + (counts.get(v)! - expected) ** 2 / expected, 0)
    expect(chi).toBeLessThan(2 * (high - low) + 20)
  })

  test('a range may wrap', () => {
    const hours = new Set(seeds.flatMap((seed) => fieldsOf('0 H(22-2) * * *', seed).hour))
    expect([...hours].sort((a, b) => a - b)).toEqual([0, 1, 2, 22, 23])
  })

  test('a step starts at a hashed value below it', () => {
    const starts = new Set<number>()
    for (const seed of seeds.slice(0, 500)) {
      const { minute } = fieldsOf('H/15 * * * *', seed)
      expect(minute).toEqual([0, 15, 30, 45].map((value) => value + minute[0]!))
      starts.add(minute[0]!)
      const { hour } = fieldsOf('0 H(8-17)/4 * * *', seed)
      expect(hour.every((value, i) => value === hour[0]! + 4 * i)).toBe(true)
      expect(hour[0]! >= 8 && hour[0]! < 12 && hour.at(-1)! > 13 && hour.at(-1)! <= 17).toBe(true)
    }
    expect(starts.size).toBe(15)
  })

  test('a batch chooses alike', () => {
    const batch = new CronBatch()
    for (const seed of seeds.slice(0, 50)) {
      const options = { dialect, seed, timeZone: 'UTC' } as const
      const id = batch.add('H H * * *', options)
      const run = batch.next(Uint32Array.of(id), Float64Array.of(0))[0]
      expect(run).toBe(parseCron('H H * * *', options).next(0)!.getTime())
    }
  })

  test('without a seed it is refused; an empty seed is one', () => {
    expect(() => parseCron('0 H * * *', { dialect })).toThrow(
      expect.objectContaining({ name: 'CronSyntaxError', field: 'hour', index: 2 }),
    )
    expect(() => parseCron('0 H * * *', { dialect, seed: '' })).not.toThrow()
  })
})
