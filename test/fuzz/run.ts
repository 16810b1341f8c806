// npm run fuzz -- [--target T] [--minutes N] [--seed S] [--keep]
// T is `reference` (random expressions beside a slow second implementation; the default), one of
// the coverage-guided targets, or `all` of these one after the other. --keep puts what the fuzzer
// found worth keeping into the corpus. Exit 1 at a defect, with the text that shows it.

import { parseArgs } from 'node:util'
import { fuzzGuided } from './guided.ts'
import { TARGETS } from './targets/index.ts'

const { values } = parseArgs({
  options: {
    target: { type: 'string', default: 'reference' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    keep: { type: 'boolean' },
  },
})
const { target, keep = false } = values
const minutes = Number(values.minutes)
const seed = Number(values.seed ?? (Date.now() % 2 ** 31) + 1)
const names = Object.keys(TARGETS)
const isTarget = ['reference', 'all', ...names].includes(target)
if (!isTarget || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error(`Usage: npm run fuzz -- --target ${['reference', 'all', ...names].join('|')}`)
  console.error('  [--minutes N] [--seed S] [--keep], N above 0, S an integer')
  process.exit(2)
}

if (target === 'reference') await import('../core/fuzz.ts')
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
