// Schedules as registrations, in this process: what a backend is given, and what it gives back.

import { inProcess } from 'cronfence'

const backend = inProcess()

const heartbeat = backend.register(
  {
    name: 'heartbeat',
    cadence: { every: '200' },
    overlap: 'skip',
    catchUp: 'skip',
    onError: (error, { key }) => console.error(key, error),
  },
  async ({ key }) => console.log('tick', key),
)

const report = backend.register(
  { name: 'report', cadence: { cron: '0 30 6 * * MON-FRI' }, overlap: 'queue', catchUp: 'skip' },
  async ({ scheduledAt }) => console.log('report of', scheduledAt.toISOString()),
)
console.log('the next report is due at', report.next()?.toISOString())

await report.trigger()
await new Promise((resolve) => setTimeout(resolve, 1000))
await Promise.all([heartbeat.stop(), report.stop()])
