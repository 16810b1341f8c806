// A plain service: an HTTP health page, one task in memory, one durable task with fenced writes.
//
//   npx tsx examples/service.ts

import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Scheduler } from 'cronfence'
import { SQLiteStore } from 'cronfence/sqlite'

const { SERVICE_DATA: folder = 'data' } = process.env
mkdirSync(folder, { recursive: true })

const store = new SQLiteStore({ file: `${folder}/service.db` })
const scheduler = new Scheduler({ store: store.schedules(), owner: 'service' })

/** Stands for any resource that checks the fencing token: it refuses whoever comes late. */
const ledger = { token: 0, entries: [] as string[] }
function write(token: number, entry: string): void {
  if (token < ledger.token) throw new Error(`stale token ${token}, ${ledger.token} was here`)
  ledger.token = token
  ledger.entries.push(entry)
}

scheduler.every('500ms', () => ledger.entries.splice(0, ledger.entries.length - 100))
const billing = scheduler.every(
  '1s',
  { id: 'billing', missed: 'catch-up', leaseMs: '10s' },
  ({ occurrenceKey, fencingToken, signal }) => {
    signal.throwIfAborted()
    write(fencingToken, occurrenceKey)
    console.log(`billed ${occurrenceKey}`)
  },
)

await scheduler.start()
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ nextBilling: billing.nextRunAt, entries: ledger.entries.length }))
})
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`service on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

process.once('SIGINT', async () => {
  await scheduler.stop()
  await store.stop()
  server.close()
  console.log('service stopped')
})
