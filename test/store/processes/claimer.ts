// A process of its own that claims and commits one task as often as it can. Arguments: the file,
// the lease in ms, and how many claims to win (`Infinity`: until it is killed). Prints one line
// when it is ready and one per win: the token.

import { SQLiteStore } from '../../../src/store/sqlite/index.ts'

const [file = '', leaseMs, winsMax] = process.argv.slice(2)
const store = new SQLiteStore({ file, busyBudgetMs: 60_000 })
const schedules = store.schedules()
const owner = String(process.pid)

await schedules.register({ id: 'task', kind: 'every', spec: '1', nextRunAt: 0 }, 0)
process.stdout.write('ready\n')
for (let won = 0; won < Number(winsMax); ) {
  const now = Date.now()
  const claim = await schedules.claimDue('task', owner, now, Number(leaseMs))
  if (!claim) continue
  const { fencingToken } = claim
  const patch = { nextRunAt: 0, lastRunAt: now }
  if (!(await schedules.complete('task', fencingToken, patch, now))) continue
  won++
  process.stdout.write(`${fencingToken}\n`)
}
await store.stop()
