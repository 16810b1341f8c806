// The same contract over a scheduler and any of its stores, here a SQLite file: what falls due
// while nothing runs is made up for at the next start. Run it twice, with a pause in between.

import { durable, Scheduler } from 'cronfence'
import { SQLiteStore } from 'cronfence/sqlite'

const store = new SQLiteStore({ file: process.argv[2] ?? 'example.db' })
const scheduler = new Scheduler({ store: store.schedules() })

const registration = durable(scheduler).register(
  {
    name: 'invoices',
    cadence: { cron: '*/2 * * * * *' },
    overlap: 'queue',
    catchUp: 'all',
    onError: (error, { key }) => console.error(key, error),
  },
  async ({ key }) => console.log(key),
)

await scheduler.start()
await new Promise((resolve) => setTimeout(resolve, 6000))
await registration.stop()
await scheduler.stop()
await store.stop()
