// npm run simulate -- --seeds N [--from S] [--workers W]: runs N seeds from S on, on W threads, and
// says how far it is. At a violation: the seed, what was violated, that seed's history; exit 1.
// Exit 2 for arguments that are wrong.

import { availableParallelism } from 'node:os'
import { misuse, readArguments } from '../support/arguments.ts'
import { fly, replay } from './fleet.ts'
import { SOMETIMES } from './tally.ts'

const PROGRESS_MS = 10_000
/** The last lines of a history; `--whole` prints all. */
const LINES_MAX = 200

const values = readArguments({
  seeds: { type: 'string', default: '5000' },
  from: { type: 'string', default: '1' },
  workers: { type: 'string', default: String(availableParallelism()) },
  whole: { type: 'boolean', default: false },
})
const [seeds, from, workers] = [count('seeds'), count('from'), count('workers')]

const begunAt = performance.now()
let toldAt = begunAt
const onProgress = (done: number) => {
  const now = performance.now()
  if (now - toldAt < PROGRESS_MS) return
  toldAt = now
  const msPerSeed = ((now - begunAt) / done).toFixed(1)
  console.log(`${done} of ${seeds} seeds, ${msPerSeed} ms each`)
}

const { failed, tally, seeds: done } = await fly({ seeds, from, workers, name: 'run', onProgress })
const seconds = (performance.now() - begunAt) / 1000
for (const name of SOMETIMES) {
  console.log(`${String(tally.counts.get(name) ?? 0).padStart(12)} ${name}`)
}
const years = (tally.counts.get('total: virtual ms') ?? 0) / (365.25 * 86_400_000)
const requests = tally.counts.get('total: requests') ?? 0
const claims = tally.counts.get('total: claims') ?? 0
console.log(
  `${done} seeds from ${from} in ${seconds.toFixed(0)} s: ${years.toFixed(1)} virtual years, ` +
    `${requests} requests, ${claims} claims, ${failed.length} seeds with a violation`,
)

const [first] = failed
if (first) {
  const { history, violations } = await replay(first.seed, 'replay')
  const lines = values.whole ? history : history.slice(-LINES_MAX)
  console.log(lines.join('\n'))
  if (lines.length < history.length) console.log(`(the last ${LINES_MAX} of ${history.length})`)
  console.log(`seed ${first.seed}: ${violations.join('\n  ')}`)
  console.log(`again: npm run simulate -- --seeds 1 --from ${first.seed} --whole`)
  process.exitCode = 1
}

function count(name: 'seeds' | 'from' | 'workers'): number {
  const text = values[name]
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  return misuse(`--${name} must be an integer above 0, got ${text}`)
}
