// `npm start`: durable tasks on a SQLite file in ./data. Kill it, start it again, and it goes on
// where it was; `npm start -- --replicas 3` runs three processes on the same file.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type DemoEvent, type Replica, startReplica } from './replica.ts'
import { Screen } from './screen.ts'

const REPLICAS_MAX = 16

/** The options, or what is wrong with them. */
function options(): { file: string; replicas: number } | string {
  try {
    const { values } = parseArgs({
      options: { file: { type: 'string' }, replicas: { type: 'string' } },
    })
    const { file = 'data/demo.db', replicas = '1' } = values
    if (!/^\d+$/.test(replicas) || +replicas < 1 || +replicas > REPLICAS_MAX) {
      return `--replicas: expected a whole number from 1 to ${REPLICAS_MAX}, got "${replicas}"`
    }
    return { file, replicas: Number(replicas) }
  } catch (error) {
    return (error as Error).message
  }
}

/** A replica in a child process. */
function startChild(file: string, name: string, screen: Screen): Replica {
  const child: ChildProcess = fork(fileURLToPath(new URL('child.ts', import.meta.url)), [file])
  const gone = once(child, 'exit').then(([code, signal]) => {
    screen.note(`${name}  ended (${signal ?? code})`)
  })
  child.on('message', (event) => screen.tell(name, event as DemoEvent))
  screen.note(`${name}  is process ${child.pid}; try kill -9 ${child.pid}`)
  return {
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

async function main(): Promise<void> {
  const chosen = options()
  if (typeof chosen === 'string') {
    console.error(`demo: ${chosen}`)
    process.exitCode = 2
    return
  }
  const { file, replicas } = chosen
  if (file === 'data/demo.db') mkdirSync('data', { recursive: true })
  const screen = new Screen(
    `cronfence: durable tasks on ${file}, ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}` +
      '. Ctrl-C drains and ends.',
  )
  screen.open()
  const running =
    replicas === 1
      ? [await startReplica(file, (event) => screen.tell(`pid ${process.pid}`, event))]
      : Array.from({ length: replicas }, (_, i) => startChild(file, `replica ${i + 1}`, screen))
  const keepAlive = setInterval(() => {}, 60_000)

  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    screen.note('draining: no new runs, waiting for those that go on')
    await Promise.all(running.map((replica) => replica.stop()))
    clearInterval(keepAlive)
    screen.note('drained; start again and the tasks go on where they are')
    screen.close()
  }
  process.on('SIGINT', () => void stop())
  process.on('SIGTERM', () => void stop())
}

await main()
