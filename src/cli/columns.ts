// Cells of several lines beside each other. Widths are given; a longer line pushes its row out
// rather than lose a character.

/** Two blanks between columns. */
const GAP = '  '

/** Rows of text: the first line of each cell, then the second, … */
export function columns(cells: readonly (readonly string[])[], widths: readonly number[]): string {
  const height = Math.max(...cells.map((cell) => cell.length))
  return Array.from({ length: height }, (_, row) =>
    cells
      .map((cell, i) => (cell[row] ?? '').padEnd(widths[i] ?? 0))
      .join(GAP)
      .trimEnd(),
  ).join('\n')
}

/** The text broken at blanks into lines of at most `width`; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
