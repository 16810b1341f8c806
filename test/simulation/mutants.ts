// Engines that are wrong on purpose: one place of the source each, and what they do wrong. The
// simulation must catch every one of them. The last ones are mistakes that it has found itself.

import type { Mutation } from './bundle.ts'

/** An engine that must be caught. */
export interface Mutant extends Mutation {
  /** What it does, as a fact. */
  readonly name: string
}

/** All mutants. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'never renews a lease',
    file: 'src/lease/lease-keeper.ts',
    find: 'const renewed = this.#renew(due)',
    replace: 'const renewed = Promise.resolve()',
  },
  {
    name: 'takes a renewal without an answer for granted',
    file: 'src/lease/lease-keeper.ts',
    find: 'if (answer === true) this.#extend(lease, sentAt)',
    replace: 'if (answer !== false) this.#extend(lease, sentAt)',
  },
  {
    name: 'counts a renewed lease from the reply',
    file: 'src/lease/lease-keeper.ts',
    find: 'lease.window = new TrustWindow(sentAt, lease.grant.leaseMs)',
    replace: 'lease.window = new TrustWindow(moment(this.#clock), lease.grant.leaseMs)',
  },
  {
    name: 'counts a claimed lease from the reply',
    file: 'src/scheduler/claimer.ts',
    find: 'sentAt: attempt.sentAt,\n      decision',
    replace: 'sentAt: moment(this.#options.timers),\n      decision',
  },
  {
    name: 'commits after the store refused its renewal',
    file: 'src/scheduler/claim-runner.ts',
    find: "if (claim.lost === 'rejected') this.#options.onDropped(task, 'rejected')\n    else if",
    replace: 'if',
  },
  {
    name: 'starts a run without a look at its lease',
    file: 'src/scheduler/claim-runner.ts',
    find: 'return !claim.lost && !claim.isHandedBack',
    replace: 'return true',
  },
  {
    name: 'never aborts a signal',
    file: 'src/scheduler/run.ts',
    find: 'this.#controller?.abort(this.#abortReason)\n  }\n\n  /** Calls the handler',
    replace: '}\n\n  /** Calls the handler',
  },
  {
    name: 'decides by the clock of now what is missed',
    file: 'src/scheduler/claimer.ts',
    find: 'const claimedAt = attempt.now',
    replace: 'const claimedAt = this.#options.timers.now()',
  },
  {
    name: 'counts the slot of a dead runner as missed',
    file: 'src/scheduler/decide.ts',
    find: 'const isMissed = !takenOver && ',
    replace: 'const isMissed = ',
  },
  {
    name: 'knows no grace',
    file: 'src/scheduler/decide.ts',
    find: 'claimedAt - slot > graceMs',
    replace: 'claimedAt - slot > 0',
  },
  {
    name: 'passes slots after a catch-up that were not missed',
    file: 'src/scheduler/decide.ts',
    find: 'next: () => plan.after(lastMissed, slot)',
    replace: 'next: () => plan.after(claimedAt, slot)',
  },
  {
    name: 'commits a catch-up that was stopped as if it were whole',
    file: 'src/scheduler/claim-runner.ts',
    find: 'else if (claim.openSlot !== undefined) this.#endEarly(claim)',
    replace: '',
  },
  {
    name: 'plans an interval from the end of a run',
    file: 'src/scheduler/plan.ts',
    find: 'return insideTime(this.latest(instant, slot) + this.#intervalMs)',
    replace: 'return insideTime(instant + this.#intervalMs)',
  },
  {
    name: 'claims always under one name',
    file: 'src/scheduler/claimer.ts',
    find: `owner: \`\${owner}.\${this.#attempts++}\``,
    replace: 'owner',
  },
  {
    name: 'takes a claim without an answer for won',
    file: 'src/scheduler/claimer.ts',
    find: 'lost.add(task, error)\n      stages.read(task)',
    replace: `const [fencingToken, { kind, spec }] = [task.fencingToken + 1, task.plan]
      const row = { id: task.storedId, kind, spec, nextRunAt: task.nextRunAt, fencingToken }
      const attempt = task.attempt!
      const record = { ...row, updatedAt: attempt.now }
      this.#won(task, { record, fencingToken, takenOver: false }, attempt)`,
  },
  {
    name: 'lets a claim lapse whose reply was lost',
    file: 'src/scheduler/row-reader.ts',
    find: 'if (attempt && row.leaseOwner === attempt.owner) {',
    replace: 'if (!attempt && row.leaseOwner === "nobody") {',
  },
  {
    name: 'takes a commit without an answer for accepted',
    file: 'src/scheduler/committer.ts',
    find: 'sent.isUnknown = true\n    lost.add(sent, error)',
    replace: 'sent.commit.onCommitted()',
  },
  {
    name: 'runs the plan of another deploy',
    file: 'src/scheduler/claimer.ts',
    find: 'const isForeign = !task.isPlanOf(record)',
    replace: 'const isForeign = false',
  },
  {
    name: 'goes on with a task that was cancelled',
    file: 'src/scheduler/durable-loop.ts',
    find: 'if (task) this.#close(task)',
    replace: 'if (task) this.#tasks.delete(storedId)',
  },
  {
    name: 'hands nothing back when it stops',
    file: 'src/scheduler/committer.ts',
    find: 'this.#handBacks.push(claim)',
    replace: '',
  },
  {
    name: 'deletes rows whatever their token',
    file: 'src/scheduler/store-calls.ts',
    find: 'this.#store.delete(storedId, fencingToken)',
    replace: 'this.#store.delete(storedId)',
  },
  {
    name: 'does not try again what failed',
    file: 'src/scheduler/lane.ts',
    find: 'if (!failed.isMoved) this.#items = [...failed.items, ...this.#items]',
    replace: '',
  },
  {
    name: 'never looks again at a row that another has leased',
    file: 'src/scheduler/row-reader.ts',
    find: "stages.wait(task, 'read', Math.min(row.leaseUntil, now + tickMs))",
    replace: "task.stage = 'idle'",
  },
  {
    name: 'waits for ever for a store that does not answer its start',
    file: 'src/scheduler/store-calls.ts',
    find: 'return this.#answer(async () => this.#store.start?.(), LONG_ANSWER_MS_MAX)',
    replace: `try {
      await this.#store.start?.()
    } catch (error) {
      return asError(error)
    }`,
  },
  {
    name: 'says that a commit was refused which its client sent twice',
    file: 'src/scheduler/committer.ts',
    find: 'else doubtful.push(sent)',
    replace: 'else if (sent.isUnknown) doubtful.push(sent)\n      else this.#refused(sent, null)',
  },
  {
    name: 'claims what has ended while tasks of another lease were claimed',
    file: 'src/scheduler/claimer.ts',
    find: "if (task.stage !== 'claiming') return false\n    if (!runner",
    replace: 'if (!runner',
  },
  {
    name: 'says that it has stopped before it has',
    file: 'src/scheduler/durable-loop.ts',
    find: 'await this.#settled()\n',
    replace: '\n',
  },
  {
    name: 'goes on waiting for answers after it has stopped',
    file: 'src/scheduler/durable-loop.ts',
    find: 'this.#calls.seal()\n    await this.#settled()\n',
    replace: '',
  },
]
