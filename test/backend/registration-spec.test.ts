// What a registration refuses: one table, for it is the same with every backend.

import { describe, expect, test } from 'vitest'
import { inProcess } from '../../src/backend/in-process.ts'
import { checkedSpec } from '../../src/backend/registration-spec.ts'
import { SPEC } from './ticks.ts'

const tick = async () => {}

const REFUSED: readonly [string, object, RegExp][] = [
  ['every in words', { cadence: { every: '5m' } }, /positive number of milliseconds.*"5m"/],
  ['every of zero', { cadence: { every: '0' } }, /positive number of milliseconds.*"0"/],
  ['every of zeros', { cadence: { every: '000' } }, /positive number of milliseconds/],
  ['a negative every', { cadence: { every: '-1' } }, /positive number of milliseconds/],
  ['an empty every', { cadence: { every: '' } }, /positive number of milliseconds.*""/],
  ['a signed every', { cadence: { every: '+5' } }, /positive number of milliseconds/],
  ['a fraction', { cadence: { every: '1.5' } }, /positive number of milliseconds/],
  ['an exponent', { cadence: { every: '1e3' } }, /positive number of milliseconds/],
  ['hexadecimal', { cadence: { every: '0x10' } }, /positive number of milliseconds/],
  ['blanks', { cadence: { every: ' 5 ' } }, /positive number of milliseconds/],
  ['other digits', { cadence: { every: '٥' } }, /positive number of milliseconds/],
  ['a number', { cadence: { every: 5000 } }, /positive number of milliseconds.*5000/],
  ['ages', { cadence: { every: '9'.repeat(17) } }, /positive number of milliseconds/],
  ['a bad cron', { cadence: { cron: '61 * * * *' } }, /minute/],
  ['an empty cron', { cadence: { cron: '' } }, /field/],
  ['a cron that is no text', { cadence: { cron: 5 } }, /string/],
  ['both cadences', { cadence: { cron: '* * * * *', every: '5' } }, /^cadence: must be .* one of/],
  ['no cadence', { cadence: {} }, /^cadence: must be/],
  ['null for a cadence', { cadence: null }, /^cadence: must be/],
  ['text for a cadence', { cadence: '* * * * *' }, /^cadence: must be/],
  ['an empty name', { name: '' }, /^name: must not be empty/],
  ['no name', { name: undefined }, /^name: must be a string, not undefined/],
  ['a number for a name', { name: 5 }, /^name: must be a string, not number/],
  ['half a character', { name: 'a\ud800' }, /^name: must be well-formed Unicode/],
  [
    'a name of 513 bytes',
    { name: `${'é'.repeat(256)}a` },
    /^name: 513 bytes of UTF-8, at most 512/,
  ],
  [
    'an unknown overlap',
    { overlap: 'allow' },
    /^overlap: must be one of 'skip', 'queue', not allow/,
  ],
  ['an unknown catchUp', { catchUp: 'some' }, /^catchUp: must be one of 'skip', 'last', 'all'/],
  ['null for catchUp', { catchUp: null }, /^catchUp: must be one of/],
  ['an onError to log to', { onError: console }, /^onError: must be a function, not object/],
  ['a misspelt field', { catchup: 'all' }, /there is no "catchup", did you mean 'catchUp'/],
]

describe('a registration', () => {
  test.each(REFUSED)('refuses %s', (_, change, message) => {
    const spec = { ...SPEC, ...change } as typeof SPEC
    expect(() => checkedSpec(spec, tick, 0)).toThrow(message)
    expect(() => checkedSpec(spec, tick, 0)).toThrow(TypeError)
  })

  test('refuses a tick that is no function', () => {
    expect(() => checkedSpec(SPEC, 'tick' as never, 0)).toThrow(/^tick: must be a function/)
  })

  test.each(['last', 'all'] as const)('in process: refuses catchUp %s', (catchUp) => {
    const spec = { ...SPEC, catchUp }
    expect(() => inProcess().register(spec, tick)).toThrow(/a durable backend/)
  })

  test.each(['a', 'naïve 时间', 'é'.repeat(256), 'a.b', '>', '*', ' ', '\n'])(
    'takes the name %j',
    (name) => {
      expect(checkedSpec({ ...SPEC, name }, tick, 0).name).toBe(name)
    },
  )

  test('overlap and catchUp are skip when they are left out', () => {
    const { name, cadence } = SPEC
    const checked = checkedSpec({ name, cadence } as typeof SPEC, tick, 0)
    expect(checked).toMatchObject({ overlap: 'skip', catchUp: 'skip' })
  })
})
