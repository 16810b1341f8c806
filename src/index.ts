// The public entry: the engine, the scheduler, the contracts of stores and leases, and the memory
// store. Every database has an entry of its own.

export * from '../bindings/index.ts'
export type {
  Backend,
  Cadence,
  CatchUp,
  Registration,
  RegistrationSpec,
  Tick,
  TickOverlap,
  TickRun,
} from './backend/contract.ts'
export { type DurableBackendOptions, durable } from './backend/durable.ts'
export { type InProcessOptions, inProcess } from './backend/in-process.ts'
export { type Clock, systemClock, type Timer } from './clock.ts'
export type { Duration } from './duration.ts'
export { BatchError, CronfenceError, type CronfenceErrorCode, type ErrorDetails } from './errors.ts'
export type { Coordinator, Lease, LeaseProvider } from './lease/lease.ts'
export type { LossReason } from './lease/lease-keeper.ts'
export { type AttachOptions, attachScheduler, type Scheduling } from './scheduler/attach.ts'
export type { CronOptions } from './scheduler/cron-plan.ts'
export type { MissedPolicy } from './scheduler/decide.ts'
export type {
  AnyRun,
  ClaimEvent,
  Listener,
  SchedulerEvents,
  SkippedEvent,
  StoreErrorEvent,
  TaskEvent,
} from './scheduler/events.ts'
export type { Logger } from './scheduler/logger.ts'
export type {
  DurableCronOptions,
  DurableOptions,
  PlainCronOptions,
  PlainOptions,
} from './scheduler/options.ts'
export type { OverlapPolicy } from './scheduler/plain-loop.ts'
export type { Handler, PlainRun, ScheduledRun } from './scheduler/run.ts'
export { Scheduler } from './scheduler/scheduler.ts'
export type { SchedulerOptions } from './scheduler/scheduler-options.ts'
export type { ScheduledTask } from './scheduler/task.ts'
export { MemoryLeaseProvider } from './store/memory/memory-lease-provider.ts'
export { MemoryScheduleStore } from './store/memory/memory-schedule-store.ts'
export type {
  ClaimResult,
  CompletePatch,
  Completion,
  NewSchedule,
  Renewal,
  ScheduleRecord,
  ScheduleStore,
  TaskKind,
} from './store/store.ts'
