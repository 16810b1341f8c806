// A process of its own that claims and commits one task as often as it can. Arguments: the server's
// URL, the database, the lease in ms, and how many claims to win (`Infinity`: until it is killed).
// Prints the token of each win.

import { MongoStore } from '../../../src/store/mongo/index.ts'

const [url = '', database = '', leaseMs, winsMax] = process.argv.slice(2)
const store = new MongoStore({ url, database, onWarning: () => {} })
const schedules = store.schedules()

await schedules.register({ id: 'task', kind: 'every', spec: '1', nextRunAt: 0 }, 0)
for (let won = 0; won < Number(winsMax); ) {
  const now = Date.now()
  const claim = await schedules.claimDue('task', String(process.pid), now, Number(leaseMs))
  if (!claim) continue
  const { fencingToken } = claim
  const patch = { nextRunAt: 0, lastRunAt: now }
  if (!(await schedules.complete('task', fencingToken, patch, now))) continue
  won++
  process.stdout.write(`${fencingToken}\n`)
}
await store.stop()
