// What a refused text would mean in the extended dialect, for the end of its error. Asked only once
// a text was refused.

import { readFields } from './cron-fields.ts'
import { type CronSyntaxError, syntaxError } from './errors.ts'
import type { Core } from './module.ts'
import { inExtended, type Plan } from './options.ts'

/** Status codes of assembly/status.ts. */
const IMPOSSIBLE_DAY = 9
const NO_SEED = 17

const TAKES_IT = 'the dialect "extended" takes it'

/** A text that the core refused. */
interface Refused {
  readonly expression: string
  readonly plan: Plan
  readonly status: number
  /** The address of a record that may be overwritten. */
  readonly record: number
}

/** The error for the text that the core refused last. */
export function refusalOf(core: Core, refused: Refused): CronSyntaxError {
  const { expression, plan, status } = refused
  const refusal = core.refusal(status)
  const hint = plan.dialect === 'extended' ? '' : extendedHint(core, refused)
  return syntaxError(expression, refusal, { dialect: plan.dialect, hint })
}

function extendedHint(core: Core, { expression, plan, status, record }: Refused): string {
  const extendedStatus = core.compile(record, expression, inExtended(plan))
  if (extendedStatus === NO_SEED) return `${TAKES_IT} when it is given a seed`
  if (extendedStatus !== 0) return ''
  if (status === IMPOSSIBLE_DAY) return `${TAKES_IT}, and it has no run there`
  const fields = expression.trim().split(/[ \t]+/)
  const layout =
    fields.length === 6
      ? ', with the first of six fields as seconds'
      : fields.length === 7
        ? ', with the first of seven fields as seconds and the last as years'
        : ''
  return `${TAKES_IT}${layout}${quartzHint(core, fields)}`
}

/** Quartz counts weekdays from 1 for Sunday; its texts have six or seven fields and a `?`. */
function quartzHint(core: Core, fields: readonly string[]): string {
  const weekdays = fields[fields.length === 5 ? 4 : 5] ?? ''
  const mayBeQuartz = fields.length > 5 || fields.includes('?')
  if (!mayBeQuartz || !/(^|[,+-])\d/.test(weekdays)) return ''
  const { dayOfWeek, nthDaysOfWeek = [] } = readFields(core)
  const days = new Set([...dayOfWeek, ...nthDaysOfWeek.map((nth) => nth.dayOfWeek)])
  const names = [...days].sort().map((day) => NAMES[day])
  return (
    `; its day of week ${JSON.stringify(weekdays)} is ${names.join(', ')}: ` +
    '1 is Monday here, not Sunday as in Quartz'
  )
}

const NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
