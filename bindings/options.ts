// The options of an expression, checked once and brought to the numbers that the core takes.

import { localZoneName, type OffsetTable, offsetTableOf } from './offset-table.ts'

/** Which texts are accepted. */
export type Dialect = 'standard'
/** What a wall time in a gap gives: the instant moved by the gap's length, or none. */
export type GapPolicy = 'shift' | 'skip'
/** What a wall time in a fold gives: its first pass, its second, or both. */
export type FoldPolicy = 'first' | 'second' | 'both'

/** What decides the runs of an expression, besides its text. */
export interface ExpressionOptions {
  /** Default `'standard'`. */
  dialect?: Dialect | undefined
  /** An IANA name, `'UTC'`, or `'local'` (the default): the process zone. */
  timeZone?: string | undefined
  /** Default `'shift'` for a fixed hour, `'skip'` for one whose text starts with a star. */
  gap?: GapPolicy | undefined
  /** Default `'first'` for a fixed hour, `'both'` for one whose text starts with a star. */
  fold?: FoldPolicy | undefined
  /** Text that the extended dialect's `H` hashes; the standard dialect does not use it. */
  seed?: string | undefined
}

/** The options of `parseCron`. */
export interface ParseOptions extends ExpressionOptions {
  /** How many years `next` and `prev` look ahead and back: 1 to 400, default 4. */
  horizonYears?: number | undefined
}

/** Checked options. `gap` and `fold` are the codes of assembly/parse.ts, 0 for the default. */
export interface Plan {
  readonly timeZone: string
  readonly table: OffsetTable
  readonly gap: number
  readonly fold: number
}

const DIALECTS: readonly string[] = ['standard']
const GAP_CODES: readonly string[] = ['', 'shift', 'skip']
const FOLD_CODES: readonly string[] = ['', 'first', 'second', 'both']
const NAMES = ['dialect', 'timeZone', 'gap', 'fold', 'seed']
const PARSE_NAMES = [...NAMES, 'horizonYears']

/**
 * Checks the options of one expression.
 * @throws {TypeError} on an unknown option or a value of the wrong kind
 * @throws {RangeError} on an unknown time zone
 */
export function planOf(options: ExpressionOptions, names: readonly string[] = NAMES): Plan {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `options: expected an object, got ${options === null ? 'null' : typeof options}`,
    )
  }
  for (const name in options) {
    if (!names.includes(name)) {
      throw new TypeError(
        `options: unknown option ${JSON.stringify(name)}; known are ${names.join(', ')}`,
      )
    }
  }
  const { dialect, timeZone = 'local', gap, fold, seed } = options
  if (dialect !== undefined) codeOf('dialect', dialect, DIALECTS)
  if (seed !== undefined && typeof seed !== 'string') {
    throw new TypeError(`seed: expected a string, got ${typeof seed}`)
  }
  const name = timeZone === 'local' ? localZoneName() : timeZone
  return {
    timeZone: name,
    table: offsetTableOf(name),
    gap: gap === undefined ? 0 : codeOf('gap', gap, GAP_CODES),
    fold: fold === undefined ? 0 : codeOf('fold', fold, FOLD_CODES),
  }
}

/**
 * Checks the options of `parseCron`.
 * @throws {TypeError} as `planOf`
 * @throws {RangeError} on an unknown time zone or a horizon outside 1 to 400
 */
export function parsePlanOf(options: ParseOptions): Plan & { readonly horizonYears: number } {
  const plan = planOf(options, PARSE_NAMES)
  const { horizonYears = 4 } = options
  if (typeof horizonYears !== 'number') {
    throw new TypeError(`horizonYears: expected a number, got ${typeof horizonYears}`)
  }
  if (!Number.isInteger(horizonYears) || horizonYears < 1 || horizonYears > 400) {
    throw new RangeError(`horizonYears: ${horizonYears} is no whole number from 1 to 400`)
  }
  return { ...plan, horizonYears }
}

function codeOf(name: string, value: unknown, codes: readonly string[]): number {
  const code = codes.indexOf(value as string)
  if (code < 0 || value === '') {
    const allowed = codes.filter(Boolean).map((text) => `"${text}"`)
    throw new TypeError(`${name}: expected ${allowed.join(', ')}, got ${String(value)}`)
  }
  return code
}
