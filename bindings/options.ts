// The options of an expression, checked once and brought to the numbers that the core takes.

import { localZoneName, type OffsetTable, offsetTableOf } from './offset-table.ts'

/** Which texts are accepted. */
export type Dialect = 'standard' | 'extended'
/** What a wall time in a gap gives: the instant moved by the gap's length, or none. */
export type GapPolicy = 'shift' | 'skip'
/** What a wall time in a fold gives: its first pass, its second, or both. */
export type FoldPolicy = 'first' | 'second' | 'both'

/** What decides the runs of an expression, besides its text. */
export interface ExpressionOptions {
  /** `'standard'` (the default) is five fields of numbers; `'extended'` is what people write. */
  dialect?: Dialect | undefined
  /** An IANA name, `'UTC'`, or `'local'` (the default): the process zone. */
  timeZone?: string | undefined
  /** Default `'shift'` for a fixed hour, `'skip'` for one whose text starts with a star. */
  gap?: GapPolicy | undefined
  /** Default `'first'` for a fixed hour, `'both'` for one whose text starts with a star. */
  fold?: FoldPolicy | undefined
  /** What the extended dialect's `H` hashes; without it `H` is refused. Other texts ignore it. */
  seed?: string | undefined
}

/** The options of `parseCron`. */
export interface ParseOptions extends ExpressionOptions {
  /** How many years `next` and `prev` look ahead and back: 1 to 400, default 4. */
  horizonYears?: number | undefined
}

/** Checked options of one expression. */
export interface Plan {
  readonly timeZone: string
  readonly table: OffsetTable
  readonly dialect: Dialect
  /** Gap, fold and dialect as `compile` of assembly/parse.ts takes them. */
  readonly rules: number
  readonly seed: string | undefined
}

/** The longest seed; it bounds what one call may cost. */
const SEED_MAX = 1024 * 1024

const DIALECTS: readonly string[] = ['standard', 'extended']
const GAP_CODES: readonly string[] = ['', 'shift', 'skip']
const FOLD_CODES: readonly string[] = ['', 'first', 'second', 'both']
const NAMES = ['dialect', 'timeZone', 'gap', 'fold', 'seed']
const PARSE_NAMES = [...NAMES, 'horizonYears']

/**
 * Checks the options of one expression.
 * @throws {TypeError} on an unknown option or a value of the wrong kind
 * @throws {RangeError} on an unknown time zone
 */
export function planOf(options: ExpressionOptions): Plan {
  checkNames(options, NAMES)
  return checkedPlan(options)
}

/**
 * Checks the options of `parseCron`.
 * @throws {TypeError} as `planOf`
 * @throws {RangeError} on an unknown time zone or a horizon outside 1 to 400
 */
export function parsePlanOf(options: ParseOptions): Plan {
  checkNames(options, PARSE_NAMES)
  return checkedPlan(options)
}

/**
 * The horizon to search up to, years.
 * @throws {TypeError} when it is no number
 * @throws {RangeError} when it is not 1 to 400
 */
export function horizonOf({ horizonYears = 4 }: ParseOptions): number {
  if (typeof horizonYears !== 'number') {
    throw new TypeError(`horizonYears: expected a number, got ${typeof horizonYears}`)
  }
  if (!Number.isInteger(horizonYears) || horizonYears < 1 || horizonYears > 400) {
    throw new RangeError(`horizonYears: ${horizonYears} is no whole number from 1 to 400`)
  }
  return horizonYears
}

function checkNames(options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    const got = options === null ? 'null' : typeof options
    throw new TypeError(`options: expected an object, got ${got}`)
  }
  for (const name in options) {
    if (!names.includes(name)) {
      throw new TypeError(
        `options: unknown option ${JSON.stringify(name)}; known are ${names.join(', ')}`,
      )
    }
  }
}

function checkedPlan(options: ExpressionOptions): Plan {
  const { dialect, timeZone = 'local', gap, fold, seed } = options
  const dialectCode = dialect === undefined ? 0 : codeOf('dialect', dialect, DIALECTS)
  if (seed !== undefined && typeof seed !== 'string') {
    throw new TypeError(`seed: expected a string, got ${typeof seed}`)
  }
  if (seed !== undefined && seed.length > SEED_MAX) {
    throw new RangeError(`seed: ${seed.length} characters; at most ${SEED_MAX} are read`)
  }
  const name = timeZone === 'local' ? localZoneName() : timeZone
  const gapCode = gap === undefined ? 0 : codeOf('gap', gap, GAP_CODES)
  const foldCode = fold === undefined ? 0 : codeOf('fold', fold, FOLD_CODES)
  return {
    timeZone: name,
    table: offsetTableOf(name),
    dialect: dialectCode === 0 ? 'standard' : 'extended',
    rules: gapCode + 4 * foldCode + 16 * dialectCode,
    seed,
  }
}

/** The plan with the other dialect. */
export function inExtended(plan: Plan): Plan {
  return { ...plan, dialect: 'extended', rules: plan.rules | 16 }
}

function codeOf(name: string, value: unknown, codes: readonly string[]): number {
  const code = codes.indexOf(value as string)
  if (code < 0 || value === '') {
    const allowed = codes.filter(Boolean).map((text) => `"${text}"`)
    throw new TypeError(`${name}: expected ${allowed.join(', ')}, got ${String(value)}`)
  }
  return code
}
