// The engine on every line of the case files, each in its dialect.
import { describe, expect, test } from 'vitest'
import { CronBatch, CronSyntaxError, parseCron } from '../../bindings/index.ts'
import { type Case, expectedRuns, optionsOf, readCases } from './cases.ts'

const fieldNames = [
  'second',
  'minute',
  'hour',
  'day of month',
  'month',
  'day of week',
  'year',
  'expression',
]

describe.each([...readCases()])('%s', (_file, cases) => {
  test('next gives each run, matches knows it, and prev finds it again', () => {
    const wrong: string[] = []
    for (const one of cases) {
      if (one.error) continue
      const cron = parseCron(one.expr, optionsOf(one))
      let from = Date.parse(one.from!)
      for (const run of expectedRuns(one)) {
        const got = cron.next(from)?.getTime() ?? null
        if (got !== run) wrong.push(`${one.id}: next(${from}) is ${got}, not ${run}`)
        if (run === null) break
        if (!cron.matches(run)) wrong.push(`${one.id}: ${run} does not match`)
        const back = cron.prev(run + 1)?.getTime()
        if (back !== run) wrong.push(`${one.id}: prev(${run + 1}) is ${back}`)
        from = run
      }
    }
    expect(wrong).toEqual([])
  })

  test('a batch gives the first run of each line', () => {
    const valid = cases.filter((one) => !one.error)
    const batch = new CronBatch()
    const ids = Uint32Array.from(valid, (one) => batch.add(one.expr, optionsOf(one)))
    const from = Float64Array.from(valid, (one) => Date.parse(one.from!))
    const runs = Float64Array.from(valid, (one) => expectedRuns(one)[0] ?? Number.NaN)
    expect(batch.next(ids, from)).toEqual(runs)
  })

  test('refused texts name a field and a place in the text', () => {
    const wrong = cases.filter((one) => one.error).flatMap(faultsOfRefusal)
    expect(wrong).toEqual([])
  })
})

function faultsOfRefusal(one: Case): string[] {
  const refusal = refusalOf(one)
  if (refusal instanceof CronSyntaxError) {
    const { field, index, expression } = refusal
    if (!(refusal instanceof TypeError)) return [`${one.id}: not a TypeError`]
    if (expression !== one.expr) return [`${one.id}: expression ${expression}`]
    if (!fieldNames.includes(field)) return [`${one.id}: field ${field}`]
    const isInside = Number.isInteger(index) && index >= 0 && index <= one.expr.length
    return isInside ? [] : [`${one.id}: index ${index}`]
  }
  // The only other thing that a line can be wrong in is its zone.
  if (one.zone && refusal instanceof RangeError) return []
  return [`${one.id}: ${String(refusal)}`]
}

function refusalOf(one: Case): unknown {
  try {
    parseCron(one.expr, optionsOf(one))
    return 'accepted'
  } catch (error) {
    return error
  }
}
