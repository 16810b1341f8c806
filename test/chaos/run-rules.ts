// The rules of runs: none starts or goes on beyond its lease unless its process stood still or has
// told the handler, and two runs of a task meet only where the lease of the older one had ended.

import type { Counts } from './checker.ts'
import type { Violation } from './history.ts'
import { type Claim, type History, mayBeHandedBack, type Run, trustedUntil } from './history.ts'
import type { Processes } from './processes.ts'

/** How long a process that may run needs to notice something, at most. */
const NOTICE_MS = 250

/** Checks the runs of one task. */
export function* judgeRuns(
  history: History,
  processes: Processes,
  counts: Counts,
): Iterable<Violation> {
  const runs: { claim: Claim; run: Run }[] = []
  for (const claim of history.claims) {
    for (const run of claim.runs) {
      runs.push({ claim, run })
      yield* judgeStart(claim, run, processes)
      yield* judgeAbort(claim, run, { processes, counts })
    }
  }
  runs.sort((a, b) => a.run.startLine - b.run.startLine)
  yield* judgeOverlaps(runs)
}

function* judgeStart(claim: Claim, run: Run, processes: Processes): Iterable<Violation> {
  const until = trustedUntil(claim, run.startLine)
  if (run.startAt <= processes.doneBy(run.by, until, NOTICE_MS)) return
  const text = `a run began at ${run.startAt} under token ${claim.token}, held until ${until}`
  yield { line: run.startLine, text }
}

function* judgeAbort(
  claim: Claim,
  { by, endAt, endLine, abortAt, startLine: line }: Run,
  { processes, counts }: { processes: Processes; counts: Counts },
): Iterable<Violation> {
  const until = trustedUntil(claim, endLine)
  const byAt = processes.doneBy(by, until, NOTICE_MS)
  if (Math.min(abortAt, endAt) > byAt) {
    const text = `a run under token ${claim.token} was not aborted by ${byAt}`
    yield { line, text: `${text}; it could count on its lease until ${until}` }
  }
  const resumedAt = processes.resumedAt(by, until)
  if (resumedAt === undefined || abortAt === Infinity) return
  counts.abortMsMax = Math.max(counts.abortMsMax, abortAt - resumedAt)
}

function* judgeOverlaps(runs: readonly { claim: Claim; run: Run }[]): Iterable<Violation> {
  let open: { claim: Claim; run: Run }[] = []
  for (const begun of runs) {
    const { startLine: line, startAt } = begun.run
    open = open.filter(({ run }) => run.endLine > line)
    for (const going of open) {
      const [older, newer] = [going.claim, begun.claim].sort((a, b) => a.token - b.token) as [
        Claim,
        Claim,
      ]
      const until = trustedUntil(older, line)
      const isToldToEnd = going.run.abortLine < line && mayBeHandedBack(older, line)
      if (older !== newer && (until <= startAt || isToldToEnd)) continue
      const what = `runs of tokens ${older.token} and ${newer.token} at once`
      yield { line, text: `${what} at ${startAt}; the older lease was good until ${until}` }
    }
    open.push(begun)
  }
}
