// Whose keys are these, and how old are they.

import { CronfenceError } from '../../errors.ts'
import { integerOf } from '../stored-row.ts'
import type { ScriptInput } from './redis-connection.ts'
import type { Keys } from './redis-keys.ts'
import { type Script, SET_UP, VERSION } from './redis-statements.ts'

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
