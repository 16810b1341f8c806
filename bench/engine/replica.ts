// A replica in a process of its own: registers, says so, waits for the others, measures, reports.

import { once } from 'node:events'
import { type Load, measure } from './load.ts'
import { contestant, type Place } from './stores.ts'

const [name, place, load] = process.argv.slice(2)
if (!name || !place || !load) throw new Error('started by replicas.ts only')

const store = contestant(name).open(JSON.parse(place) as Place)
const measured = await measure(store, {
  ...(JSON.parse(load) as Omit<Load, 'start'>),
  async start() {
    process.send?.('ready')
    const [firstBurst] = await once(process, 'message')
    return firstBurst as number
  },
})
await store.close()
process.send?.(measured, () => process.disconnect())
