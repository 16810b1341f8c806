// `cronfence explain`: one expression in words, in values, in its next runs, and what the zone's
// transitions do to it in the coming year.

import type { CronExpression } from '../../bindings/index.ts'
import { describe } from '../describe.ts'
import { specialDays, specialWeekdays } from '../plain-texts.ts'
import type { Command } from './command.ts'
import {
  CRON_OPTIONS_HELP,
  type CronRequest,
  nextRuns,
  noRunText,
  readCronRequest,
} from './cron-options.ts'
import {
  type Transition,
  type TransitionEffect,
  transitionEffects,
  transitionsOfYear,
} from './transition-effects.ts'
import { offsetText, utcIso, WallClock, wallText } from './wall-clock.ts'

/** More slots than this are told by their first and last. */
const SLOTS_LISTED_MAX = 12

/** What is known about one expression. */
interface Explanation {
  readonly cron: CronExpression
  readonly clock: WallClock
  readonly text: string
  readonly from: number
  readonly runs: readonly number[]
  readonly found: readonly Transition[]
  readonly effects: readonly TransitionEffect[]
}

/** Text or JSON; exit 0 whether or not there is a run. */
export const explainCommand: Command = {
  synopsis: "explain 'EXPR' [--tz ZONE] [-n N] [--from T] [--extended] [--json]",
  summary: 'what an expression means, and what clock changes do to it',
  details: CRON_OPTIONS_HELP,
  async run(args, { out }) {
    const request = readCronRequest(args)
    const explanation = explain(request)
    await out.write(request.json ? `${asJson(explanation)}\n` : asText(explanation))
    return 0
  },
}

function explain({ cron, options, from, runs }: CronRequest): Explanation {
  const clock = new WallClock(cron.timeZone)
  const found = transitionsOfYear(clock, from)
  const effects = transitionEffects(cron, options, found)
  const next = [...nextRuns(cron, from, runs)]
  return { cron, clock, text: describe(cron), from, runs: next, found, effects }
}

function asText({ cron, clock, text, from, runs, found, effects }: Explanation): string {
  const { timeZone } = cron
  const runLines = runs.map((run) => `${clock.text(run).padEnd(25)} ${utcIso(run)}`)
  return [
    `${cron.expression.trim()}   ${timeZone}`,
    text,
    ...fieldLines(cron),
    '',
    ...(runs.length > 0 ? ['Next runs', ...runLines.map(indented)] : [sentence(noRunText(cron))]),
    '',
    `Clock changes in ${timeZone} in the year from ${utcIso(from).split('T')[0]}`,
    ...(found.length > 0 ? found.flatMap((t) => transitionLines(t, effects)) : ['none']).map(
      indented,
    ),
    '',
  ].join('\n')
}

/** A line a field; none for `@reboot`, which has no values. */
function fieldLines({ fields, isReboot }: CronExpression): string[] {
  if (isReboot) return []
  const rows: [name: string, values: readonly number[] | undefined, special?: string[]][] = [
    ['second', fields.second],
    ['minute', fields.minute],
    ['hour', fields.hour],
    ['day of month', fields.dayOfMonth, specialDays(fields)],
    ['month', fields.month],
    ['day of week', fields.dayOfWeek, specialWeekdays(fields)],
    ['year', fields.year],
  ]
  const lines = rows.flatMap(([name, values, special = []]) =>
    values ? [`${name.padEnd(13)} ${[...rangesOf(values), ...special].join(',')}`] : [],
  )
  return ['', ...lines.map(indented)]
}

/** `0-4`, `10`, `15`. */
function rangesOf(values: readonly number[]): string[] {
  const items: string[] = []
  for (let i = 0; i < values.length; i++) {
    const start = values[i]!
    while (values[i + 1] === values[i]! + 1) i++
    items.push(start === values[i] ? `${start}` : `${start}-${values[i]}`)
  }
  return items
}

function transitionLines(transition: Transition, effects: readonly TransitionEffect[]): string[] {
  const { at, before, after } = transition
  const clocks = `${wallText(at + before)} -> ${wallText(at + after)} (${offsetText(after)})`
  const own = effects.filter((effect) => effect.transition === transition)
  return own.length > 0
    ? own.map((effect) => `${clocks}  ${effectText(effect)}`)
    : [`${clocks}  no run is touched`]
}

function effectText({ kind, slots, transition }: TransitionEffect): string {
  const { before, after } = transition
  const walls = slots.map(({ wall }) => wall)
  if (kind === 'moved') {
    const moved = walls.map((wall) => wall + after - before)
    return `moved: ${wallsText(walls, moved)} to ${wallsText(moved, walls)}`
  }
  const isFirstPass = slots[0]!.runs[0] === slots[0]!.wall - before
  const pass = kind === 'once' ? `, in the ${isFirstPass ? 'first' : 'second'} pass` : ''
  return `${kind}${pass}: ${wallsText(walls)}`
}

/** Times of day; with their dates when those of the others they are told with differ. */
function wallsText(walls: readonly number[], others = walls): string {
  const dateOf = (wall: number) => wallText(wall).split(' ')[0]
  const dates = new Set([...walls, ...others].map(dateOf))
  const texts = walls.map((wall) =>
    dates.size > 1 ? wallText(wall) : wallText(wall).split(' ')[1],
  )
  return texts.length <= SLOTS_LISTED_MAX
    ? texts.join(', ')
    : `${texts[0]} to ${texts.at(-1)} (${texts.length} slots)`
}

function asJson({ cron, clock, text, from, runs, effects }: Explanation): string {
  return JSON.stringify({
    expression: cron.expression,
    timeZone: cron.timeZone,
    text,
    fields: cron.fields,
    from: new Date(from).toISOString(),
    runs: runs.map((run) => ({ utc: utcIso(run), wall: clock.iso(run) })),
    effects: effects.flatMap(({ kind, slots, transition }) =>
      slots.map((slot) => ({
        kind,
        transition: utcIso(transition.at),
        wall: wallText(slot.wall).replace(' ', 'T'),
        runs: slot.runs.map((run) => ({ utc: utcIso(run), wall: clock.iso(run) })),
      })),
    ),
  })
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

function indented(line: string): string {
  return `  ${line}`
}
