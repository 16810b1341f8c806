// The Redis server of a benchmark: the one of CRONFENCE_BENCH_REDIS_URL, whose data is left behind,
// or one of its own with its log on disk, as it would run in production.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Where replicas look for the server; set for processes that are started later. */
export const REDIS_URL = 'CRONFENCE_BENCH_REDIS_URL'

const PORT = 16_379
const STARTED_MS_MAX = 10_000

/** Starts a server unless there is one, and answers how to end it. */
export async function startRedis(): Promise<() => Promise<void>> {
  if (process.env[REDIS_URL]) return async () => {}
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-bench-redis-'))
  const settings = ['--bind', '127.0.0.1', '--port', String(PORT), '--dir', folder]
  const log = ['--save', '', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction']
  const server = spawn('redis-server', [...settings, ...log], { stdio: 'ignore' })
  const remedy = `install redis-server, or name a server in ${REDIS_URL}`
  const failed = once(server, 'error').then(([cause]) => {
    throw new Error(`redis-server did not start: ${remedy}`, { cause })
  })
  await Promise.race([answers(), failed])
  process.env[REDIS_URL] = `redis://127.0.0.1:${PORT}`
  process.once('exit', () => server.kill('SIGKILL'))
  return async () => {
    const end = once(server, 'exit')
    server.kill()
    await end
    delete process.env[REDIS_URL]
    rmSync(folder, { recursive: true, force: true })
  }
}

async function answers(): Promise<void> {
  const giveUpAt = performance.now() + STARTED_MS_MAX
  while (performance.now() < giveUpAt) {
    const socket = connect(PORT, '127.0.0.1')
    const isUp = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isUp) return
    await delay(50)
  }
  throw new Error('redis-server did not answer in time')
}
