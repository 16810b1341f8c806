// What a chaos run says for people: one line of figures, and the history that leads to a violation.

import type { Finding } from './checker.ts'
import type { Fact } from './facts.ts'
import type { ChaosResult } from './run.ts'

const HISTORIES_MAX = 5
const LINES_MAX = 60

/** The figures, and the histories of the first violations. */
export function report(
  result: Pick<ChaosResult, 'findings' | 'failures' | 'counts' | 'faults' | 'facts'>,
) {
  const { findings, failures, counts, faults, facts } = result
  const kinds = Object.entries(faults).filter(([, count]) => count > 0)
  const violations = findings.length + failures.length
  const figures: [text: string, count: number | string][] = [
    ['slots judged', counts.slots],
    ['claims', counts.claims],
    ['takeovers', counts.takeOvers],
    ['stale commits rejected', counts.staleCommits],
    ['lost replies', counts.lostReplies],
    ['ms at most from SIGCONT to abort', counts.abortMsMax],
    ['violations', violations],
  ]
  const summary =
    `faults ${kinds.reduce((sum, [, count]) => sum + count, 0)} ` +
    `(${kinds.map(([kind, count]) => `${kind} ${count}`).join(', ')}); ` +
    figures.map(([text, count]) => `${count} ${text}`).join(', ')
  const shown = findings.slice(0, HISTORIES_MAX).map((finding) => historyOf(finding, facts))
  return { summary, isClean: violations === 0, history: [...failures, ...shown].join('\n\n') }
}

/** The lines of that task, of faults and of processes, up to a few after the one that shows it. */
function historyOf({ id, line, text }: Finding, facts: readonly Fact[]): string {
  const about = facts
    .map((fact, at) => ({ fact, at }))
    .filter(({ fact }) => !('id' in fact) || fact.id === id)
  const end = about.findLastIndex(({ at }) => at <= line) + 10
  const lines = about
    .slice(Math.max(0, end - LINES_MAX), end)
    .map(({ fact, at }) => `${at === line ? '>' : ' '} ${at} ${JSON.stringify(fact)}`)
  return `${id}: ${text}\n${lines.join('\n')}`
}
