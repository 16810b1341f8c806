// Writing to stdout and stderr: one chunk in flight at a time, so a slow reader slows the command
// down instead of filling memory, and a reader that has gone is told apart from other failures.

import type { WriteStream } from 'node:tty'

/** Columns to lay out for when the output is no terminal. */
const COLUMNS_DEFAULT = 100

/** A stream of text. */
export class Output {
  readonly #stream: NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream
    // The same failure also rejects `write`; without a listener the event would end the process.
    stream.on('error', () => {})
  }

  /** Whether a person is looking. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true
  }

  /** How many characters a line may have: the terminal's width, else `COLUMNS`, else 100. */
  get columns(): number {
    return this.#stream.columns || Number(process.env.COLUMNS) || COLUMNS_DEFAULT
  }

  /** Resolves when the text has left the process; rejects with the system's error (`EPIPE` …). */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }
}

/** Whether the reader of our output has gone, as `head` does: no failure of ours. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
