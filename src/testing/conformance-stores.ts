// All cases of a schedule store, and the instants around which its protocol is tried.

import { systemClock } from '../clock.ts'
import { type ConformanceCase, type StoreSuite, storeCases } from './conformance.ts'
import { batchCases, noBatchCases } from './conformance-batch.ts'
import {
  completeCases,
  lateRenewalCases,
  openClaimCases,
  planCases,
  renewCases,
} from './conformance-outcome.ts'
import { claimCases, getCases, registerCases } from './conformance-protocol.ts'
import { openClaimRaceCases, raceCases } from './conformance-races.ts'
import { deleteCases, listCases } from './conformance-rows.ts'
import { valueCases } from './conformance-values.ts'

const TEN_YEARS_MS = 3653 * 86_400_000

/**
 * The cases of a schedule store. The protocol is tried around now and ten years before and after:
 * time is the caller's, and a store that looked at its own clock would show it.
 */
export function scheduleStoreCases(suite: StoreSuite): ConformanceCase[] {
  const now = systemClock.now()
  const { batch, strict = false } = suite.supports
  const protocol = {
    get: getCases,
    register: registerCases,
    claimDue: claimCases,
    renew: { ...renewCases, ...(strict ? lateRenewalCases : {}) },
    complete: {
      ...completeCases,
      ...(batch || strict ? planCases : {}),
      ...(strict ? openClaimCases : {}),
    },
    delete: deleteCases,
  }
  const eras = {
    '': now,
    ', ten years ago': now - TEN_YEARS_MS,
    ', in ten years': now + TEN_YEARS_MS,
  }
  const timed = Object.entries(eras).flatMap(([era, at]) =>
    Object.entries(protocol).flatMap(([method, bodies]) =>
      storeCases(suite, { group: `${method}${era}`, at }, bodies),
    ),
  )
  const races = { ...raceCases, ...(strict ? openClaimRaceCases : {}) }
  return [
    ...timed,
    ...storeCases(suite, { group: 'list', at: now }, listCases),
    ...valueCases(suite, now),
    ...storeCases(suite, { group: 'races', at: now }, races),
    ...storeCases(suite, { group: 'batch', at: now }, batch ? batchCases : noBatchCases),
  ]
}
