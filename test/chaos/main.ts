// `npm run chaos -- --store X --minutes N`: one chaos run by command, or `--rounds N` faults in
// quick succession; `--seed S` repeats the choice of faults. Exit code 1 on a violation, with the
// history that shows it; the run's folder is kept then. Exit code 2 for arguments that are wrong.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { misuse, readArguments } from '../support/arguments.ts'
import { report } from './report.ts'
import { runChaos } from './run.ts'
import { STORE_NAMES, type StoreName } from './store-names.ts'

const values = readArguments({
  store: { type: 'string' },
  minutes: { type: 'string' },
  rounds: { type: 'string' },
  seed: { type: 'string' },
})

function chosenStore(): StoreName {
  const found = STORE_NAMES.find((name) => name === values.store)
  return found ?? misuse(`--store must be one of ${STORE_NAMES.join(', ')}, got ${values.store}`)
}

function positive(name: 'minutes' | 'rounds' | 'seed'): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const isRight = name === 'minutes' ? Number(text) > 0 : /^[1-9]\d{0,14}$/.test(text)
  const wanted = name === 'minutes' ? 'a number above 0' : 'an integer above 0'
  return isRight ? Number(text) : misuse(`--${name} must be ${wanted}, got ${text}`)
}

const store = chosenStore()
const [minutes, rounds] = [positive('minutes'), positive('rounds')]
const seed = positive('seed') ?? Math.floor(Math.random() * 2 ** 31)

const folder = mkdtempSync(join(tmpdir(), `cronfence-chaos-${store}-`))
// For the servers too, which run as users of their own.
chmodSync(folder, 0o1777)
process.env.TMPDIR = folder

const startedAt = performance.now()
console.log(`chaos on ${store}, seed ${seed}, in ${folder}`)
const result = await runChaos({
  ...{ store, seed, folder, plan: 'light', replicas: 3 },
  rounds: rounds ?? (minutes === undefined ? 100 : Infinity),
  lengthMs: (minutes ?? Infinity) * 60_000,
  pauseMs: rounds === undefined && minutes !== undefined ? [4000, 12_000] : [200, 1200],
})
const { summary, history, isClean } = report(result)
console.log(`${store}, seed ${seed}, ${took()} min: ${summary}`)
await result.end(!isClean)
if (isClean) rmSync(folder, { recursive: true, force: true })
else {
  console.error(`${history}\nThe log and all else is in ${folder}`)
  process.exitCode = 1
}

function took(): string {
  return ((performance.now() - startedAt) / 60_000).toFixed(1)
}
