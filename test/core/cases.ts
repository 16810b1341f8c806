// The case files with their right values: how a line reads.
import { readdirSync, readFileSync } from 'node:fs'
import type { Dialect } from '../../bindings/index.ts'

const FOLDER = new URL('./cases/', import.meta.url)

/** A refused expression, or one with its first runs after `from`, each asked from the last. */
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

/** Every line of every file, by file name. */
export function readCases(): Map<string, Case[]> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'))
  return new Map(names.map((name) => [name, readLines(new URL(name, FOLDER))]))
}

/** The lines of the `standard` dialect, the only one that its reference reads. */
export function standardCases(cases: readonly Case[]): Case[] {
  return cases.filter(({ dialect = 'S' }) => dialect === 'S')
}

/** The options a line's expression is parsed with. */
export function optionsOf({ zone = 'UTC', dialect }: Case) {
  return { timeZone: zone, dialect: (dialect === 'E' ? 'extended' : 'standard') as Dialect }
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
