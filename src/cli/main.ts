#!/usr/bin/env node
// The program `cronfence`: picks a command, and turns what it throws into one line on stderr and an
// exit code. 0: fine; 1: it ran, and found something wrong; 2: it could not do what was asked.

import { readFileSync } from 'node:fs'
import { CronSyntaxError } from '../../bindings/index.ts'
import { batchCommand } from './batch.ts'
import { caretLines } from './caret.ts'
import { checkCommand } from './check.ts'
import { type Command, UsageError } from './command.ts'
import { explainCommand } from './explain.ts'
import { listCommand } from './list.ts'
import { nextCommand } from './next.ts'
import { isReaderGone, Output } from './output.ts'
import { printableStart } from './printable.ts'
import { tasksCommand } from './tasks.ts'

const COMMANDS: Readonly<Record<string, Command>> = {
  next: nextCommand,
  explain: explainCommand,
  check: checkCommand,
  list: listCommand,
  batch: batchCommand,
  tasks: tasksCommand,
}

/** Longest error line. */
const ERROR_LENGTH_MAX = 500

const out = new Output(process.stdout)
const err = new Output(process.stderr)

// Nothing waits any more once the command is done: an input that was left half read must not keep
// the process alive. Writes have been awaited, so nothing is lost.
process.exit(await run(process.argv.slice(2)).catch(failed))

async function run([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) {
    await err.write(help())
    return 2
  }
  if (name === '--version' || name === '-v') return print(`${version()}\n`)
  if (name === '--help' || name === '-h' || name === 'help') return print(help())
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    const kind = name.startsWith('-') ? 'option' : 'command'
    const names = Object.keys(COMMANDS).join(', ')
    throw new UsageError(`unknown ${kind} ${JSON.stringify(name)}; the commands are ${names}`)
  }
  const options = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length)
  if (options.includes('--help') || options.includes('-h')) {
    return print(`cronfence ${command.synopsis}\n\n${command.details}\n`)
  }
  return command.run(args, { out, err })
}

async function print(text: string): Promise<number> {
  await out.write(text)
  return 0
}

async function failed(error: unknown): Promise<number> {
  if (isReaderGone(error)) return 0
  const message = error instanceof Error ? error.message : String(error)
  const caret =
    error instanceof CronSyntaxError && err.isTerminal ? caretLines(error, err.columns) : ''
  await err
    .write(`cronfence: ${printableStart(message, ERROR_LENGTH_MAX)}\n${caret}`)
    .catch(() => {})
  return 2
}

function help(): string {
  const commands = Object.values(COMMANDS).map(({ synopsis, summary }) => {
    return `  cronfence ${synopsis}\n      ${summary}`
  })
  return `cronfence ${version()}: exact cron, across every clock change

${commands.join('\n')}

  cronfence COMMAND --help     options and formats of a command
  cronfence --version

Exit codes: 0 fine; 1 it ran, and found something wrong; 2 it could not do what was asked.
`
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
