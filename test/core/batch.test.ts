// Many expressions and many questions at once: ids, arrays, and what is refused. That a batch
// answers as single expressions do is a law (laws.test.ts).
import { describe, expect, test, vi } from 'vitest'
import { CronBatch, CronSyntaxError, parseCron } from '../../bindings/index.ts'
import { Core } from '../../bindings/module.ts'

const start = Date.UTC(2026, 0, 1)

describe('ids', () => {
  test('count up from 0, and equal arguments give the same', () => {
    const batch = new CronBatch()
    const add = (text: string, timeZone: string) => batch.add(text, { timeZone })
    expect(add('0 1 * * *', 'UTC')).toBe(0)
    expect(add('0 2 * * *', 'UTC')).toBe(1)
    expect(add('0 2 * * *', 'Europe/Madrid')).toBe(2)
    expect(batch.add('0 2 * * *', { timeZone: 'UTC', fold: 'both' })).toBe(3)
    expect(batch.add('0 2 * * *', { timeZone: 'UTC', gap: 'skip' })).toBe(4)
    expect(add('0 1 * * *', 'UTC')).toBe(0)
    expect(batch.add('0 2 * * *', { timeZone: 'UTC', fold: 'both' })).toBe(3)
    expect(add('0 2 * * *', 'Europe/Madrid')).toBe(2)
    expect(new CronBatch().add('0 2 * * *', { timeZone: 'UTC' })).toBe(0)
  })

  test('a refused text takes none', () => {
    const batch = new CronBatch()
    batch.add('0 1 * * *')
    expect(() => batch.add('0 24 * * *')).toThrow(CronSyntaxError)
    expect(() => batch.add('0 1 * * *', { timeZone: 'Mars/Olympus' })).toThrow(RangeError)
    expect(() => batch.add(5 as never)).toThrow(TypeError)
    expect(() => batch.add('* * * * *', { horizonYears: 4 } as never)).toThrow(TypeError)
    expect(batch.add('0 2 * * *')).toBe(1)
  })

  test('end at 2^24, and the batch answers on', () => {
    const intern = vi.spyOn(Core.prototype, 'intern')
    const batch = new CronBatch()
    batch.add('0 1 * * *', { timeZone: 'UTC' })
    const { exports } = intern.mock.contexts[0] as Core
    intern.mockRestore()
    // The first word at RECORD_POOL of assembly/abi.ts: how many expressions there are.
    new Uint32Array(exports.memory.buffer)[208 / 4] = exports.ITEMS_MAX.value
    expect(() => batch.add('0 2 * * *', { timeZone: 'UTC' })).toThrow(RangeError)
    expect(() => batch.add('0 2 * * *', { timeZone: 'UTC' })).toThrow('16777216 expressions')
    expect(() => batch.add('0 24 * * *')).toThrow(CronSyntaxError)
    expect(batch.next(Uint32Array.of(0), Float64Array.of(start))[0]).toBe(start + 3_600_000)
  })

  test('stay right while ten thousand expressions are added', () => {
    const batch = new CronBatch()
    const texts = Array.from({ length: 10_000 }, (_, i) => {
      return `${i % 60} ${Math.floor(i / 60) % 24} ${1 + Math.floor(i / 1440)} * *`
    })
    const ids = Uint32Array.from(texts, (text) => batch.add(text, { timeZone: 'UTC' }))
    expect(ids).toEqual(Uint32Array.from(texts.keys()))
    const runs = batch.next(ids, new Float64Array(ids.length).fill(start))
    const wrong = texts.filter((_, i) => {
      const run = Date.UTC(2026, 0, 1 + Math.floor(i / 1440), Math.floor(i / 60) % 24, i % 60)
      return runs[i] !== (run > start ? run : Date.UTC(2026, 1, 1))
    })
    expect(wrong).toEqual([])
    const again = Uint32Array.from(texts, (text) => batch.add(text, { timeZone: 'UTC' }))
    expect(again).toEqual(ids)
  })
})

describe('next', () => {
  const batch = new CronBatch()
  const hourly = batch.add('0 * * * *', { timeZone: 'UTC' })
  const never = batch.add('0 0 29 2 *', { timeZone: 'UTC' })
  const ids = Uint32Array.of(hourly, never, hourly)
  const from = Float64Array.of(start, Date.UTC(2096, 2, 1), start - 0.5)
  const runs = Float64Array.of(start + 3_600_000, Number.NaN, start)

  test('writes NaN where there is no run', () => {
    expect(batch.next(ids, from)).toEqual(runs)
  })

  test('writes to the array it is given and returns that', () => {
    const out = new Float64Array(3)
    expect(batch.next(ids, from, out)).toBe(out)
    expect(out).toEqual(runs)
  })

  test('may write over its own instants, and over a part of a larger array', () => {
    const own = Float64Array.from(from)
    batch.next(ids, own, own)
    expect(own).toEqual(runs)
    const large = new Float64Array(5).fill(7)
    batch.next(ids, from, large)
    expect(large).toEqual(Float64Array.of(...runs, 7, 7))
    const part = new Float64Array(5).fill(7)
    batch.next(ids, from, part.subarray(1, 4))
    expect(part).toEqual(Float64Array.of(7, ...runs, 7))
  })

  test('answers nothing when nothing is asked', () => {
    expect(batch.next(new Uint32Array(0), new Float64Array(0))).toEqual(new Float64Array(0))
    expect(new CronBatch().next(new Uint32Array(0), new Float64Array(0)).length).toBe(0)
  })

  test('leaves ids and instants as they were', () => {
    batch.next(ids, from)
    expect(ids).toEqual(Uint32Array.of(hourly, never, hourly))
    expect(from).toEqual(Float64Array.of(start, Date.UTC(2096, 2, 1), start - 0.5))
  })

  test.each([1, 4095, 4096, 4097, 100_000])('%d items over many zones', (items) => {
    const zones = ['Europe/Madrid', 'Australia/Lord_Howe', 'America/Santiago', 'UTC', 'Asia/Tokyo']
    const many = new CronBatch()
    const crons = zones.map((timeZone) => parseCron('30 2 * * *', { timeZone }))
    const zoneIds = zones.map((timeZone) => many.add('30 2 * * *', { timeZone }))
    const manyIds = Uint32Array.from({ length: items }, (_, i) => zoneIds[(i * 7) % 5]!)
    const instants = Float64Array.from(
      { length: items },
      (_, i) => start + ((i * 7919) % 1e5) * 1e7,
    )
    const found = many.next(manyIds, instants)
    for (let i = 0; i < items; i += 1 + (items >> 9)) {
      expect(found[i]).toBe(crons[(i * 7) % 5]!.next(instants[i]!)!.getTime())
    }
  })

  test.each<[name: string, ids: unknown, from: unknown, out: unknown]>([
    ['ids as an array', [0], from, undefined],
    ['ids as Int32Array', new Int32Array(3), from, undefined],
    ['from as an array', ids, [0, 0, 0], undefined],
    ['from as Float32Array', ids, new Float32Array(3), undefined],
    ['out as an array', ids, from, [0, 0, 0]],
    ['out as null', ids, from, null],
    ['nothing', undefined, undefined, undefined],
  ])('%s is a TypeError', (_name, badIds, badFrom, badOut) => {
    expect(() => batch.next(badIds as never, badFrom as never, badOut as never)).toThrow(TypeError)
    expect(batch.next(ids, from)).toEqual(runs)
  })

  test.each<[name: string, ids: number[], from: number[], outLength: number]>([
    ['fewer instants than ids', [hourly, hourly], [0], 2],
    ['more instants than ids', [hourly], [0, 0], 2],
    ['a shorter out', [hourly, hourly], [0, 0], 1],
    ['an unknown id', [hourly, 2], [0, 0], 2],
    ['the largest id', [hourly, 2 ** 32 - 1], [0, 0], 2],
    ['NaN', [hourly, hourly], [0, Number.NaN], 2],
    ['Infinity', [hourly, hourly], [0, Number.POSITIVE_INFINITY], 2],
    ['an instant past the last', [hourly], [8.64e15 + 2], 1],
    ['an instant before the first', [hourly], [-8.64e15 - 2], 1],
  ])('%s is a RangeError, and the batch works on', (_name, badIds, badFrom, outLength) => {
    const ask = () =>
      batch.next(Uint32Array.from(badIds), Float64Array.from(badFrom), new Float64Array(outLength))
    expect(ask).toThrow(RangeError)
    expect(batch.next(ids, from)).toEqual(runs)
  })

  test('the first and the last instant are taken', () => {
    const ends = Float64Array.of(-8.64e15, 8.64e15)
    const minutely = batch.add('* * * * *', { timeZone: 'UTC' })
    const found = batch.next(Uint32Array.of(minutely, minutely), ends)
    expect(found).toEqual(Float64Array.of(-8.64e15 + 60_000, Number.NaN))
  })
})

describe('occurrences', () => {
  const batch = new CronBatch()
  const minutely = batch.add('* * * * *', { timeZone: 'Europe/Madrid' })
  const until = start + 10_000 * 60_000

  test.each([0, 1, 4095, 4096, 4097, 9999])('stop when %d fill the array', (size) => {
    const out = new Float64Array(size)
    expect(batch.occurrences(minutely, start, until, out)).toBe(size)
    expect(out).toEqual(Float64Array.from({ length: size }, (_, i) => start + i * 60_000))
  })

  test('stop at the end of the window, and leave the rest of the array alone', () => {
    const out = new Float64Array(10_002).fill(-1)
    expect(batch.occurrences(minutely, start, until, out)).toBe(10_000)
    expect([...out.subarray(9_999)]).toEqual([until - 60_000, -1, -1])
  })

  test('take any form of instant', () => {
    const out = new Float64Array(3)
    const end = { epochMilliseconds: start + 60_001 }
    expect(batch.occurrences(minutely, new Date(start), end, out)).toBe(2)
    expect([...out]).toEqual([start, start + 60_000, 0])
  })

  test('are none when the window ends before it starts', () => {
    expect(batch.occurrences(minutely, until, start, new Float64Array(5))).toBe(0)
  })

  test('refuse an unknown id, a bad instant and what is no Float64Array', () => {
    const out = new Float64Array(5)
    for (const id of [1, -1, 0.5, Number.NaN, 2 ** 32]) {
      expect(() => batch.occurrences(id, start, until, out)).toThrow(RangeError)
    }
    expect(() => batch.occurrences(minutely, Number.NaN, until, out)).toThrow(RangeError)
    expect(() => batch.occurrences(minutely, start, Number.NaN, out)).toThrow(RangeError)
    expect(() => batch.occurrences(minutely, start, until, [] as never)).toThrow(TypeError)
    expect(batch.occurrences(minutely, start, until, out)).toBe(5)
  })
})
