// The program's commands on lists, tables and arguments from anywhere. Input: a line of arguments
// parted by tabs, the command first; what follows is what the command reads from stdin.

import { Readable, Writable } from 'node:stream'
import { CronSyntaxError } from '../../../bindings/index.ts'
import { batchCommand } from '../../../src/cli/batch.ts'
import { checkCommand } from '../../../src/cli/check.ts'
import { type Command, UsageError } from '../../../src/cli/command.ts'
import { explainCommand } from '../../../src/cli/explain.ts'
import { listCommand } from '../../../src/cli/list.ts'
import { nextCommand } from '../../../src/cli/next.ts'
import { Output } from '../../../src/cli/output.ts'
import { isPlainLine, must, type Target } from '../target.ts'

const READERS: Readonly<Record<string, Command>> = {
  check: checkCommand,
  list: listCommand,
  batch: batchCommand,
}
const ASKERS: Readonly<Record<string, Command>> = { next: nextCommand, explain: explainCommand }
const VALUED = ['--from', '--seed', '--tz', '--gap', '--fold', '-n']
const LINES_MAX = 50

/** The commands; `tasks`, which needs a store, is tested elsewhere. */
export const cli: Target = {
  words: [
    ...['check', 'list', 'batch', 'next', 'explain', '--extended', '--json', '--tz', '--from'],
    ...['--seed', '--gap', '--fold', '-n', '\t', '\n', '\r\n', '* * * * *', 'TZ=', 'CRON_TZ='],
    ...['Europe/Madrid', 'UTC', '2026-03-29T01:30:00Z', '# ', '@daily', '=', '"', '\u001b[2J'],
    ...['\u2028', '\u202e', '\ufeff', '30 2 * * *', '0 0 30 2 *', ' /bin/true', 'MON-FRI'],
  ],
  seeds: [
    'check\t-\n# a list\nTZ=Europe/Madrid\n30 2 * * * /bin/true\n61 * * * *\n',
    'check\t--extended\n0 0 9 * * MON-FRI 2030 cmd\n@daily x\nCRON_TZ="UTC"\n',
    'list\t--from\t2026-03-01\n*/15 0-6 * * * a b c\nTZ=Nowhere\n* * * * *\n',
    'batch\t\n0 9 * * 1-5\tEurope/Madrid\t2026-03-27T12:00:00Z\n* * * * *\tUTC\t0\tmore\nbad\n',
    'next\t0 9 * * *\t--tz\tEurope/Madrid\t--from\t2026-03-27\t-n\t3\t--json\n',
    'explain\t30 2 * * *\t--tz\tEurope/Madrid\t--from\t2026-01-01\n',
    'explain\tH H * * MON#1\t--extended\t--seed\tx\t--gap\tskip\t--fold\tboth\n',
  ],
  async fuzz(text) {
    const end = text.indexOf('\n')
    const [name = '', ...words] = (end < 0 ? text : text.slice(0, end)).split('\t')
    const input = end < 0 ? '' : text.slice(end + 1)
    const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined
    const asker = Object.hasOwn(ASKERS, name) ? ASKERS[name] : undefined
    const command = reader ?? asker
    if (!command || input.split('\n', LINES_MAX + 1).length > LINES_MAX) return
    // The fuzzer would have the machine's own files read, and a million runs told.
    const args = reader ? words.map(asInput) : words
    if (args.some((word) => /^(-n=?)?\d{3,}$/.test(word))) return

    const [out, err] = [new Sink(), new Sink()]
    const status = await withStdin(input, () => outcomeOf(command, args, out, err))
    must([0, 1, 2].includes(status), `exit code ${status}`)
    for (const line of err.text.split('\n')) must(isPlainLine(line), 'stderr has a raw control')
    // A table's lines are handed back as they came.
    if (name === 'batch')
      must(linesOf(out.text) >= linesOf(input) - 1 || status === 2, 'lost lines')
    else
      for (const line of out.text.split('\n'))
        must(isPlainLine(line.replaceAll('\t', '')), 'stdout has a raw control')
  },
}

function asInput(word: string, index: number, words: readonly string[]): string {
  return word.startsWith('-') || VALUED.includes(words[index - 1] ?? '') ? word : '-'
}

async function outcomeOf(command: Command, args: readonly string[], out: Sink, err: Sink) {
  try {
    return await command.run(args, { out: new Output(out), err: new Output(err) })
  } catch (error) {
    const isOwn =
      error instanceof UsageError || error instanceof CronSyntaxError || isZoneOrSeed(error)
    if (isOwn) return 2
    throw error
  }
}

function isZoneOrSeed(error: unknown): boolean {
  return error instanceof RangeError && /^(timeZone|seed): /.test(error.message)
}

/** `stdin` is the process's: it is put back. */
async function withStdin<T>(input: string, call: () => Promise<T>): Promise<T> {
  const own = Object.getOwnPropertyDescriptor(process, 'stdin')!
  const value = Readable.from([Buffer.from(input)], { objectMode: false })
  Object.defineProperty(process, 'stdin', { value, configurable: true })
  try {
    return await call()
  } finally {
    Object.defineProperty(process, 'stdin', own)
  }
}

function linesOf(text: string): number {
  return text.split('\n').length
}

class Sink extends Writable {
  text = ''

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}
