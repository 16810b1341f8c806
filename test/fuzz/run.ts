// npm run fuzz -- [--target T] [--minutes N] [--seed S] [--keep]
// T is `reference` (random expressions beside a slow second implementation; the default), one of
// the coverage-guided targets, or `all` of these one after the other. --keep puts what the fuzzer
// found worth keeping into the corpus. Exit 1 at a defect, with the text that shows it; exit 2 for
// arguments that are wrong.

import { fuzzReference } from '../core/fuzz.ts'
import { misuse, readArguments } from '../support/arguments.ts'
import { fuzzGuided } from './guided.ts'
import { TARGETS } from './targets/index.ts'

const values = readArguments({
  target: { type: 'string', default: 'reference' },
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string' },
  keep: { type: 'boolean', default: false },
})
const { target, keep } = values
const minutes = Number(values.minutes)
const seed = Number(values.seed ?? (Date.now() % 2 ** 31) + 1)
const names = Object.keys(TARGETS)
const choices = ['reference', 'all', ...names]
if (!choices.includes(target))
  misuse(`--target must be one of ${choices.join(', ')}, got ${target}`)
if (!(minutes > 0)) misuse(`--minutes must be a number above 0, got ${values.minutes}`)
if (!Number.isInteger(seed)) misuse(`--seed must be an integer, got ${values.seed}`)

if (target === 'reference') process.exitCode = fuzzReference({ minutes, seed }) ? 0 : 1
else for (const name of target === 'all' ? names : [target]) await guided(name)

async function guided(name: string): Promise<void> {
  console.log(`${name}: seed ${seed}, ${minutes} min`)
  const { ok, inputs, features, finding } = await fuzzGuided({
    name,
    target: TARGETS[name]!,
    seconds: Math.ceil(minutes * 60),
    seed,
    keep,
    onOutput: (text) => process.stderr.write(text),
  })
  console.log(`${name}: ${inputs} inputs, ${features} features, ${ok ? 'no defect' : 'a defect'}`)
  if (finding !== undefined) console.log(`It shows with ${JSON.stringify(finding)}`)
  if (!ok) process.exit(1)
}
