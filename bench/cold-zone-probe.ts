// Prints, as JSON, the ms that each zone's first use took in this process (see cold-zone.ts).

import { contestantNamed } from './contestants.ts'
import { ZONES } from './workload.ts'

const { prepare } = contestantNamed(process.argv[2])
const from = new Date('2026-03-01T00:00:00Z')

// Loads the host's own zone data and the library; Etc/GMT is not among the zones.
new Intl.DateTimeFormat('en-US', { timeZone: 'Etc/GMT' }).format(from)
prepare('30 2 * * *', 'Etc/GMT')(from)

const ms = ZONES.map((zone) => {
  const start = performance.now()
  prepare('30 2 * * *', zone)(from)
  return performance.now() - start
})
console.log(JSON.stringify(ms))
