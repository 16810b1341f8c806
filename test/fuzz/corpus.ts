// The corpus: for each target a file of JSON strings, one input a line, in order of their length.
// Inputs are text, so that a difference of two versions can be read.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The longest input that is kept: a longer one is cut down by hand, or made by a test. */
const TEXT_MAX = 300

/** The inputs of a target. */
export function readCorpus(name: string): string[] {
  const path = pathOf(name)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as string)
}

/** Keeps these inputs, and no others. */
export function writeCorpus(name: string, inputs: readonly string[]): void {
  const kept = [...new Set(inputs)].filter(({ length }) => length <= TEXT_MAX)
  kept.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  writeFileSync(pathOf(name), kept.map((text) => `${JSON.stringify(text)}\n`).join(''))
}

/** Inputs as the fuzzer wants them: a folder of files. */
export function unpack(inputs: readonly string[], folder: string): void {
  for (const [i, text] of inputs.entries()) writeFileSync(join(folder, `input-${i}`), text)
}

/** What is in such a folder. */
export function packed(folder: string): string[] {
  return readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
}

function pathOf(name: string): string {
  return join(import.meta.dirname, 'corpus', `${name}.jsonl`)
}
