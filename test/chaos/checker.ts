// Judges a chaos run by its log alone. The rules are those of SPEC §2.5: tokens only grow, a claim
// waits for the lease before it, only the newest token writes, the cursor passes no slot that the
// policy keeps without its run and its commit, no run outlives its lease unheard, nothing is stuck.

import { Advance } from './advance.ts'
import type { Fact } from './facts.ts'
import { type Claim, History, mayBeHandedBack, trustedUntil, type Violation } from './history.ts'
import { Processes } from './processes.ts'
import { judgeRuns } from './run-rules.ts'
import type { Plan } from './tasks.ts'

/** A violation, and the lines of the log that lead to it. */
export interface Finding extends Violation {
  readonly id: string
}

/** How often what was to be provoked did happen. */
export interface Counts {
  claims: number
  takeOvers: number
  commits: number
  /** Slots that the policy kept, each with its run and its commit. */
  slots: number
  /** Commits of a token that was no longer the newest, all of them refused. */
  staleCommits: number
  /** Requests whose answer did not come. */
  lostReplies: number
  /** From when a stopped process went on until its handler was aborted, the longest, ms. */
  abortMsMax: number
}

/** What the log shows. */
export interface Verdict {
  readonly findings: readonly Finding[]
  readonly counts: Readonly<Counts>
}

/** Checks the log of a run that has ended. */
export function check(plan: Plan, facts: readonly Fact[]): Verdict {
  const findings: Finding[] = []
  const counts: Counts = {
    ...{ claims: 0, takeOvers: 0, commits: 0, slots: 0, staleCommits: 0 },
    ...{ lostReplies: 0, abortMsMax: 0 },
  }
  const processes = new Processes(facts)
  const calmAt = facts.findLast(({ what }) => what === 'calm')?.at ?? Infinity
  for (const task of plan.tasks) {
    const history = new History(task, facts)
    const violations = [
      ...history.violations,
      ...tokenRules(history),
      ...leaseRules(history),
      ...writeRules(history, counts),
      ...new Advance(history, plan.tickMs, counts).violations,
      ...judgeRuns(history, processes, counts),
      ...endRules(history, calmAt),
    ]
    findings.push(...violations.map((violation) => ({ ...violation, id: task.id })))
  }
  for (const fact of facts) if ('step' in fact && fact.step === 'failed') counts.lostReplies++
  return { findings, counts }
}

/** Tokens grow in the order of the claims, and those that nobody knows are accounted for. */
function* tokenRules({ claims, openAttempts, row }: History): Iterable<Violation> {
  let earliest = Infinity
  for (const { token, grantedLine, sentLine } of [...claims].reverse()) {
    if (sentLine > earliest) {
      yield { line: grantedLine, text: `token ${token} after a higher one` }
    }
    earliest = Math.min(earliest, grantedLine)
  }
  const newest = row?.token ?? claims.at(-1)?.token ?? 0
  const unknown = newest - claims.length
  if (unknown > openAttempts) {
    const text = `${unknown} tokens belong to no claim; ${openAttempts} claims have no answer`
    yield { line: claims.at(-1)?.grantedLine ?? 0, text }
  }
  for (const { token, grantedLine } of claims) {
    if (token > newest) yield { line: grantedLine, text: `token ${token}, beyond the row's` }
  }
}

/** No claim is granted while the one before it holds. */
function* leaseRules({ claims }: History): Iterable<Violation> {
  for (const [index, claim] of claims.entries()) {
    const { token, now, slot, sentLine, grantedLine: line } = claim
    if (now < slot) yield { line, text: `token ${token}: a claim at ${now} of slot ${slot}` }
    const before = claims[index - 1]
    if (!before) continue
    const until = trustedUntil(before, sentLine)
    const hasEnded =
      until <= now ||
      mayBeHandedBack(before, line) ||
      before.commits.some((commit) => commit.sentLine < line)
    if (!hasEnded) {
      const lease = `the lease of ${before.token} until ${until}`
      yield { line, text: `token ${token}: a claim at ${now}, under ${lease}` }
    }
  }
}

/** Only the newest token renews and commits; and it is not refused. */
function* writeRules({ claims, row }: History, counts: Counts): Iterable<Violation> {
  let nextGrantedLine = Infinity
  for (const claim of [...claims].reverse()) {
    yield* staleWrites(claim, nextGrantedLine, counts)
    yield* strangeCommits(claim, row?.token === claim.token)
    nextGrantedLine = Math.min(nextGrantedLine, claim.grantedLine)
  }
}

function* staleWrites(claim: Claim, takenOverLine: number, counts: Counts): Iterable<Violation> {
  const { token, renewals, commits } = claim
  for (const { sentLine, step, answeredLine: line } of renewals) {
    if (sentLine < takenOverLine || step !== 'granted') continue
    yield { line, text: `a renewal under token ${token}, which was no longer the newest` }
  }
  for (const { sentLine, step, answeredLine: line } of commits) {
    if (sentLine < takenOverLine) continue
    if (step === 'refused') counts.staleCommits++
    if (step !== 'granted') continue
    yield { line, text: `a commit under token ${token}, which was no longer the newest` }
  }
}

function* strangeCommits({ token, commits, renewals }: Claim, isNewest: boolean) {
  const granted = commits.filter(({ step }) => step === 'granted')
  const [first, second] = granted
  if (second) yield { line: second.answeredLine, text: `a second commit under token ${token}` }
  for (const { sentLine, step, answeredLine: line } of renewals) {
    if (first && step === 'granted' && sentLine > first.answeredLine) {
      yield { line, text: `a renewal under token ${token}, which was committed` }
    }
  }
  const [only] = commits
  if (isNewest && commits.length === 1 && only?.step === 'refused') {
    yield { line: only.answeredLine, text: `the newest token, ${token}, was refused its commit` }
  }
}

/** When all is calm and all have ended, each task has gone on, and nobody holds a lease. */
function* endRules({ task, row, claims }: History, calmAt: number): Iterable<Violation> {
  const line = claims.at(-1)?.grantedLine ?? 0
  if (!row) {
    yield { line, text: 'has no row at the end' }
    return
  }
  const { slot, token, leaseUntil } = row
  const newest = claims.find((claim) => claim.token === token)
  if (slot !== null && leaseUntil !== undefined && leaseUntil > slot && isAnswered(newest)) {
    yield { line, text: `a lease until ${leaseUntil} that nobody ended` }
  }
  if (task.kind === 'delay' ? slot !== null : slot === null || slot < calmAt) {
    yield { line, text: `is stuck at slot ${slot}; all was calm at ${calmAt}` }
  }
}

/** Whether it ran and nothing about it stayed open; what was answered too late lapses by itself. */
function isAnswered(claim: Claim | undefined): boolean {
  if (claim?.takenOver === undefined || claim.runs.length === 0) return false
  return [...claim.renewals, ...claim.commits].every(({ step }) => step === 'granted')
}
