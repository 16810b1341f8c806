// Runs another program for a test: no shell, no terminal, its output as text.

import { spawnSync } from 'node:child_process'

/** Where and with what a command runs. */
export interface CommandOptions {
  readonly cwd?: string
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program to its end and returns its standard output; a failure throws all it printed. */
export function run(command: string, args: readonly string[], options: CommandOptions = {}) {
  const { status, signal, error, stdout, stderr } = spawnSync(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) {
    const end = error?.message ?? (signal ? `ended by ${signal}` : `exit code ${status}`)
    throw new Error([`${command} ${args.join(' ')}: ${end}`, stdout, stderr].join('\n'))
  }
  return stdout
}
