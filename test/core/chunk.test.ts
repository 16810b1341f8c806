// A zone's table comes in chunks of some years. Transitions close to where two of them meet must be
// felt from both sides, whichever of the two chunks is there first.
import { describe, expect, test } from 'vitest'
import { CronBatch, parseCron } from '../../bindings/index.ts'
import { sharedCore } from '../../bindings/module.ts'
import { Reference } from './reference.ts'
import { hotZones, transitionsOf } from './zone-samples.ts'

const HOUR_MS = 3_600_000
const NEAR_MS = 30 * HOUR_MS

const chunkMs = sharedCore().exports.CHUNK_MS.value

/** Each transition of a hot zone that lies near the meeting of two chunks. */
const seams = Object.keys(hotZones).flatMap((timeZone) =>
  transitionsOf(timeZone)
    .filter((at) => Math.abs(at - Math.round(at / chunkMs) * chunkMs) < NEAR_MS)
    .map((at) => [timeZone, new Date(at).toISOString(), at] as const),
)

const questions = [
  ['30 1,2 * * *', {}],
  ['30 1,2 * * *', { fold: 'second' }],
  ['*/20 * * * *', {}],
  ['15 * * * *', { gap: 'shift', fold: 'first' }],
  ['0 3 * * 0', { gap: 'skip' }],
] as const

test('there are transitions near the meeting of two chunks', () => {
  expect(seams.length).toBeGreaterThan(4)
})

describe.each(seams)('%s around %s', (timeZone, _time, transition) => {
  test.each(questions)('%s, %o: every hour asked first of a new instance', (text, policies) => {
    const options = { timeZone, ...policies }
    const reference = new Reference(text, options)
    const cron = parseCron(text, options)
    for (let at = transition - NEAR_MS; at <= transition + NEAR_MS; at += HOUR_MS) {
      const batch = new CronBatch()
      const ids = Uint32Array.of(batch.add(text, options))
      const [run] = batch.next(ids, Float64Array.of(at))
      expect(run).toBe(reference.next(at))
      expect(cron.next(at)?.getTime()).toBe(reference.next(at))
      expect(cron.prev(at)?.getTime()).toBe(reference.prev(at))
    }
    const [from, until] = [transition - NEAR_MS, transition + NEAR_MS]
    expect(cron.between(from, until).map(Number)).toEqual(reference.between(from, until))
  })
})
