// Runs a probe in a process of its own, for what can be measured once per process only: the first
// use of something, and memory.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs `bench/<file>` with these arguments and returns the JSON it prints. */
export function probe<Answer>(file: string, args: readonly string[]): Answer {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const flags = ['--expose-gc', '--max-old-space-size=6000', '--import', 'tsx']
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, path, ...args], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed:\n${stderr}`)
  return JSON.parse(stdout)
}
