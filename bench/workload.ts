// What is measured on: expressions, zones and instants, the same for everyone and from a fixed
// seed. The mix stands for the crontabs people write, not for a corner of the grammar.

/** A seeded source of whole numbers: `random(n)` is one of 0 to n - 1 (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** The zone of the questions about one zone with daylight-saving time. */
export const DST_ZONE = 'Europe/Madrid'

/** Fifty zones: with and without transitions, whole and broken offsets, both hemispheres. */
export const ZONES = `
  UTC Africa/Cairo Africa/Casablanca Africa/Johannesburg Africa/Lagos Africa/Nairobi
  America/Anchorage America/Argentina/Buenos_Aires America/Bogota America/Caracas America/Chicago
  America/Denver America/Halifax America/Havana America/Los_Angeles America/Mexico_City
  America/New_York America/Phoenix America/Santiago America/Sao_Paulo America/St_Johns
  America/Toronto Asia/Bangkok Asia/Dhaka Asia/Dubai Asia/Hong_Kong Asia/Jakarta Asia/Jerusalem
  Asia/Karachi Asia/Kathmandu Asia/Kolkata Asia/Manila Asia/Seoul Asia/Shanghai Asia/Singapore
  Asia/Tehran Asia/Tokyo Atlantic/Azores Australia/Adelaide Australia/Lord_Howe Australia/Sydney
  Europe/Berlin Europe/Dublin Europe/Istanbul Europe/London Europe/Madrid Europe/Moscow
  Europe/Paris Pacific/Auckland Pacific/Honolulu`
  .trim()
  .split(/\s+/)

/** Distinct expressions of the kinds people write, in a fixed order. */
export function expressions(count: number, seed = 1): string[] {
  const random = randomFrom(seed)
  const found = new Set<string>()
  while (found.size < count) found.add(expression(random))
  return [...found]
}

function expression(random: (below: number) => number): string {
  const minute = random(60)
  const hour = random(24)
  const shapes = [
    () => `*/${2 + random(29)} ${hour}-23 * * *`,
    () => `${minute} * * ${1 + random(12)} *`,
    () => `${minute} */${2 + random(5)} * * *`,
    () => `${minute} ${hour} * * *`,
    () => `${minute} ${hour} * * 1-5`,
    () => `${minute % 30},${30 + random(30)} ${hour} * * ${random(7)}`,
    () => `${minute} ${hour} ${1 + random(28)} * *`,
    () => `${minute} ${hour} 1,15 * *`,
    () => `${minute} ${random(8)}-${8 + random(16)} * * ${random(4)}-${4 + random(3)}`,
    () => `${minute} ${hour} ${1 + random(28)} ${1 + random(12)} *`,
  ]
  return shapes[random(shapes.length)]!()
}

const FIRST_INSTANT = Date.UTC(2020, 0, 1)
const INSTANT_SPAN_MS = Date.UTC(2030, 0, 1) - FIRST_INSTANT

/** Instants anywhere in the 2020s, to the millisecond. */
export function instants(count: number, seed = 2): number[] {
  const random = randomFrom(seed)
  return Array.from({ length: count }, () => FIRST_INSTANT + random(INSTANT_SPAN_MS))
}

/** The n-th of 1.9 million distinct expressions, built afresh: whoever keeps it pays for it. */
export function distinctExpression(index: number): string {
  const minute = index % 60
  const hour = Math.floor(index / 60) % 24
  const day = 1 + (Math.floor(index / 1440) % 28)
  const month = 1 + (Math.floor(index / 40_320) % 12)
  return `${minute} ${hour} ${day} ${month} ${WEEKDAYS[Math.floor(index / 483_840)]}`
}

const WEEKDAYS = ['*', '1-5', '6,0', '1']
