// Lines of a file or of stdin, as they arrive: memory is bounded by the longest line allowed,
// whatever the input's size.

import { createReadStream } from 'node:fs'
import { UsageError } from './command.ts'

/** A longer line arrives cut to one character more than this, so that it can be told. */
export const LINE_LENGTH_MAX = 1_100_000

const BYTE_ORDER_MARK = '\ufeff'
const CHUNK_BYTES = 256 * 1024

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'is a directory',
  EACCES: 'permission denied',
}

/** Some lines in a row; `first` is the number of the first one, counted from 1. */
export interface LineBlock {
  readonly first: number
  readonly lines: readonly string[]
}

/** How messages call the input. */
export function inputName(input: string): string {
  return input === '-' ? 'stdin' : input
}

/**
 * Lines of the file, or of stdin for `-`, without their `\n` or `\r\n` and without a leading byte
 * order mark. An input that cannot be read, or is no text (has a NUL), is a `UsageError`.
 */
export async function* readLines(input: string): AsyncGenerator<LineBlock> {
  const stream =
    input === '-' ? process.stdin : createReadStream(input, { highWaterMark: CHUNK_BYTES })
  let first = 1
  let rest = ''
  try {
    for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
      if (rest.length > LINE_LENGTH_MAX && !chunk.includes('\n')) continue
      const lines = (rest + chunk).split('\n')
      rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX + 1)
      if (chunk.includes('\0')) throw notText(input, first, [...lines, rest])
      if (lines.length > 0) yield block(first, lines)
      first += lines.length
    }
  } catch (error) {
    const cause = CAUSES[(error as NodeJS.ErrnoException).code ?? '']
    throw cause === undefined ? error : new UsageError(`${inputName(input)}: ${cause}`)
  }
  if (rest !== '') yield block(first, [rest])
}

function block(first: number, lines: readonly string[]): LineBlock {
  return {
    first,
    lines: lines.map((line, i) => {
      const text = first + i === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line
      return (text.endsWith('\r') ? text.slice(0, -1) : text).slice(0, LINE_LENGTH_MAX + 1)
    }),
  }
}

function notText(input: string, first: number, lines: readonly string[]): UsageError {
  const index = lines.findIndex((line) => line.includes('\0'))
  return new UsageError(`${inputName(input)}: line ${first + index}: not text, it holds a NUL byte`)
}
