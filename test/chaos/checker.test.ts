// The checker of logs: it accepts a history as it should be, and none of these.

import { describe, expect, it } from 'vitest'
import { check } from './checker.ts'
import { LEASE_MS, Script } from './script.ts'
import type { ChaosTask } from './tasks.ts'

const TASK: ChaosTask = { id: 't', kind: 'every', stepMs: 1000, policy: 'catch-up', workMs: 0 }
/** Replica a runs slot 1000 and commits it. */
const first = () =>
  new Script()
    .registered(1000)
    .claim('a', 1010, [1000, 1])
    .run('a', 1011, [1000, 1])
    .ran('a', 1015, [1000, 1])
    .commit('a', 1016, [1, 2000])

/** Then it stands still in slot 2000, and b takes that over. */
const paused = () =>
  first().claim('a', 2005, [2000, 2]).run('a', 2006, [2000, 2]).tell('a', 2100, { what: 'paused' })
const takenOver = () =>
  paused()
    .claim('b', 2610, [2000, 3], { takenOver: true })
    .run('b', 2611, [2000, 3])
    .ran('b', 2620, [2000, 3])
    .commit('b', 2621, [3, 3000])
const whole = () =>
  takenOver()
    .tell('a', 2700, { what: 'resumed' })
    .aborted('a', 2705, [2000, 2])
    .ran('a', 2710, [2000, 2])
    .commit('a', 2711, [2, 3000], 'refused')

const verdict = ({ facts }: Script, task = TASK) =>
  check({ leaseMs: LEASE_MS, tickMs: 200, tasks: [task] }, facts)
const complaints = (script: Script, task = TASK) =>
  verdict(script, task)
    .findings.map(({ text }) => text)
    .join('\n')

describe('the checker', () => {
  it('accepts a history as it should be, and counts what it shows', () => {
    const { findings, counts } = verdict(whole().end(2800, [3000, 3]))
    expect(findings).toEqual([])
    expect(counts).toEqual({
      ...{ claims: 3, takeOvers: 1, commits: 2, slots: 2 },
      ...{ staleCommits: 1, lostReplies: 0, abortMsMax: 5 },
    })
  })

  const fine: Record<string, Script> = {
    'a commit without an answer that was taken': first()
      .claim('a', 2005, [2000, 2])
      .run('a', 2006, [2000, 2])
      .ran('a', 2007, [2000, 2])
      .commit('a', 2008, [2, 3000], 'failed')
      .end(2900, [3000, 2]),
    'a claim without an answer that was granted': first()
      .attempt('a', 2005)
      .tell('a', 2010, { what: 'gone' })
      .claim('b', 2610, [2000, 3], { takenOver: true })
      .run('b', 2611, [2000, 3])
      .ran('b', 2612, [2000, 3])
      .commit('b', 2613, [3, 3000])
      .end(2900, [3000, 3]),
    'a claim whose answer was lost and that the row shows': first()
      .attempt('a', 2005)
      .found('a', 2005, [2000, 2])
      .run('a', 2101, [2000, 2])
      .ran('a', 2102, [2000, 2])
      .commit('a', 2103, [2, 3000])
      .end(2900, [3000, 2]),
    'an answer that comes after its claim was found': first()
      .attempt('a', 2005)
      .found('a', 2005, [2000, 2])
      .granted('a', 2005, [2000, 2])
      .run('a', 2101, [2000, 2])
      .ran('a', 2102, [2000, 2])
      .commit('a', 2103, [2, 3000])
      .end(2900, [3000, 2]),
    'a lease that was left to lapse, as nobody heard of its end': first()
      .claim('a', 2005, [2000, 2])
      .renew('a', 2100, [2, 2000], 'failed')
      .end(2000, [2000, 2], 2605),
    'a lease whose grant came when nobody waited for it any more': first()
      .claim('a', 2005, [2000, 2])
      .end(2000, [2000, 2], 2605),
    'a slot that was handed back while its handler did not end': first()
      .claim('a', 2005, [2000, 2])
      .run('a', 2006, [2000, 2])
      .aborted('a', 2100, [2000, 2])
      .renew('a', 2150, [2, 2000])
      .claim('b', 2160, [2000, 3], { takenOver: true })
      .run('b', 2161, [2000, 3])
      .tell('a', 2170, { what: 'gone' })
      .ran('b', 2180, [2000, 3])
      .commit('b', 2181, [3, 3000])
      .end(2900, [3000, 3]),
    'missed slots that all run under one claim': new Script()
      .registered(1000)
      .claim('a', 3100, [1000, 1])
      .run('a', 3101, [1000, 1], true)
      .ran('a', 3102, [1000, 1], true)
      .run('a', 3103, [2000, 1], true)
      .ran('a', 3104, [2000, 1], true)
      .commit('a', 3105, [1, 3000])
      .claim('a', 3106, [3000, 2])
      .run('a', 3106, [3000, 2])
      .ran('a', 3107, [3000, 2])
      .commit('a', 3108, [2, 4000])
      .end(3200, [4000, 2]),
  }
  for (const [what, script] of Object.entries(fine)) {
    it(`accepts ${what}`, () => expect(complaints(script)).toBe(''))
  }

  const stuck = first().end(2900, [2000, 1])
  const broken: Record<string, [script: Script, text: RegExp]> = {
    'a claim under a live lease': [
      paused().claim('b', 2604, [2000, 3], { takenOver: true }),
      /token 3: a claim at 2604, under the lease of 2 until 2605/,
    ],
    'a claim under a renewed lease': [
      first()
        .claim('a', 2005, [2000, 2])
        .renew('a', 2205, [2, 2805])
        .claim('b', 2610, [2000, 3], { takenOver: true }),
      /token 3: a claim at 2610, under the lease of 2 until 2805/,
    ],
    'a claim before its slot': [first().claim('a', 1999, [2000, 2]), /at 1999 of slot 2000/],
    'a token that repeats': [
      paused().claim('b', 2610, [2000, 2], { takenOver: true }),
      /token 2 repeats: a has had it/,
    ],
    'a token that goes back': [
      new Script()
        .registered(1000)
        .attempt('b', 900)
        .claim('a', 1010, [1000, 5], { takenOver: true })
        .claim('b', 1700, [1000, 4], { takenOver: true }),
      /token 4 after a higher one/,
    ],
    'a token that nobody can have got': [
      first().claim('a', 2005, [2000, 3], { takenOver: true }),
      /1 tokens belong to no claim; 0 claims have no answer/,
    ],
    'a token beyond the row': [first().end(2900, [2000, 0]), /token 1, beyond the row's/],
    'a stale commit that is taken': [
      takenOver().tell('a', 2700, { what: 'resumed' }).commit('a', 2711, [2, 3000]),
      /a commit under token 2, which was no longer the newest/,
    ],
    'a stale renewal that is granted': [
      takenOver().renew('a', 2711, [2, 3311]),
      /a renewal under token 2, which was no longer the newest/,
    ],
    'a second commit': [first().commit('a', 1020, [1, 2000]), /a second commit under token 1/],
    'a renewal after the commit': [
      first().renew('a', 1020, [1, 1620]),
      /a renewal under token 1, which was committed/,
    ],
    'a commit refused to the newest token': [
      first()
        .claim('a', 2005, [2000, 2])
        .commit('a', 2008, [2, 3000], 'refused')
        .end(2900, [2000, 2]),
      /the newest token, 2, was refused its commit/,
    ],
    'a write in the name of another': [
      takenOver().commit('a', 2700, [3, 3000]),
      /commit by a under token 3, which it was not granted/,
    ],
    'a run without a claim': [first().run('b', 2000, [2000, 9]), /run by b under token 9/],
    'a run of another slot': [
      paused().run('a', 2101, [1000, 2]),
      /slot 1000 ran under a claim of 2000/,
    ],
    'a run that is told it was missed': [
      first().claim('a', 2005, [2000, 2]).run('a', 2006, [2000, 2], true),
      /slot 2000 was told missed/,
    ],
    'a slot that never ran': [
      first().claim('a', 2005, [2000, 2]).commit('a', 2008, [2, 3000]).end(2900, [3000, 2]),
      /slot 2000 was committed and never ran/,
    ],
    'a slot that only began': [
      first()
        .claim('a', 2005, [2000, 2])
        .run('a', 2006, [2000, 2])
        .commit('a', 2008, [2, 3000])
        .end(2900, [3000, 2]),
      /slot 2000 was committed and never ran/,
    ],
    'a slot that ran after its commit': [
      first()
        .claim('a', 2005, [2000, 2])
        .run('a', 2006, [2000, 2])
        .commit('a', 2008, [2, 3000])
        .ran('a', 2009, [2000, 2])
        .end(2900, [3000, 2]),
      /slot 2000 was committed and never ran/,
    ],
    'slots that were passed over': [
      first().claim('a', 4000, [4000, 2]),
      /token 2 found slot 4000 where 2000 was due/,
    ],
    'slots that were dropped though on time': [
      new Script()
        .registered(1000)
        .claim('a', 1010, [1000, 1])
        .run('a', 1011, [1000, 1])
        .ran('a', 1012, [1000, 1])
        .commit('a', 1016, [1, 3000])
        .end(2900, [3000, 1]),
      /slots before 3000 were dropped, though 1000 was on time/,
    ],
    'a cursor between the slots': [
      new Script()
        .registered(1000)
        .claim('a', 1010, [1000, 1])
        .commit('a', 1016, [1, 2001])
        .end(2000, [2001, 1]),
      /slot 2001 after slot 1000/,
    ],
    'a cursor that forgets a commit': [
      first().claim('b', 2005, [1000, 2], { takenOver: true }),
      /token 2 found slot 1000 where 2000 was due/,
    ],
    'a take-over that is not told': [
      paused().claim('b', 2610, [2000, 3]),
      /token 3 was told no take-over/,
    ],
    'a run that begins after its lease': [
      first().claim('a', 2005, [2000, 2]).run('a', 2900, [2000, 2]),
      /a run began at 2900 under token 2, held until 2605/,
    ],
    'a run that is not aborted': [
      first().claim('a', 2005, [2000, 2]).run('a', 2006, [2000, 2]).ran('a', 2900, [2000, 2]),
      /a run under token 2 was not aborted by 2855/,
    ],
    'a run that is not aborted after a pause': [
      takenOver().tell('a', 2700, { what: 'resumed' }).ran('a', 3000, [2000, 2]),
      /a run under token 2 was not aborted by 2950/,
    ],
    'two runs while the older lease holds': [
      paused().claim('b', 2590, [2000, 3], { takenOver: true }).run('b', 2600, [2000, 3]),
      /runs of tokens 2 and 3 at once at 2600; the older lease was good until 2605/,
    ],
    'two runs at once under one claim': [
      paused().run('a', 2101, [2000, 2]),
      /runs of tokens 2 and 2 at once/,
    ],
    'a task that is stuck': [stuck, /is stuck at slot 2000; all was calm at 2900/],
    'a task without a row': [first(), /has no row at the end/],
    'a lease that nobody ended': [
      whole().end(2800, [3000, 3], 9000),
      /a lease until 9000 that nobody ended/,
    ],
  }
  for (const [what, [script, text]] of Object.entries(broken)) {
    it(`refuses ${what}`, () => expect(complaints(script)).toMatch(text))
  }

  it('refuses a delay that goes on', () => {
    const script = first().end(1500, [2000, 1])
    expect(complaints(script, { ...TASK, kind: 'delay' })).toMatch(/a delay that goes on at 2000/)
  })

  it('lets a task that skips drop what was missed, and nothing else', () => {
    const missed = new Script().registered(1000).claim('a', 3300, [1000, 1])
    const skip: ChaosTask = { ...TASK, policy: 'skip' }
    const dropped = missed.commit('a', 3301, [1, 4000]).end(3400, [4000, 1])
    expect(complaints(dropped, skip)).toBe('')
    const onTime = new Script().registered(1000).claim('a', 1010, [1000, 1])
    const idle = onTime.commit('a', 1011, [1, 2000]).end(1100, [2000, 1])
    expect(complaints(idle, skip)).toMatch(/slot 1000 was committed and never ran/)
  })
})
