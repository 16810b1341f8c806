// Public entry of the engine (`cronfence/engine`): parse, ask, ask in bulk. Needs Wasm and Intl.

export { CronBatch } from './cron-batch.ts'
export {
  CronExpression,
  type OccurrencesOptions,
  parseCron,
} from './cron-expression.ts'
export type { CronFields, NthDayOfWeek } from './cron-fields.ts'
export { type CronFieldName, CronSyntaxError } from './errors.ts'
export type { Instant } from './instant.ts'
export { ready } from './module.ts'
export type {
  Dialect,
  ExpressionOptions,
  FoldPolicy,
  GapPolicy,
  ParseOptions,
} from './options.ts'
