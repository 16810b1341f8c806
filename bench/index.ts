// Answers every question in turn, on the built package, and ends with a table for the README and
// a verdict on each bound. Exit code 1 when a bound is missed. Names given as arguments select.

import { availableParallelism, cpus } from 'node:os'
import { batch } from './batch.ts'
import { coldZone } from './cold-zone.ts'
import { enumerate } from './enumerate.ts'
import { extended } from './extended.ts'
import type { Goal, Outcome, Row } from './measure.ts'
import { memory } from './memory.ts'
import { next } from './next.ts'
import { parse } from './parse.ts'
import { rare } from './rare.ts'
import { goalText, isReached, markdownTable, rowText } from './report.ts'

const QUESTIONS: Readonly<Record<string, () => Promise<Outcome>>> = {
  parse,
  next,
  rare,
  extended,
  enumerate,
  batch,
  'cold-zone': coldZone,
  memory,
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in QUESTIONS))
if (unknown.length > 0) {
  console.error(
    `No such question: ${unknown.join(', ')}. Ask ${Object.keys(QUESTIONS).join(', ')}.`,
  )
  process.exit(2)
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores`
console.log(`Node ${process.version}, ${machine}, process zone ${timeZone}; processor time\n`)

const rows: Row[] = []
const goals: Goal[] = []
for (const [name, answer] of Object.entries(QUESTIONS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const outcome = await answer()
  for (const row of outcome.rows) console.log(rowText(row))
  rows.push(...outcome.rows)
  goals.push(...outcome.goals)
}

console.log(`\n${markdownTable(rows)}\n`)
for (const goal of goals) console.log(goalText(goal))
process.exitCode = goals.every(isReached) ? 0 : 1
