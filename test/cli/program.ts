// Runs the program as it is built, the way a shell would.

import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const MAIN = join(import.meta.dirname, '../../dist/cli/main.js')
if (!existsSync(MAIN)) throw new Error('The program is not built: run `npm run build` first')

/** No terminal, a fixed width and a fixed process zone. */
const ENV = { ...process.env, TZ: 'Asia/Kolkata', COLUMNS: '100' }

/** What the program left behind. */
export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs `cronfence ARGS` to its end. */
export function cronfence(args: readonly string[], input: string | Uint8Array = ''): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    env: ENV,
    encoding: 'utf8',
    input,
    maxBuffer: 64 * 1024 * 1024,
  })
  return { status, stdout, stderr }
}

/** Runs a shell command in which `$CRONFENCE` is the program. */
export function shell(command: string): Outcome {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    env: { ...ENV, CRONFENCE: `${process.execPath} ${MAIN}` },
    encoding: 'utf8',
    input: '',
  })
  return { status, stdout, stderr }
}

/** Starts the program and leaves its streams to the test; `flags` are Node's. */
export function start(
  args: readonly string[],
  flags: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [...flags, MAIN, ...args], { env: ENV })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

/** A file with this text, gone after the test. */
export function file(text: string | Uint8Array, name = 'list.txt'): string {
  const path = join(folder(), name)
  writeFileSync(path, text)
  return path
}

/** An empty folder, gone after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cronfence-cli-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
