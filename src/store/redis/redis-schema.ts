// Whose keys are these, how old are they, and can the server be trusted with them.

import { CronfenceError } from '../../errors.ts'
import { integerOf } from '../stored-row.ts'
import type { ScriptInput } from './redis-connection.ts'
import type { Keys } from './redis-keys.ts'
import { type Script, SET_UP, SETTINGS, VERSION } from './redis-statements.ts'

type Run = (script: Script, input: ScriptInput) => Promise<unknown>

/**
 * Creates what is missing; atomic, so safe from many at once. `floor` is the least token of new ids
 * where there was nothing. Throws `STORE_FOREIGN_SCHEMA`, `STORE_NEWER_SCHEMA` or
 * `STORE_DAMAGED_RECORD`, and then nothing was changed.
 */
export async function setUp(run: Run, keys: Keys, floor: number): Promise<'created' | 'found'> {
  const { meta, ids, graves } = keys
  const answer = await run(SET_UP, { keys: [meta, ids, graves], args: [VERSION, String(floor)] })
  const [state, ...facts] = answer as string[]
  if (state === 'created') return 'created'
  if (state === 'foreign') throw foreign(String(facts[0]), String(facts[1]))
  const [version, lowest] = facts.map(integerOf)
  if (version === undefined || version < 1 || lowest === undefined || lowest < 0) {
    throw new CronfenceError(
      'STORE_DAMAGED_RECORD',
      `Key ${meta} must have integers in version (from 1) and floor (from 0): restore it from a ` +
        'backup, tokens must not go back. Nothing was changed.',
      { details: { key: meta } },
    )
  }
  if (version <= Number(VERSION)) return 'found'
  throw new CronfenceError(
    'STORE_NEWER_SCHEMA',
    `Key ${meta} says version ${version}, this release knows versions up to ${VERSION}: use the ` +
      'newer release of cronfence that wrote it. Nothing was changed.',
    { details: { key: meta, version, newestKnown: Number(VERSION) } },
  )
}

function foreign(key: string, found: string): CronfenceError {
  return new CronfenceError(
    'STORE_FOREIGN_SCHEMA',
    `Key ${key} is not one that cronfence created: it is ${found}. ` +
      'Choose another prefix or another database. Nothing was changed.',
    { details: { key } },
  )
}

/** What weakens a promise: the setting, the value that is right, and what else may happen. */
const WEAKNESSES = [
  {
    setting: 'maxmemory_policy',
    right: 'noeviction',
    text:
      'the server may drop tasks and their tokens when its memory is full: a task may vanish, or ' +
      'a token be given out twice. Set maxmemory-policy to noeviction',
  },
  {
    setting: 'aof_enabled',
    right: '1',
    text:
      'a crash of the server undoes what was confirmed since its last snapshot: a slot may run ' +
      'again, under a token that was given out before. Set appendonly to yes, and appendfsync to ' +
      'always where a loss of power must not undo the last second',
  },
] as const

/** Refuses a replica, and warns of settings under which a promise does not hold. */
export async function checkServer(
  run: Run,
  { meta }: Keys,
  onWarning: (text: string) => void,
): Promise<void> {
  const text = String(await run(SETTINGS, { keys: [meta], args: [] }))
  const settings = new Map(text.split('\r\n').map((line) => line.split(':') as [string, string]))
  if (settings.get('role') === 'slave') {
    throw new CronfenceError(
      'STORE_UNAVAILABLE',
      'RedisStore: this server is a replica, which may lag behind and be promoted with old ' +
        'tokens: connect to the primary.',
    )
  }
  for (const { setting, right, text: weakness } of WEAKNESSES) {
    const value = settings.get(setting)
    if (value === undefined || value === right) continue
    onWarning(`RedisStore: ${setting} is ${value} on this server, so ${weakness}.`)
  }
}
