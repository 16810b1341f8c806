// Which names are zones, and that each zone's offsets are those of Intl and Temporal in every age:
// observed through the wall clock at the runs of fixed hours, which shows any wrong offset.
import { describe, expect, test, vi } from 'vitest'
import { CronBatch, parseCron } from '../../bindings/index.ts'
import { Reference } from './reference.ts'
import { allZones, fixedOffsetZones, hotZones, transitionsOf } from './zone-samples.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** For tests that read the offset tables of every zone, on a machine busy with others. */
const SLOW_MS = 120_000

/** A generator of the same numbers on every run: steps of the golden ratio, in [0, 1). */
function* spread(): Generator<number> {
  for (let at = 0.5; ; at = (at + 0.618_033_988_749_895) % 1) yield at
}

describe('names', () => {
  const winter = Date.UTC(2026, 0, 1)

  test.each<[name: string, noon: number]>([
    ['UTC', 12],
    ['utc', 12],
    ['GMT', 12],
    ['Etc/UTC', 12],
    ['Etc/GMT+5', 17],
    ['Etc/GMT-14', -2],
    ['Europe/Madrid', 11],
    ['europe/madrid', 11],
    ['EUROPE/MADRID', 11],
    ['US/Eastern', 17],
    ['America/New_York', 17],
    ['GB', 12],
    ['Asia/Calcutta', 6.5],
    ['Asia/Kolkata', 6.5],
    ['Asia/Katmandu', 6.25],
  ])('%s is taken, and kept as given', (timeZone, noon) => {
    const cron = parseCron('0 12 * * *', { timeZone })
    expect(cron.timeZone).toBe(timeZone)
    const next = cron.next(winter - 3 * HOUR_MS)
    expect(next).toEqual(new Date(winter + noon * HOUR_MS))
  })

  test.skipIf(fixedOffsetZones.length === 0)(
    'fixed offsets are taken where Intl takes them (Node 20 does not)',
    () => {
      for (const timeZone of fixedOffsetZones) {
        const reference = new Reference('0 12 * * *', { timeZone })
        const cron = parseCron('0 12 * * *', { timeZone })
        expect(cron.next(winter)?.getTime()).toBe(reference.next(winter))
      }
    },
  )

  test.each([
    '',
    ' ',
    'Mars/Olympus',
    'Europe/Madrid ',
    ' Europe/Madrid',
    'Europe\\Madrid',
    'Europe/Mádrid',
    'Europe/Madrid\0',
    'LOCAL',
    '+25:00',
    '+2',
    'UTC+2',
    'toString',
    '__proto__',
    'constructor',
    'x'.repeat(100_000),
  ])('%j is a RangeError', (timeZone) => {
    expect(() => parseCron('* * * * *', { timeZone })).toThrow(RangeError)
    expect(() => new CronBatch().add('* * * * *', { timeZone })).toThrow(RangeError)
    expect(parseCron('0 0 * * *', { timeZone: 'UTC' }).next(winter - 1)).toEqual(new Date(winter))
  })

  test.each([null, 5, true, {}, [], ['UTC'], new String('UTC')])(
    '%o is a TypeError',
    (timeZone) => {
      expect(() => parseCron('* * * * *', { timeZone: timeZone as never })).toThrow(TypeError)
    },
  )

  test('local, the default, is the zone of this process and has its name', () => {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    for (const cron of [parseCron('0 12 * * *'), parseCron('0 12 * * *', { timeZone: 'local' })]) {
      expect(cron.timeZone).toBe(timeZone)
      expect(cron.next(winter)).toEqual(parseCron('0 12 * * *', { timeZone }).next(winter))
    }
  })

  test('a zone that the process is given later is seen by expressions made after it', () => {
    const own = process.env.TZ
    const madrid = '2026-01-01T11:00:00.000Z'
    try {
      vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
      process.env.TZ = 'Europe/Madrid'
      const cron = parseCron('0 12 * * *')
      expect(cron.next(winter)?.toISOString()).toBe(madrid)
      vi.setSystemTime(Date.now() + 60_000)
      process.env.TZ = 'Asia/Tokyo'
      expect(parseCron('0 12 * * *').timeZone).toBe('Asia/Tokyo')
      expect(cron.next(winter)?.toISOString()).toBe(madrid)
    } finally {
      vi.useRealTimers()
      if (own === undefined) delete process.env.TZ
      else process.env.TZ = own
    }
  })
})

describe('offsets', () => {
  const noon = '0 12 * * *'

  test(
    'around each transition of a zone, 1970 to 2100',
    () => {
      const wrong: string[] = []
      for (const timeZone of Object.keys(hotZones)) {
        const clock = wallClock(timeZone)
        const quarterly = parseCron('*/15 * * * *', { timeZone })
        for (const transition of transitionsOf(timeZone)) {
          for (const at of [
            transition - 2 * HOUR_MS,
            transition - 1,
            transition,
            transition + DAY_MS,
          ]) {
            const run = quarterly.next(at)!.getTime()
            const [minute, second] = clock(run)
            if (minute % 15 !== 0 || second !== 0)
              wrong.push(`${timeZone} ${new Date(run).toJSON()}`)
          }
        }
      }
      expect(wrong).toEqual([])
    },
    SLOW_MS,
  )

  test.each<[age: string, fromYear: number, toYear: number, places: number]>([
    ['since 1970', 1970, 2100, 3],
    ['before 1970', 1850, 1970, 3],
    ['before any standard time', 1, 1850, 1],
    ['before the common era', -271_000, 1, 1],
    ['after 2100', 2100, 3000, 1],
    ['far ahead', 3000, 275_000, 1],
  ])(
    'of every zone, %s',
    (_age, fromYear, toYear, placeCount) => {
      const wrong: string[] = []
      const places = spread()
      for (const timeZone of allZones) {
        const cron = parseCron(noon, { timeZone })
        const reference = new Reference(noon, { timeZone })
        for (let i = 0; i < placeCount; i++) {
          const at = instantIn(fromYear, toYear, places.next().value)
          const [run, wanted] = [cron.next(at)?.getTime(), reference.next(at)]
          if (run !== wanted) wrong.push(`${timeZone} next(${at}) is ${run}, not ${wanted}`)
          const [back, before] = [cron.prev(at)?.getTime(), reference.prev(at)]
          if (back !== before) wrong.push(`${timeZone} prev(${at}) is ${back}, not ${before}`)
        }
      }
      expect(wrong).toEqual([])
    },
    SLOW_MS,
  )

  test.each([1600, 2100, 2500, 2900, 800, 1200, 3300])(
    'of hot zones are continuous where the year %d begins',
    (year) => {
      const wrong: string[] = []
      const from = Date.parse(`${String(year).padStart(4, '0')}-01-01`) - 400 * DAY_MS
      for (const timeZone of Object.keys(hotZones)) {
        const expected = new Reference('30 0,2 1,15 */2 *', { timeZone })
        const cron = parseCron('30 0,2 1,15 */2 *', { timeZone })
        const runs = expected.between(from, from + 800 * DAY_MS)
        const same = String(cron.between(from, from + 800 * DAY_MS).map(Number)) === String(runs)
        if (!same) wrong.push(timeZone)
      }
      expect(wrong).toEqual([])
    },
  )

  test('do not depend on the order in which the ages of a zone are asked for', () => {
    const years = [2040, 1960, 2500, 1700, 2026, -500, 9000, 2027, 1990]
    const asked = years.map((year) => Date.UTC(year, 2, 20, 5, 17))
    const answers = (timeZone: string, instants: number[]) => {
      const cron = parseCron('30 1,2 * * *', { timeZone })
      return new Map(instants.map((at) => [at, cron.next(at)!.getTime()]))
    }
    // Two spellings of a zone, asked in opposite orders.
    const forward = answers('America/Halifax', asked)
    const backward = answers('america/halifax', [...asked].reverse())
    const reference = new Reference('30 1,2 * * *', { timeZone: 'America/Halifax' })
    for (const at of asked) {
      expect(forward.get(at)).toBe(reference.next(at))
      expect(backward.get(at)).toBe(reference.next(at))
    }
  })
})

function wallClock(timeZone: string): (instant: number) => [minute: number, second: number] {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' })
  return (instant) => {
    const [, minute, second] = format.format(instant).split(':').map(Number)
    return [minute!, second!]
  }
}

function instantIn(fromYear: number, toYear: number, place: number): number {
  const yearMs = 365.2425 * DAY_MS
  const year = fromYear + (toYear - fromYear) * place
  return Math.floor((year - 1970) * yearMs)
}
