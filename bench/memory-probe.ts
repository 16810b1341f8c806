// Prints the bytes that each kept expression added to this process (see memory.ts).

import { setTimeout } from 'node:timers/promises'
import { CronBatch } from 'cronfence/engine'
import { contestantNamed } from './contestants.ts'
import { distinctExpression } from './workload.ts'

const [name, countText] = process.argv.slice(2)
const count = Number(countText)

const batch = new CronBatch()
const keep =
  name === 'batch'
    ? (text: string) => batch.add(text, { timeZone: 'Europe/Madrid' })
    : contestantNamed(name).parse

const kept: unknown[] = new Array(count).fill(0)
keep(distinctExpression(0))
const before = await settledBytes()
for (let index = 0; index < count; index += 1) kept[index] = keep(distinctExpression(index))
const after = await settledBytes()
if (kept.length !== count) throw new Error('What was kept must stay alive until here')
console.log(JSON.stringify((after - before) / count))

/** Heap and everything outside it, `WebAssembly.Memory` included, once garbage is gone. */
async function settledBytes(): Promise<number> {
  if (gc === undefined) throw new Error('Run with --expose-gc')
  for (let round = 0; round < 4; round += 1) {
    gc()
    await setTimeout(20)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
