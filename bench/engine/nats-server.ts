// The NATS server of a benchmark: the one of CRONFENCE_BENCH_NATS_URL, whose buckets are left
// behind, or one of its own with JetStream on disk, as it would run in production.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where replicas look for the server; set for processes that are started later. */
export const NATS_URL = 'CRONFENCE_BENCH_NATS_URL'

const PORT = 14_222
const STARTED_MS_MAX = 10_000

/** Starts a server unless there is one, and answers how to end it. */
export async function startNats(): Promise<() => Promise<void>> {
  if (process.env[NATS_URL]) return async () => {}
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-bench-nats-'))
  const address = ['--addr', '127.0.0.1', '--port', String(PORT)]
  const server = spawn(program(), [...address, '--jetstream', '--store_dir', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const remedy = `install nats-server, or name a server in ${NATS_URL}`
  const failed = once(server, 'error').then(([cause]) => {
    throw new Error(`nats-server did not start: ${remedy}`, { cause })
  })
  process.once('exit', () => server.kill('SIGKILL'))
  const ready = new Promise<void>((resolve, reject) => {
    const late = () => reject(new Error(`nats-server was not ready in time: ${remedy}`))
    const deadline = setTimeout(late, STARTED_MS_MAX)
    server.stderr.on('data', (text) => {
      if (!String(text).includes('Server is ready')) return
      clearTimeout(deadline)
      resolve()
    })
  })
  await Promise.race([ready, failed])
  process.env[NATS_URL] = `nats://127.0.0.1:${PORT}`
  return async () => {
    const end = once(server, 'exit')
    server.kill()
    await end
    delete process.env[NATS_URL]
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The one that the tests have built, else the one on PATH. */
function program(): string {
  const cache = join(import.meta.dirname, '../../node_modules/.cache/cronfence')
  const built = existsSync(cache) ? readdirSync(cache) : []
  const found = built
    .filter((name) => name.startsWith('nats-server'))
    .map((name) => join(cache, name, 'nats-server'))
    .find((file) => existsSync(file))
  return found ?? 'nats-server'
}
