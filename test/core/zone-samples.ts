// Which time zones the engine is tried in, and where their transitions lie: by Intl alone, so that
// a zone table of the engine's own cannot hide a transition from its tests.

/** Zones with a habit that has broken cron implementations, and what the habit is. */
export const hotZones = {
  'Australia/Lord_Howe': 'a gap and a fold of 30 minutes',
  'Antarctica/Troll': 'a gap of two hours',
  'Pacific/Apia': 'a whole day skipped at the end of 2011',
  'Pacific/Kwajalein': 'a whole day skipped in 1993',
  'Pacific/Fakaofo': 'a whole day skipped at the end of 2011, without daylight saving',
  'Pacific/Kiritimati': 'a whole day skipped at the end of 1994',
  'Europe/Dublin': 'negative daylight saving',
  'Africa/Casablanca': 'daylight saving off during Ramadan',
  'Africa/El_Aaiun': 'daylight saving off during Ramadan',
  'Asia/Gaza': 'transitions that move with Ramadan, at midnight and at two',
  'Africa/Cairo': 'transitions at midnight, four in 2010 and in 2014',
  'America/Santiago': 'gap and fold at midnight',
  'America/Sao_Paulo': 'gap and fold at midnight until 2019',
  'America/Havana': 'gap at midnight, fold at one',
  'America/Asuncion': 'gap and fold at midnight, then a changed standard offset',
  'Asia/Beirut': 'gap and fold at midnight',
  'Asia/Tehran': 'transitions by another calendar, at midnight',
  'Africa/Monrovia': 'offset with seconds until 1972',
  'America/Caracas': 'standard offset moved by 30 minutes in 2007 and 2016',
  'Asia/Pyongyang': 'standard offset moved by 30 minutes in 2015 and 2018',
  'Asia/Kathmandu': 'standard offset moved by 15 minutes in 1986',
  'America/St_Johns': 'transitions at one minute past midnight until 2011',
  'America/Nuuk': 'transitions on Saturday evening, and a changed standard offset',
  'Asia/Amman': 'gap at midnight, then permanent summer time',
  'Europe/Volgograd': 'several standard offsets since 2010',
  'Antarctica/Casey': 'many changes of the standard offset, some of three hours',
  'America/Argentina/San_Luis': 'summer time ended in January and March of 2008',
  'Europe/Madrid': 'the ordinary European rule',
  'America/New_York': 'the ordinary American rule',
  'Australia/Sydney': 'the ordinary southern rule',
  UTC: 'no transition at all',
} as const

const fixedOffsets = ['+00:00', '+02:00', '-03:30', '+14:00', '-12:00', '+05:45']

/** Fixed offsets, as far as this host's Intl takes them. */
export const fixedOffsetZones: readonly string[] = fixedOffsets.filter(isKnownToIntl)

/** Every zone Intl lists, UTC, and the fixed offsets. */
export const allZones: readonly string[] = [
  ...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', 'Etc/GMT+5', ...fixedOffsetZones]),
]

/** Shorter than any stay at an offset since 1970: Boa Vista's summer time of 2000 took a week. */
const STEP_MS = 6 * 86_400_000

const SINCE = Date.UTC(1970, 0, 1)
const UNTIL = Date.UTC(2100, 0, 1)

const transitions = new Map<string, readonly number[]>()

/** The instants from 1970 to 2100 at which a zone's offset changes, found by halving. */
export function transitionsOf(timeZone: string): readonly number[] {
  const known = transitions.get(timeZone)
  if (known) return known
  const clock = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (at: number) => clock.format(at).split(', ')[1]
  const found: number[] = []
  for (let at = SINCE; at < UNTIL; at += STEP_MS) {
    const before = offsetAt(at)
    if (before === offsetAt(at + STEP_MS)) continue
    let [low, high] = [at, at + STEP_MS]
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000
      if (offsetAt(middle) === before) low = middle
      else high = middle
    }
    found.push(high)
  }
  transitions.set(timeZone, found)
  return found
}

function isKnownToIntl(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone })
    return true
  } catch {
    return false
  }
}
