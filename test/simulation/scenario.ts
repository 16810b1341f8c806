// What a seed stands for: how many replicas, which tasks and deploys, how bad the network and the
// clocks are, and which kinds of trouble there is. Each seed leaves many kinds out, for faults
// that are everywhere hide each other.

import type { Definition } from './definition.ts'
import type { StoreTraits } from './literal-store.ts'
import { Random } from './random.ts'

/** How the network treats a request, by its share of all. */
export const NETWORK_FAULTS = [
  'refused',
  'request lost',
  'reply lost',
  'applied late',
  'delivered twice',
  'slow',
  'thrown at once',
  'batch answered in part',
] as const
export type NetworkFault = (typeof NETWORK_FAULTS)[number]

/** What happens to replicas, by how often a chance of it comes. */
export const TROUBLES = [
  'crash',
  'crash at a request',
  'crash in a handler',
  'pause',
  'block',
  'sleep',
  'step',
  'cut off',
  'outage',
  'damage',
  'stop',
  'deploy',
  'cancel',
  'forget',
  'leave',
  'register again',
  'all down',
  'belief',
] as const
export type Trouble = (typeof TROUBLES)[number]

/** A seed, spelt out. */
export interface Scenario {
  readonly seed: number
  /** No fault of any kind: replicas may be stopped and deployed, no more. */
  readonly isFaultFree: boolean
  /** Clocks differ by far less than the margin of a lease. */
  readonly areClocksTame: boolean
  readonly start: number
  readonly replicas: number
  /** The pace of it all: intervals and pauses are a few of these. */
  readonly unitMs: number
  readonly tickMs: number
  readonly drainMs: number
  readonly graceMs: number
  readonly leaderTtlMs: number
  readonly leader: 'none' | 'provider' | 'coordinator'
  readonly hasBatches: boolean
  readonly traits: StoreTraits
  readonly latencyMs: number
  /** How late timers go off. */
  readonly lateMs: number
  readonly clocks: readonly { readonly offsetMs: number; readonly rate: number }[]
  /** What each deploy registers; the last one is where it all ends. */
  readonly versions: readonly (readonly Definition[])[]
  readonly network: ReadonlyMap<NetworkFault, number>
  readonly troubles: readonly Trouble[]
  /** Mean time between two troubles. */
  readonly troubleMs: number
  readonly troubledMs: number
  /** Who is there when the faults have stopped. */
  readonly ending: 'all new' | 'as they are' | 'one survivor'
}

/** Shortly before a transition, in the zone that has it. */
const TRANSITIONS: readonly { readonly zone: string; readonly at: string }[] = [
  { zone: 'Europe/Madrid', at: '2026-03-29T01:00:00Z' },
  { zone: 'Europe/Madrid', at: '2026-10-25T01:00:00Z' },
  { zone: 'America/New_York', at: '2026-03-08T07:00:00Z' },
  { zone: 'America/New_York', at: '2026-11-01T06:00:00Z' },
  { zone: 'Australia/Lord_Howe', at: '2026-04-04T15:00:00Z' },
  { zone: 'Australia/Lord_Howe', at: '2026-10-03T15:30:00Z' },
  { zone: 'America/Santiago', at: '2026-09-06T04:00:00Z' },
  { zone: 'Antarctica/Troll', at: '2026-03-29T01:00:00Z' },
  { zone: 'Europe/Dublin', at: '2026-10-25T01:00:00Z' },
  { zone: 'Pacific/Apia', at: '2011-12-30T10:00:00Z' },
  { zone: 'UTC', at: '2026-03-02T10:00:00Z' },
]

const CRONS: Readonly<Record<number, readonly string[]>> = {
  2000: ['* * * * *'],
  10000: ['* * * * *', '*/2 * * * *'],
  60000: ['* * * * *', '*/5 * * * *', '*/15 1-3 * * *', '0,30 * * * *', '30 2 * * *'],
  600000: ['*/15 * * * *', '0 * * * *', '30 0-4 * * *', '30 2 * * *', '0 0 * * *'],
}

const LEASES_MS = [3_000, 6_000, 15_000, 60_000]

/** Spells a seed out. The same seed, the same scenario. */
export function scenarioOf(seed: number): Scenario {
  const random = new Random(seed)
  const isFaultFree = random.chance(0.12)
  const areClocksTame = isFaultFree || random.chance(0.5)
  const unitMs = random.pick([2_000, 10_000, 60_000, 600_000])
  const leader = random.pick(['none', 'none', 'provider', 'coordinator'] as const)
  const leaderTtlMs = random.pick([3_000, 9_000, 30_000])
  const tickMs = random.pick([500, 1000, 1000])
  const replicas = random.chance(0.03) ? random.between(6, 9) : random.between(1, 5)
  const hasBatches = random.chance(0.5)
  const transition = random.pick(TRANSITIONS)
  const before = unitMs * random.between(0, 25)
  const offsetMs = areClocksTame
    ? random.pick([0, 0, 30])
    : random.spread(50, Math.min(3_600_000, 30 * unitMs))
  const rate = areClocksTame ? 1e-6 : random.pick([0, 0.001, 0.01, 0.1])
  const isCalm = isFaultFree || random.chance(0.15)
  const share = isCalm ? 0 : random.spread(0.005, 0.35)
  const tasks = random.between(2, 4)
  const first = Array.from({ length: tasks }, (_, index) =>
    definitionOf(random, { id: `t${index}`, unitMs, zone: transition.zone, isFaultFree }),
  )
  return {
    seed,
    isFaultFree,
    areClocksTame,
    start: Date.parse(transition.at) - before + random.between(0, 999),
    replicas,
    unitMs,
    tickMs,
    drainMs: random.pick([0, 500, 2000, 10_000]),
    graceMs: leader === 'none' ? tickMs : tickMs + 2 * leaderTtlMs,
    leaderTtlMs,
    leader,
    hasBatches,
    traits: { knowsPlans: hasBatches, isStrict: hasBatches || random.chance(0.5) },
    latencyMs: random.pick(isFaultFree ? [0, 1, 20, 100] : [0, 1, 20, 100, 200]),
    lateMs: random.pick([0, 0, 1, 20]),
    clocks: Array.from({ length: replicas }, () => ({
      offsetMs: Math.round(offsetMs * (2 * random.next() - 1)),
      rate: 1 + rate * (2 * random.next() - 1),
    })),
    versions: versionsOf(random, first, { unitMs, zone: transition.zone, isFaultFree }),
    network: new Map(
      NETWORK_FAULTS.filter(() => random.chance(0.5)).map((fault) => [
        fault,
        share * random.pick([0.05, 0.3, 1]),
      ]),
    ),
    troubles: troublesOf(random, isFaultFree, areClocksTame),
    troubleMs: Math.max(4000, unitMs) * random.spread(0.5, 8),
    troubledMs: Math.max(60_000, unitMs * random.between(10, 40)),
    ending: random.pick(['all new', 'as they are', 'one survivor'] as const),
  }
}

function troublesOf(random: Random, isFaultFree: boolean, areClocksTame: boolean): Trouble[] {
  if (isFaultFree) return random.chance(0.5) ? ['stop'] : []
  const isAllowed = (trouble: Trouble) => trouble !== 'step' || !areClocksTame
  return TROUBLES.filter((trouble) => random.chance(0.35) && isAllowed(trouble))
}

interface Setting {
  readonly unitMs: number
  readonly zone: string
  readonly isFaultFree: boolean
}

/** Later deploys change some definitions, and sometimes drop or add a task. */
function versionsOf(random: Random, first: readonly Definition[], setting: Setting) {
  const versions = [first]
  for (let count = random.between(0, 2); count > 0; count--) {
    const kept = versions.at(-1)!.filter(() => random.chance(0.9))
    const changed = kept.map((definition) => {
      if (random.chance(0.5)) return definition
      return definitionOf(random, { ...setting, id: definition.id })
    })
    const isAdded = random.chance(0.3) || changed.length === 0
    const id = `t${first.length + versions.length}`
    versions.push(isAdded ? [...changed, definitionOf(random, { ...setting, id })] : changed)
  }
  return versions
}

function definitionOf(
  random: Random,
  { id, unitMs, zone, isFaultFree }: Setting & { id: string },
): Definition {
  const kind = random.pick(['every', 'every', 'cron', 'cron', 'delay'] as const)
  const cron = random.pick(CRONS[unitMs]!)
  const ms = Math.round(unitMs * random.pick([1, 1, 1.5, 3, 7])) + random.pick([0, 0, 1])
  return {
    id,
    kind,
    spec: kind === 'cron' ? `TZ=${zone} ${cron}` : String(ms),
    ms,
    cron,
    timeZone: zone,
    missed: random.pick(['skip', 'run-once', 'catch-up', 'catch-up'] as const),
    maxCatchUp: random.pick([1, 3, 10, 50]),
    leaseMs: random.pick(LEASES_MS),
    temper: random.pick(['quick', 'quick', 'mixed', isFaultFree ? 'mixed' : 'poison'] as const),
  }
}
