// The examples run as a reader would run them: against the built package, until Ctrl-C.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'cronfence-examples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PATIENCE_MS = 60_000

/** Runs an example until its output holds all of `awaited`, then presses Ctrl-C. */
function run(args: readonly string[], env: Record<string, string>, awaited: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    let output = ''
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`${args[0]}: waited in vain for ${awaited.join(', ')} in:\n${output}`))
    }, PATIENCE_MS)
    const hear = (chunk: Buffer) => {
      const before = awaited.every((text) => output.includes(text))
      output += chunk
      if (!before && awaited.every((text) => output.includes(text))) child.kill('SIGINT')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })
}

it('the grammY bot answers, runs its tasks and stops', async () => {
  const { code, output } = await run(['examples/bot/main.ts'], { BOT_DATA: folder }, [
    'bot started',
    'receives: You will hear from me.',
    'receives: pulse',
    'receives: Launched, and only once.',
  ])
  expect(output).toContain('bot stopped')
  expect(code).toBe(0)
})

it('the service bills every slot and stops', async () => {
  const { code, output } = await run(['examples/service.ts'], { SERVICE_DATA: folder }, [
    'service on http://127.0.0.1:',
    'billed billing@',
  ])
  expect(output).toContain('service stopped')
  expect(code).toBe(0)
})

it('the demo goes on with the same rows after a restart, alone and with replicas', async () => {
  const file = join(folder, 'demo.db')
  const first = await run(['examples/demo/main.ts', '--file', file], {}, ['heartbeat runs slot'])
  expect(first.code).toBe(0)
  expect(first.output).toContain('drained')
  const again = await run(['examples/demo/main.ts', '--file', file, '--replicas', '3'], {}, [
    'heartbeat runs slot',
    'ledger runs slot',
  ])
  expect(again.code).toBe(0)
  const tokens = [...again.output.matchAll(/heartbeat runs slot \S+ token (\d+)/g)].map(
    (m) => +m[1]!,
  )
  expect(tokens[0]).toBeGreaterThan(1)
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
})

it('the demo refuses a number of replicas that is none', async () => {
  const { code, output } = await run(['examples/demo/main.ts', '--replicas', 'x'], {}, ['never'])
  expect(code).toBe(2)
  expect(output).toBe('demo: --replicas: expected a whole number from 1 to 16, got "x"\n')
})
