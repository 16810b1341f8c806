// Points at the fault of an expression, for eyes on a terminal; logs keep to one line.

import type { CronSyntaxError } from '../../bindings/index.ts'
import { printable } from './printable.ts'

/** The expression and a mark below its fault; nothing when it does not fit the width. */
export function caretLines(error: Pick<CronSyntaxError, 'expression' | 'index'>, width: number) {
  const { expression, index } = error
  const before = printable(expression.slice(0, index))
  const text = printable(expression)
  return text.length + 2 > width ? '' : `  ${text}\n  ${' '.repeat(before.length)}^\n`
}
