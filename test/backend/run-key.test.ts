// Keys of runs: legal for a bucket, readable back, and never two of one.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lastKey, manualKey, readRunKey, slotKey } from '../../src/backend/run-key.ts'

const SLOT = Date.parse('2026-03-29T01:02:03.004Z')
const SLOT_TEXT = '2026-03-29T01-02-03.004Z'

/** What a bucket takes: the driver's rule, and the server's that no part is empty. */
const LEGAL = /^[-/=\w]+(\.[-/=\w]+)*$/

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => !/\p{Surrogate}/u.test(text))
const tricky = fc.oneof(
  name,
  fc.stringMatching(/^[.=a]{1,6}$/),
  fc.constantFrom('manual', 'a.manual'),
)

describe('a key', () => {
  test.each([
    ['report', 'report'],
    ['daily-report_2/x', 'daily-report_2/x'],
    ['a.b', 'a.b'],
    ['a b', 'a=20b'],
    ['a=b', 'a=3Db'],
    ['>', '=3E'],
    ['.a..b.', '=2Ea=2E.b=2E'],
    ['时', '=E6=97=B6'],
    ['manual', '=6Danual'],
    ['manually', 'manually'],
  ])('of %j reads run.%s', (text, written) => {
    expect(slotKey(text, SLOT)).toBe(`run.${written}.${SLOT_TEXT}`)
    expect(lastKey(text)).toBe(`last.${written}`)
  })

  test('of a trigger has its dedup key at the end', () => {
    expect(manualKey('report', 'order 7')).toBe('run.report.manual.order=207')
  })

  test('is legal, whatever the name', () => {
    fc.assert(
      fc.property(tricky, tricky, (one, other) => {
        for (const key of [slotKey(one, SLOT), manualKey(one, other), lastKey(one)]) {
          expect(key).toMatch(LEGAL)
        }
      }),
    )
  })

  test('has its name and dedup key in it, to be read back', () => {
    fc.assert(
      fc.property(tricky, tricky, (one, other) => {
        const back = (text: string) => decodeURIComponent(text.replaceAll('=', '%'))
        expect(back(lastKey(one))).toBe(`last.${one}`)
        const [place, dedupKey] = manualKey(one, other).split(/\.manual\.(.*)/)
        expect([back(place ?? ''), back(dedupKey ?? '')]).toEqual([`run.${one}`, other])
      }),
    )
  })

  test('of one name is no key of another', () => {
    fc.assert(
      fc.property(tricky, tricky, tricky, (one, other, dedupKey) => {
        fc.pre(one !== other)
        expect(readRunKey(one, slotKey(one, SLOT))).toBe(SLOT)
        expect(readRunKey(one, manualKey(one, dedupKey))).toBe('manual')
        expect(readRunKey(one, slotKey(other, SLOT))).toBeUndefined()
        expect(readRunKey(one, manualKey(other, dedupKey))).toBeUndefined()
      }),
    )
  })

  test.each(['run.a.2026-03-29T01-02-03Z', 'run.a.x', 'run.a.', 'last.a', 'run.a.b.2026'])(
    '%s is not one of a',
    (key) => {
      expect(readRunKey('a', key)).toBeUndefined()
    },
  )
})
