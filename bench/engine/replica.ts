// A replica in a process of its own: registers, says so, waits for the others, measures, reports.

import { once } from 'node:events'
import { measure, type Question } from './load.ts'
import { contestant } from './stores.ts'

const [name, folder, question] = process.argv.slice(2)
if (!name || !folder || !question) throw new Error('started by index.ts only')

const { schedules, close } = contestant(name).open(folder)
const measured = await measure(schedules, JSON.parse(question) as Question, async () => {
  process.send?.('ready')
  await once(process, 'message')
})
await close()
process.send?.(measured, () => process.disconnect())
