// A target with a defect on purpose, behind branches of the core alone: a fuzzer that cannot see
// into the core, or whose findings get lost, does not pass for one that found nothing.

import { parseCron } from '../../../bindings/index.ts'
import { must, type Target } from '../target.ts'

/** Fails for an expression of the extended dialect with a nearest weekday. */
export const canary: Target = {
  words: ['W'],
  seeds: ['0 0 1 * *'],
  fuzz(text) {
    let fields: ReturnType<typeof parseCron>['fields'] | undefined
    try {
      fields = parseCron(text, { dialect: 'extended', timeZone: 'UTC' }).fields
    } catch {
      return
    }
    must(fields.nearestWeekday === undefined, 'the canary sings')
  },
}
