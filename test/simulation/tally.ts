// Proof that a simulation does what it says: counts of every fault that was injected and of every
// rare branch that was reached. Over the seeds of CI none of them may stay at zero.

/** All that must have happened sometimes. */
export const SOMETIMES = [
  'network: refused',
  'network: request lost',
  'network: reply lost',
  'network: applied late',
  'network: delivered twice',
  'network: slow',
  'network: thrown at once',
  'network: no answer ever',
  'network: batch answered in part',
  'network: stale list',
  'network: outage',
  'network: one replica cut off',
  'store: damaged row',
  'clock: set forwards',
  'clock: set back',
  'clock: machine slept',
  'process: crashed',
  'process: crashed before a request',
  'process: crashed after a request',
  'process: crashed in a handler',
  'process: paused',
  'process: paused longer than a lease',
  'process: blocked by a handler',
  'process: stopped',
  'process: all down at once',
  'deploy: other definitions',
  'deploy: old beside new',
  'task: cancelled',
  'task: cancelled while it ran',
  'task: forgotten',
  'task: left',
  'task: registered again',
  'handler: threw',
  'handler: never ended',
  'handler: gave up when aborted',
  'handler: outlasted its lease',
  'leader: gained',
  'leader: lost',
  'leader: belief changed',
  'claim: taken over',
  'claim: missed',
  'claim: on time',
  'claim: refused',
  'claim: adopted after a lost reply',
  'claim: of a foreign plan',
  'catch-up: several in one claim',
  'catch-up: capped',
  'catch-up: resumed after a stop',
  'run: started twice',
  'lease: renewed',
  'lease: shortened by a late renewal',
  'lease: rejected',
  'lease: uncertain',
  'commit: accepted',
  'commit: rejected',
  'commit: sent again',
  'commit: unknown',
  'commit: kept a newer slot',
  'commit: of an earlier registration',
  'slot: handed back',
  'slots: skipped as missed',
  'slots: skipped while running',
  'row: superseded',
  'row: removed elsewhere',
  'row: orphans told',
  'row: dropped delay',
  'row: later registration left a tombstone',
] as const

/** The name of something that happens sometimes. */
export type Sometimes = (typeof SOMETIMES)[number]

/** Counts by name. */
export class Tally {
  readonly counts = new Map<string, number>()

  count(name: Sometimes | `total: ${string}`, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by)
  }

  add(other: Iterable<readonly [string, number]>): void {
    for (const [name, count] of other) this.counts.set(name, (this.counts.get(name) ?? 0) + count)
  }
}
