// What is wrong with one line of an input, and where.

import { CronSyntaxError } from '../../bindings/index.ts'
import { LINE_LENGTH_MAX } from './input.ts'
import { printableStart } from './printable.ts'

/** Longest message: an expression of 1 MB is not shown back in full. */
const MESSAGE_LENGTH_MAX = 400

/** A fault of a line; the input's other lines are read all the same. */
export class LineFault extends Error {
  override readonly name = 'LineFault'
  /** Counted from 1. */
  readonly column: number

  constructor(message: string, column: number) {
    super(printableStart(message, MESSAGE_LENGTH_MAX))
    this.column = column
  }

  /** `name:line:column: message`, as editors and CI know it, with the line's end. */
  report(inputName: string, line: number): string {
    return `${inputName}:${line}:${this.column}: ${this.message}\n`
  }
}

/** Throws for a line that arrived cut. */
export function assertWholeLine(line: string): void {
  if (line.length > LINE_LENGTH_MAX) {
    throw new LineFault(`the line is longer than ${LINE_LENGTH_MAX} characters`, 1)
  }
}

/** Columns of what `parse` reads. */
interface Columns {
  readonly text?: number
  readonly zone?: number
}

/** Runs `parse`; an expression or zone that the engine refuses is thrown as a `LineFault`. */
export function withColumns<T>({ text = 1, zone = 1 }: Columns, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof CronSyntaxError) throw new LineFault(error.message, text + error.index)
    if (error instanceof RangeError) throw new LineFault(error.message, zone)
    throw error
  }
}
