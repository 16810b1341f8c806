// A replica in a process of its own: `--replicas N` starts N of these, and they tell their parent.

import { startReplica } from './replica.ts'

const [file] = process.argv.slice(2)
if (file === undefined || !process.send) throw new Error('started by main.ts only')

const replica = await startReplica(file, (event) => {
  // The parent may be gone already; the run goes on all the same.
  if (process.connected) process.send?.(event)
})

let isStopping = false
async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  await replica.stop()
  process.disconnect?.()
}
process.on('SIGTERM', stop)
// Ctrl-C reaches the whole process group; the parent decides.
process.on('SIGINT', () => {})
process.on('disconnect', stop)
