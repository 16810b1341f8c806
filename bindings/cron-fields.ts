// What a text says, field by field, read back from the core right after it compiled it.

import type { Core } from './module.ts'

/** The values of each field, ascending; Sunday is 0. */
export interface CronFields {
  /** Only where the text has a field for seconds. */
  readonly second?: readonly number[]
  readonly minute: readonly number[]
  readonly hour: readonly number[]
  /** The days told by their number; `lastDays` and `nearestWeekday` come on top. */
  readonly dayOfMonth: readonly number[]
  readonly month: readonly number[]
  /** The weekdays meant every week; `nthDaysOfWeek` come on top. */
  readonly dayOfWeek: readonly number[]
  /** Only where the text has a field for years. */
  readonly year?: readonly number[]
  /** `L` and `L-n`, where the text has any: how many days before the month's last. */
  readonly lastDays?: readonly number[]
  /** `nW` or `LW`: the weekday nearest to day n, or to the month's last day. */
  readonly nearestWeekday?: number | 'last'
  /** `d#n`, `dL` and `d#L`, where the text has any. */
  readonly nthDaysOfWeek?: readonly NthDayOfWeek[]
}

/** A weekday once a month. */
export interface NthDayOfWeek {
  /** 0 (Sunday) to 6. */
  readonly dayOfWeek: number
  /** 1 to 5, or the last one of the month. */
  readonly nth: number | 'last'
}

// Words of the output area (assembly/abi.ts).
const FIELD_COUNT = 3
const FROM_END = 8
const NEAREST = 9
const NTH = 10
const LAST = 12
/** As NEAREST: the month's last day (assembly/days.ts). */
const LAST_WEEKDAY = 32

/** How many fields the text compiled last has; 0 for `@reboot`. */
export function fieldCountOf(core: Core): number {
  return core.readings().output[FIELD_COUNT]!
}

/** The fields of the text compiled last. */
export function readFields(core: Core): CronFields {
  const { output, masks } = core.readings()
  const count = output[FIELD_COUNT]!
  const field = (index: number) => membersOf(masks.subarray(index * 2, index * 2 + 2))
  const lastDays = membersOf([reversed(output[FROM_END]!)])
  const nthDaysOfWeek = nthDaysOf([output[NTH]!, output[NTH + 1]!], output[LAST]!)
  const nearest = output[NEAREST]!
  return Object.freeze({
    ...(count >= 6 && { second: field(0) }),
    minute: field(1),
    hour: field(2),
    dayOfMonth: field(3),
    month: field(4),
    dayOfWeek: Object.freeze([...new Set(field(5).map((day) => day % 7))].sort()),
    ...(count >= 7 && { year: Object.freeze(membersOf(masks.subarray(12)).map((y) => 1970 + y)) }),
    ...(lastDays.length > 0 && { lastDays }),
    ...(nearest > 0 && { nearestWeekday: nearest === LAST_WEEKDAY ? 'last' : nearest }),
    ...(nthDaysOfWeek.length > 0 && { nthDaysOfWeek }),
  })
}

function nthDaysOf(words: readonly number[], last: number): readonly NthDayOfWeek[] {
  const days: NthDayOfWeek[] = [
    ...membersOf(words).map((bit) => ({ dayOfWeek: bit % 7, nth: Math.floor(bit / 7) + 1 })),
    ...membersOf([last]).map((dayOfWeek) => ({ dayOfWeek, nth: 'last' as const })),
  ]
  return Object.freeze(days.map((day) => Object.freeze(day)))
}

/** The numbers of the bits that are set, the first word lowest. */
function membersOf(words: ArrayLike<number>): readonly number[] {
  const members: number[] = []
  for (let bit = 0; bit < words.length * 32; bit++) {
    if ((words[bit >> 5]! >>> (bit & 31)) & 1) members.push(bit)
  }
  return Object.freeze(members)
}

function reversed(word: number): number {
  let result = 0
  for (let bit = 0; bit < 32; bit++) if ((word >>> bit) & 1) result |= 1 << (31 - bit)
  return result
}
