// Where the host has Temporal of its own, zones are read from it; elsewhere from Intl. Both ways
// must give the same runs, which only a Node that has both can tell.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { nodeBinary } from '../support/node-versions.ts'

const ENGINE = join(import.meta.dirname, '../../dist/engine.js')

/** Runs around instants from 1900 to 2105 in every fourth zone, after `prelude`. */
const script = (prelude: string) => `
  ${prelude}
  const { parseCron } = await import(${JSON.stringify(ENGINE)})
  console.log(typeof Temporal)
  let seed = 1
  const random = () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0)) / 2 ** 32
  for (const [i, timeZone] of Intl.supportedValuesOf('timeZone').entries()) {
    if (i % 4 !== 0) continue
    const fixed = parseCron('30 2 * * *', { timeZone })
    const wildcard = parseCron('*/15 * * * *', { timeZone })
    for (let n = 0; n < 20; n++) {
      const from = Math.floor(-2.2e12 + random() * 6.5e12)
      console.log(timeZone, from, fixed.next(from)?.getTime(), wildcard.prev(from)?.getTime())
    }
  }
`

test('native Temporal and Intl give the same runs', () => {
  const node = nodeBinary(26)
  const answer = (prelude: string) => run(node, ['--input-type=module', '-e', script(prelude)])
  const [native, ...nativeRuns] = answer('').split('\n')
  const [intl, ...intlRuns] = answer('delete globalThis.Temporal').split('\n')
  expect([native, intl]).toEqual(['object', 'undefined'])
  expect(nativeRuns.length).toBeGreaterThan(2000)
  expect(nativeRuns).toEqual(intlRuns)
})
