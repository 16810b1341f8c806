// The engine beside the slow reference, question by question, and the laws its answers keep. The
// property tests and the fuzzer run these; each answer compared is counted.
import { CronBatch, type CronExpression, type Dialect, parseCron } from '../../bindings/index.ts'
import type { Sample } from './arbitraries.ts'
import { Reference } from './reference.ts'
import { readExpression } from './reference-expression.ts'
import { ExtendedReference, readExtended } from './reference-extended.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Windows are cut so that the reference has about this many runs to find. */
const WINDOW_RUNS = 200

type Run = number | null

/** Two answers that differ, or a broken law; the message has the call and both answers. */
export class Mismatch extends Error {}

/** How many answers were compared. */
export interface Tally {
  comparisons: number
}

/** The options of a sample as the engine takes them, without those left to their defaults. */
export function optionsOf(sample: Sample) {
  const { timeZone, dialect, gap, fold, horizonYears } = sample
  return {
    timeZone,
    ...(dialect && { dialect }),
    ...(gap && { gap }),
    ...(fold && { fold }),
    ...(horizonYears && { horizonYears }),
  }
}

/** Throws at the first answer of the engine that differs from the reference's. */
export function compareWithReference(sample: Sample, tally: Tally): void {
  const cron = parseCron(sample.expression, optionsOf(sample))
  const reference = referenceOf(sample)
  const same = comparing(sample, tally)

  let later: Run = sample.at
  for (let i = 0; i < 3 && later !== null; i++) {
    const run: Run = reference.next(later)
    same(`next(${iso(later)})`, asRun(cron.next(later)), run)
    later = run
  }
  let earlier: Run = sample.at
  for (let i = 0; i < 3 && earlier !== null; i++) {
    const run: Run = reference.prev(earlier)
    same(`prev(${iso(earlier)})`, asRun(cron.prev(earlier)), run)
    earlier = run
  }
  const near = later ?? sample.at
  const around = [-1, 0, 999, 1000, MINUTE_MS - 1, MINUTE_MS].map((ms) => near + ms)
  for (const at of [sample.at, ...around]) {
    same(`matches(${iso(at)})`, cron.matches(at), reference.matches(at))
  }

  const until = sample.at + windowOf(sample)
  const runs = reference.between(sample.at, until)
  const window = `${iso(sample.at)}, ${iso(until)}`
  same(`between(${window})`, cron.between(sample.at, until).map(Number), runs)
  same(`count(${window})`, cron.count(sample.at, until), runs.length)
  const lazily = [...cron.occurrences({ from: sample.at, until })]
  same(`occurrences(${window})`, lazily.map(Number), runs)
}

/** Throws when a batch answers otherwise than each expression alone, in any order. */
export function compareBatch(samples: readonly Sample[], tally: Tally): void {
  const batch = new CronBatch()
  const plain = samples.map((sample) => ({ ...sample, horizonYears: undefined }))
  const ids = Uint32Array.from(plain, (sample) => batch.add(sample.expression, optionsOf(sample)))
  const from = Float64Array.from(plain, (sample) => sample.at)
  const answers = batch.next(ids, from)
  const backwards = batch.next(ids.toReversed(), from.toReversed()).toReversed()

  plain.forEach((sample, i) => {
    const same = comparing(sample, tally)
    const cron = parseCron(sample.expression, optionsOf(sample))
    const alone = asRun(cron.next(sample.at)) ?? Number.NaN
    same(`batch.next(${iso(sample.at)})`, answers[i], alone)
    same(`batch.next(${iso(sample.at)}) in reverse order`, backwards[i], alone)
    same('the id of equal arguments', batch.add(sample.expression, optionsOf(sample)), ids[i])

    const until = sample.at + windowOf(sample)
    const runs = cron.between(sample.at, until).map(Number)
    const out = new Float64Array(WINDOW_RUNS)
    const written = batch.occurrences(ids[i]!, sample.at, until, out)
    same('batch.occurrences', [...out.subarray(0, written)], runs.slice(0, WINDOW_RUNS))
  })
}

/** Throws when an answer breaks a law that needs no reference. */
export function checkLaws(sample: Sample, tally: Tally): void {
  const cron = parseCron(sample.expression, optionsOf(sample))
  const same = comparing(sample, tally)
  const next = asRun(cron.next(sample.at))
  if (next !== null) {
    same('next is later than from', next > sample.at, true)
    const prev = asRun(cron.prev(next))
    same('prev of next is not later than from', prev === null || prev <= sample.at, true)
    if (prev !== null) same('next of prev of next', asRun(cron.next(prev)), next)
    same('a run matches', cron.matches(next), true)
  }

  const runs = [...cron.occurrences({ from: sample.at, limit: 30 })].map(Number)
  same('occurrences increase', runs, [...new Set(runs)].sort(byTime))
  same('occurrences are what next gives', runs, walk(cron, sample.at, 30))

  const middle = sample.at + Math.floor(windowOf(sample) / 3)
  const until = sample.at + windowOf(sample)
  const parts = [...cron.between(sample.at, middle), ...cron.between(middle, until)]
  same('between of parts', parts.map(Number), cron.between(sample.at, until).map(Number))
}

/** Throws when the engine accepts a text the reference refuses, or the other way round. */
export function compareAcceptance(text: string, tally: Tally, dialect: Dialect = 'standard'): void {
  let accepts = true
  try {
    parseCron(text, { dialect, timeZone: 'UTC' })
  } catch (error) {
    if ((error as Error).name !== 'CronSyntaxError') throw error
    accepts = false
  }
  tally.comparisons++
  const isGood = dialect === 'extended' ? readExtended(text) : readExpression(text)
  if (accepts !== (isGood !== null)) {
    throw new Mismatch(`${JSON.stringify(text)} is ${accepts ? 'accepted' : 'refused'}`)
  }
}

/** The first `limit` runs at or after `from`, by `next` alone. */
function walk(cron: CronExpression, from: number, limit: number): number[] {
  const runs: number[] = []
  let at = from - 1
  while (runs.length < limit) {
    const run = asRun(cron.next(at))
    if (run === null) break
    runs.push(run)
    at = run
  }
  return runs
}

function referenceOf(sample: Sample): Reference | ExtendedReference {
  const { expression, dialect } = sample
  return dialect === 'extended'
    ? new ExtendedReference(expression, sample)
    : new Reference(expression, sample)
}

function windowOf({ expression, dialect, spanMs }: Sample): number {
  const times = dialect === 'extended' ? readExtended(expression)! : readExpression(expression)!
  const runsPerDay =
    times.minute.length * times.hour.length * ('second' in times ? times.second.length : 1)
  return Math.min(spanMs, Math.ceil((WINDOW_RUNS / runsPerDay) * DAY_MS))
}

function comparing(sample: Sample, tally: Tally) {
  return (what: string, got: unknown, wanted: unknown) => {
    tally.comparisons++
    if (Object.is(got, wanted) || print(got) === print(wanted)) return
    const call = `parseCron('${sample.expression}', ${JSON.stringify(optionsOf(sample))})`
    throw new Mismatch(`${call}\n  ${what}\n  is     ${print(got)}\n  wanted ${print(wanted)}`)
  }
}

function asRun(run: Date | null): Run {
  return run === null ? null : run.getTime()
}

function print(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(print).join(', ')}]`
  return typeof value === 'number' && Math.abs(value) > 1e6 ? iso(value) : String(value)
}

function iso(instant: number): string {
  return new Date(instant).toISOString()
}

function byTime(a: number, b: number): number {
  return a - b
}
