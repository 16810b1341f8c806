// A run of the fuzzer over one target, beginning with the corpus. What it finds is printed with the
// smallest text that shows it; what reaches new code can be kept.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildTarget } from './build.ts'
import { packed, readCorpus, unpack, writeCorpus } from './corpus.ts'
import type { Target } from './target.ts'

/** An input that takes longer is a defect; the slow reference takes seconds on a busy machine. */
const INPUT_MS_MAX = 60_000
/** Characters of the fuzzer's output that are kept. */
const OUTPUT_MAX = 100_000
/** Inputs grow up to this. */
const INPUT_BYTES_MAX = 4096
/** Targets that return no promise: the fuzzer need not wait for them, which is quicker. */
const SYNC: readonly string[] = ['parser', 'text', 'rows', 'canary']

const JAZZER = createRequire(import.meta.url).resolve('@jazzer.js/core/dist/cli.js')

/** How to fuzz. */
export interface GuidedOptions {
  /** Its name is that of its file. */
  readonly name: string
  readonly target: Target
  readonly seconds: number
  readonly seed: number
  /** Adds the inputs that reached something new to the corpus. */
  readonly keep?: boolean
  /** Called with what the fuzzer writes; it is told whole afterwards as well. */
  readonly onOutput?: (text: string) => void
}

/** What came of it. */
export interface GuidedOutcome {
  readonly ok: boolean
  readonly output: string
  /** How many inputs were tried. */
  readonly inputs: number
  /** Branches and comparisons that the fuzzer told apart. */
  readonly features: number
  /** The text that shows a defect. */
  readonly finding: string | undefined
}

/** Fuzzes for as long as asked, or up to the first defect. */
export async function fuzzGuided(options: GuidedOptions): Promise<GuidedOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-fuzz-'))
  try {
    return await inFolder(folder, options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function inFolder(folder: string, options: GuidedOptions): Promise<GuidedOutcome> {
  const { name, target, seconds, seed, keep = false, onOutput = () => {} } = options
  const file = await buildTarget(name)
  const [found, corpus] = [join(folder, 'found'), join(folder, 'corpus')]
  for (const each of [found, corpus]) mkdirSync(each)
  const known = readCorpus(name)
  unpack([...known, ...target.seeds], corpus)
  const dictionary = join(folder, 'words')
  writeFileSync(dictionary, target.words.map(dictionaryLine).join(''))

  const flags = [`-seed=${seed}`, `-max_len=${INPUT_BYTES_MAX}`]
  const fuzzing = ['-rss_limit_mb=3000', `-dict=${dictionary}`, `-artifact_prefix=${folder}/`]
  // With it an input that only comes nearer to some comparison counts too: many of them.
  const values = `-use_value_profile=${keep ? 0 : 1}`
  const search = [`-max_total_time=${seconds}`, '-print_final_stats=1', values]
  const args = [file, found, corpus, '--', ...flags, ...fuzzing, ...search]
  const { output, status } = await jazzer(name, args, onOutput)
  if (keep && status === 0) writeCorpus(name, [...known, ...packed(found)])
  return { ok: status === 0, output, finding: findingIn(folder), ...countsIn(output) }
}

async function jazzer(name: string, args: string[], onOutput: (text: string) => void) {
  const mode = SYNC.includes(name) ? ['--sync'] : []
  const scope = ['--includes=cronfence/fuzz', '--excludes=nothing', `--timeout=${INPUT_MS_MAX}`]
  const node = ['--import', pathToFileURL(join(import.meta.dirname, 'older-glibc.mjs')).href]
  const child = spawn(process.execPath, [...node, JAZZER, ...mode, ...scope, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_MAX)
      onOutput(text)
    })
  }
  const [status] = await once(child, 'close')
  return { output, status: status as number | null }
}

function findingIn(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^(crash|timeout|oom|slow)-/.test(name))
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8')
}

function countsIn(output: string): { inputs: number; features: number } {
  // The last lines may be lost when the process ends: each line before them has a count as well.
  const counts = [...output.matchAll(/^#(\d+)|stat::number_of_executed_units: (\d+)/gm)]
  const inputs = Math.max(0, ...counts.map(([, soFar, all]) => Number(soFar ?? all)))
  const features =
    output
      .match(/ft: (\d+)/g)
      ?.at(-1)
      ?.slice('ft: '.length) ?? '0'
  return { inputs, features: Number(features) }
}

/** A line of a dictionary: the word's bytes. */
function dictionaryLine(word: string): string {
  const bytes = [...Buffer.from(word)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
  return `"${bytes.join('')}"\n`
}
