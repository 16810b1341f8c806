// Short texts of other kinds: durations, zones, instants, intervals of backends, names and keys.

import { parseCron } from '../../../bindings/index.ts'
import { everyMs } from '../../../src/backend/cadence.ts'
import { manualKey, readRunKey, slotKey } from '../../../src/backend/run-key.ts'
import { readInstant } from '../../../src/cli/instant.ts'
import { printable } from '../../../src/cli/printable.ts'
import { nonNegativeMs, positiveMs } from '../../../src/duration.ts'
import { briefText, errorText, quoted } from '../../../src/scheduler/logger.ts'
import { cronSpec } from '../../../src/scheduler/spec.ts'
import { idInNamespace, storedId } from '../../../src/scheduler/task-id.ts'
import { idBytes } from '../../../src/store/arguments.ts'
import { keyOf } from '../../../src/store/nats/stored-value.ts'
import { isPlainLine, must, refusal, type Target } from '../target.ts'

const INSTANT_MAX = 8.64e15
const MESSAGE_MAX = 400
const LEGAL_KEY = /^[-/_=.a-zA-Z0-9]+$/

/** Each text is read as all of them. */
export const text: Target = {
  words: [
    ...[
      '1h30m',
      '2 days',
      '1.5',
      'ms',
      'weeks',
      '-',
      '.5h',
      'year',
      '1e3',
      'Infinity',
      '8640000000000000',
    ],
    ...['Europe/Madrid', 'UTC', 'Etc/GMT+5', '+02:00', 'local', 'TZ=', 'GAP=skip ', '-00:00'],
    ...['2026-03-29', 'T01:30:00', '.999', 'Z', '+23:59', '-271821-04-20', '00', 'manual.', '=6D'],
    ...['\u001f', '\u0000', '\ud800', '\r\n', '\u001b[2J', '\u202e', '__proto__', '..', '>', '*'],
  ],
  seeds: [
    '1h30m',
    '2 days',
    'Europe/Madrid',
    '2026-03-29T01:30:00+01:00',
    'näme',
    '-1',
    '..manual.',
  ],
  fuzz(input) {
    checkDuration(input)
    checkZone(input)
    const instant = readInstant(input)
    must(instant === undefined || Math.abs(instant) <= INSTANT_MAX, 'an instant outside time')
    const ms = tryOr(() => everyMs(input))
    must(ms === undefined || (Number.isInteger(ms) && ms > 0), 'an interval of nothing')
    checkId(input)
    must(cronSpec(input, {}) === input.trim(), 'a plain spec is not its text')
    checkLogLines(input)
  },
}

function checkDuration(input: string): void {
  for (const [read, least] of [
    [positiveMs, 1],
    [nonNegativeMs, 0],
  ] as const) {
    const refused = refusal(() => read(input, 'x'), TypeError, RangeError)
    if (refused) {
      must(refused.message.length <= MESSAGE_MAX, 'a refusal repeats a long text')
      continue
    }
    const ms = read(input, 'x')
    must(Number.isInteger(ms) && ms >= least && ms <= INSTANT_MAX, `${ms} is no duration`)
    if (ms > 0) must(positiveMs(`${ms}ms`, 'x') === ms, 'a duration in ms is another one')
  }
}

function checkZone(timeZone: string): void {
  const refused = refusal(() => parseCron('0 0 * * *', { timeZone }), RangeError)
  if (refused) must(refused.message.length <= MESSAGE_MAX, 'a refusal repeats a long zone')
  else must(parseCron('0 0 * * *', { timeZone }).next(0) !== null, 'a zone without midnights')
}

function checkId(id: string): void {
  const stored = tryOr(() => storedId('', id))
  if (stored !== undefined) {
    must(idInNamespace('', stored) === id, 'an id changes on its way')
    must(idInNamespace('other', stored) === undefined, 'an id is seen in two namespaces')
    must(idBytes(stored).length <= 1024, 'an id is longer than stores take')
    must(LEGAL_KEY.test(keyOf('schedule', stored)), 'an id gives a key that NATS refuses')
  }
  const named = tryOr(() => storedId('space', id))
  if (named !== undefined) must(idInNamespace('space', named) === id, 'a named id changes')
  if (id === '' || /\p{Surrogate}/u.test(id)) return
  const key = slotKey(id, 0)
  must(LEGAL_KEY.test(key) && !/\.\.|^\.|\.$/.test(key), 'a run has a key that NATS refuses')
  must(readRunKey(id, key) === 0, 'the slot of a key cannot be read')
  must(readRunKey(id, manualKey(id, id)) === 'manual', 'a trigger has the key of a slot')
}

function checkLogLines(input: string): void {
  const error = new Error(input)
  error.stack = `Error: ${input}`
  for (const line of [quoted(input), briefText(error), briefText(input), printable(input)]) {
    must(isPlainLine(line), 'a log line that is none')
  }
  must(isPlainLine(errorText(error).replaceAll('\n    at ', '')), 'a stack with controls')
}

/** The value, or `undefined` for a text that is refused in words. */
function tryOr<T>(call: () => T): T | undefined {
  return refusal(call, TypeError, RangeError) ? undefined : call()
}
