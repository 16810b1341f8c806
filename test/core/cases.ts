// The case files with their right values: how a line reads, and which lines are run.
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('./cases/', import.meta.url)

/** A refused expression, or one with its first runs after `from`, each asked from the one before. */
export interface Case {
  readonly id: string
  readonly expr: string
  readonly zone?: string
  readonly from?: string
  readonly next?: readonly string[]
  /** No further run exists inside the horizon. An empty `next` says the same. */
  readonly exhausted?: boolean
  readonly error?: boolean
  /** S is `standard` (the default), E is `extended`. */
  readonly dialect?: 'S' | 'E'
  readonly kind?: string
}

/** Dialect E is not in here until issue 6 builds the `extended` dialect; add 'E' to run its lines. */
export const dialectsRun: ReadonlySet<string> = new Set(['S'])

/** Every line of every file, by file name. */
export function readCases(): Map<string, Case[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'))
  return new Map(names.map((name) => [name, readLines(new URL(name, FOLDER))]))
}

/** The lines of one file whose dialect is run. */
export function casesToRun(cases: readonly Case[]): Case[] {
  return cases.filter((one) => dialectsRun.has(one.dialect ?? 'S'))
}

/** The results a case expects in turn, as instants, closed by `null` where it is exhausted. */
export function expectedRuns(one: Case): (number | null)[] {
  const runs: (number | null)[] = (one.next ?? []).map((text) => Date.parse(text))
  return one.exhausted || runs.length === 0 ? [...runs, null] : runs
}

function readLines(file: URL): Case[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Case)
}
