// What a command is, and how its arguments are read. The words of every usage error are made here;
// main.ts prints them and chooses the exit code.

import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Output } from './output.ts'

/** Where a command writes. */
export interface Streams {
  readonly out: Output
  readonly err: Output
}

/** One word after `cronfence`. */
export interface Command {
  /** The arguments, as the help shows them. */
  readonly synopsis: string
  readonly summary: string
  /** The rest of the help: options, formats, exit codes. */
  readonly details: string
  /** Returns the exit code: 0, or 1 for "ran well, and found something wrong". */
  run(args: readonly string[], streams: Streams): Promise<number>
}

/** The command cannot do what it was asked: one line on stderr, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type OptionsConfig = NonNullable<ParseArgsConfig['options']>

/** `parseArgs`, strict, with its complaints as usage errors of one line. */
export function readArguments<const T extends OptionsConfig>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/\n|\. /)
    const hint = sentence.includes('ambiguous') ? 'a dash may begin a value as in --from=-1; ' : ''
    throw new UsageError(`${sentence.replace(/\.$/, '')}; ${hint}see --help`)
  }
}

/** The one expression among the positionals. */
export function oneExpression(positionals: readonly string[]): string {
  const [expression] = positionals
  if (expression !== undefined && positionals.length === 1) return expression
  throw new UsageError(
    expression === undefined
      ? "no expression given; quote it: cronfence next '30 2 * * *'"
      : `one expression expected, not ${positionals.length} arguments; quote it: '30 2 * * *'`,
  )
}

/** The one input among the positionals: a path, or `-` for stdin. */
export function oneInput(positionals: readonly string[], fallback?: '-'): string {
  const [input = fallback] = positionals
  if (input !== undefined && positionals.length <= 1) return input
  throw new UsageError(
    input === undefined
      ? 'no input given: name a file, or - for stdin'
      : `one input expected, not ${positionals.length}`,
  )
}

/** One of the allowed words, or `undefined` when the option is absent. */
export function oneOf<T extends string>(
  option: string,
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  const found = allowed.find((word) => word === value)
  if (value === undefined || found !== undefined) return found
  throw new UsageError(`${option} is one of ${allowed.join(', ')}, not ${JSON.stringify(value)}`)
}

/** A whole number of at least one. */
export function count(option: string, value: string, max: number): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : 0
  if (number >= 1 && number <= max) return number
  throw new UsageError(`${option} is a whole number from 1 to ${max}, not ${JSON.stringify(value)}`)
}
