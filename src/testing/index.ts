// Entry `cronfence/testing`: virtual time, and the conformance suites for authors of stores.

export {
  type ConformanceCase,
  declareCases,
  type LeaseSubject,
  type LeaseSuite,
  type Runner,
  type StoreCapabilities,
  type StoreSubject,
  type StoreSuite,
} from './conformance.ts'
export { leaseProviderCases } from './conformance-leases.ts'
export { scheduleStoreCases } from './conformance-stores.ts'
export { CONFORMANCE_IDS } from './conformance-values.ts'
export { type SkewOptions, VirtualClock } from './virtual-clock.ts'
