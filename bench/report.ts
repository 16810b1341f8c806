// Turns outcomes into text: lines while it runs, a table for the README, and the verdict.

import { CONTESTANTS } from './contestants.ts'
import type { Figure, Goal, Row } from './measure.ts'

/** One line per row: every figure, and how many times ours it is. */
export function rowText({ question, unit, figures }: Row): string {
  const cells = figures.map((figure) => `${figure.name} ${figureText(figure, figures, unit)}`)
  return `${question}: ${cells.join(' | ')}`
}

/** The results as a Markdown table, one column per contestant. */
export function markdownTable(rows: readonly Row[]): string {
  const names = CONTESTANTS.map(({ name }) => name)
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const body = rows.map(({ question, unit, figures }) => {
    const cells = names.map((name) => {
      const figure = figures.find((candidate) => candidate.name === name)
      return figure === undefined ? '–' : figureText(figure, figures, unit)
    })
    return line([question, ...cells])
  })
  const rule = ['---', ...names.map(() => '--:')]
  return [line(['', ...names]), line(rule), ...body].join('\n')
}

/** Whether the bound was met. */
export function isReached({ reached, bound, better }: Goal): boolean {
  return better === 'higher' ? reached >= bound : reached <= bound
}

/** PASS or FAIL, the figure, and the bound it is held against. */
export function goalText(goal: Goal): string {
  const sign = goal.better === 'higher' ? '>=' : '<='
  const verdict = isReached(goal) ? 'PASS' : 'FAIL'
  return `${verdict}  ${goal.text}: ${number(goal.reached)} (${sign} ${number(goal.bound)})`
}

function figureText({ name, value }: Figure, figures: readonly Figure[], unit: Row['unit']) {
  const ours = figures[0]!.value
  const text = `${number(value)} ${unit}`
  return name === 'cronfence' ? text : `${text} (${number(value / ours)}×)`
}

/** Three significant digits, and thousands apart. */
function number(value: number): string {
  return new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 }).format(value)
}
